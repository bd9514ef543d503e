"""Conditions on rows that only Spark evaluates.

What the rules of a table ask in a way that is not translated to Arrow exactly, Spark
answers for each row, in a column of its own that travels with the row to its task.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.spark.arrow_frames import column_of
from deltaweb.spark.writing.spark_types import spark_schema

GIVEN = "_deltaweb_given_"
VERDICT = "_deltaweb_holds_"


def with_verdicts(
    frame: DataFrame, schema: StructType, rules: Sequence[RowConstraint]
) -> DataFrame:
    """Return rows as they are, and after their columns one a rule: whether it holds.

    Rules are evaluated on the rows as the table will have them: its columns, found
    ignoring case, and null where the rows have none.
    """
    if not rules:
        return frame
    names = frame.columns
    by_name = {name.lower(): name for name in names}
    wanted = [
        _value(frame, by_name.get(field.name.lower()))
        .cast(field.dataType)
        .alias(field.name)
        for field in spark_schema(schema).fields
    ]
    given = [
        column_of(frame, name).alias(f"{GIVEN}{n}") for n, name in enumerate(names)
    ]
    verdicts = [
        F.coalesce(F.expr(rule.sql), F.lit(False)).alias(f"{VERDICT}{n}")  # noqa: FBT003  # a value
        for n, rule in enumerate(rules)
    ]
    both = frame.select(*given, *wanted)
    kept = [F.col(f"{GIVEN}{n}") for n in range(len(names))]
    judged = both.select(*kept, *verdicts)
    return judged.toDF(*names, *(f"{VERDICT}{n}" for n in range(len(rules))))


def _value(frame: DataFrame, name: str | None) -> Column:
    return F.lit(None) if name is None else column_of(frame, name)
