"""Rules of a table, and values that it gives rows, which only the session evaluates.

What they ask in a way that is not translated to Arrow exactly, or that the settings of
the session change, Spark answers for each row, in a column of its own that travels with
the row to its task.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Self

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)
from pyspark.sql.types import StructField

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema.field_keys import DEFAULT, GENERATION
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.expressions.session.dependence import Dependence
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.spark.arrow_frames import column_of
from deltaweb.spark.writing.session.checked_sql import is_true, sql_column
from deltaweb.spark.writing.session.stored_values import (
    OfExpression,
    OfRows,
    null_of,
    store_as,
    type_of,
)
from deltaweb.spark.writing.spark_types import spark_schema

GIVEN: Final = "_deltaweb_given_"
VERDICT: Final = "_deltaweb_holds_"


@dataclass(frozen=True, slots=True)
class FilledColumns:
    """Columns that a table gives rows, and that the session evaluates."""

    defaults: Mapping[str, str] = field(default_factory=dict)
    generated: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        schema: StructType,
        given: Sequence[str],
        settings: SessionSettings,
        *,
        takes_defaults: bool = True,
        are_all: bool = False,
    ) -> Self:
        """Return those of the columns that rows lack whose values depend on a session.

        Args:
            takes_defaults: Whether columns that rows lack take their defaults.
            are_all: Whether it evaluates the others, too.
        """
        if settings.are_ours and not are_all:
            return cls()
        has = {name.lower() for name in given}
        missing = [column for column in schema.fields if column.name.lower() not in has]
        dependence = Dependence(schema, settings)
        generated, defaults = (
            {
                column.name: (str(column.metadata[key]), column)
                for column in missing
                if column.metadata.get(key) is not None
            }
            for key in (GENERATION, DEFAULT)
        )
        theirs = {
            name: sql
            for name, (sql, column) in generated.items()
            if are_all or dependence.of_value(sql, column)
        }
        mine = {
            name: sql
            for name, (sql, column) in defaults.items()
            # What is generated may be made of any of them.
            if takes_defaults and (theirs or dependence.of_value(sql, column))
        }
        return cls(mine, theirs)

    @property
    def names(self) -> list[str]:
        return [*self.defaults, *self.generated]

    def add_to(self, frame: DataFrame, schema: StructType) -> DataFrame:
        """Return rows with these columns after their own."""
        if not self.names:
            return frame
        kinds = spark_schema(schema)
        names = frame.columns
        defaults = (
            value_of_sql(frame, sql, kinds[name]).alias(name)
            for name, sql in self.defaults.items()
        )
        kept = [column_of(frame, name) for name in names]
        whole = frame.select(*kept, *defaults)
        made = [
            partial(value_of_sql, sql=sql, column=kinds[name])
            for name, sql in self.generated.items()
        ]
        return with_values(whole, schema, made).toDF(*names, *self.names)


def value_of_sql(
    rows: DataFrame, sql: str, column: StructField, *, may_lack: bool = False
) -> Column:
    """Return the value of SQL over rows as a column takes it; see `check_value`."""
    value = sql_column(rows, sql)
    origin = OfExpression(sql, may_lack=may_lack)
    return store_as(value, type_of(rows, value), column, origin)


def with_verdicts(
    frame: DataFrame, schema: StructType, rules: Sequence[RowConstraint]
) -> DataFrame:
    """Return rows as they are, and after their columns one a rule: whether it holds."""
    if not rules:
        return frame
    verdicts = [partial(is_true, where=rule.sql) for rule in rules]
    names = [f"{VERDICT}{n}" for n in range(len(rules))]
    made = with_values(frame, schema, verdicts)
    return made.toDF(*frame.columns, *names)


def with_values(
    frame: DataFrame,
    schema: StructType,
    values: Sequence[Callable[[DataFrame], Column]],
) -> DataFrame:
    """Return rows as they are, and after their columns values of a table's columns.

    Args:
        values: Returns them, given the rows as the table will have them: its columns
            and the fields in them, found by name ignoring case, and null where the rows
            have none.
    """
    names = frame.columns
    by_name = {field.name.lower(): field for field in frame.schema.fields}
    wanted = [
        _value(frame, by_name.get(field.name.lower()), field).alias(field.name)
        for field in spark_schema(schema).fields
    ]
    given = [
        column_of(frame, name).alias(f"{GIVEN}{n}") for n, name in enumerate(names)
    ]
    both = frame.select(*given, *wanted)
    kept = [F.col(f"{GIVEN}{n}") for n in range(len(names))]
    named = [value_of(both).alias(f"{VERDICT}{n}") for n, value_of in enumerate(values)]
    return both.select(*kept, *named)


def _value(frame: DataFrame, found: StructField | None, column: StructField) -> Column:
    if found is None:
        return null_of(column)
    value = column_of(frame, found.name)
    return store_as(value, found.dataType, column, OfRows())
