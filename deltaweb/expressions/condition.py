"""What is evaluated of rows: conditions, and the values of assignments."""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb import conditions, expressions
from deltaweb.delta.protocol.schema import StructField, StructType, arrow_type
from deltaweb.delta.scan.predicate import Predicate
from deltaweb.delta.scan.row_condition import RowCondition
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.expressions.bounds import MADE_BYTES, in_parts, text_bytes
from deltaweb.expressions.casts import cast, in_zone
from deltaweb.expressions.comparison import truth
from deltaweb.expressions.errors import (
    ExpressionError,
    ExpressionTooLargeError,
    ExpressionValueError,
)
from deltaweb.expressions.node import (
    BoundExpression,
    NotTranslatedError,
    NoValueError,
    type_name,
)

if TYPE_CHECKING:  # tables without conditions are written without a parser of SQL
    from deltaweb.conditions.sql_text import SQLText


class SQLCondition(RowCondition):
    """A boolean expression over rows of a schema; it can travel to other processes.

    Args:
        time_zone: Whose clocks show the times without a zone, and what its functions
            say of instants: as in a session of Spark that has it.
    """

    def __init__(
        self, sql: "str | SQLText", schema: StructType, time_zone: str = UTC_ZONE
    ) -> None:
        self._parsed = (
            expressions.compiler.parse_expression(sql) if isinstance(sql, str) else sql
        )
        self._schema = schema
        self.sql = self._parsed.text
        self.time_zone = time_zone
        try:
            self._node = truth(_compiled(self._parsed, schema, time_zone))
        except NotTranslatedError as error:
            raise ExpressionError(sql=self.sql, reason=str(error)) from None

    def __reduce__(self) -> tuple[type["SQLCondition"], tuple[str, StructType, str]]:
        return SQLCondition, (self.sql, self._schema, self.time_zone)

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(
            path[0]
            for path in expressions.compiler.named_columns(self._parsed, self._schema)
        )

    @cached_property
    def parts(self) -> "tuple[SQLCondition, ...]":
        """The conditions that are all true where it is true; see `RowCondition`."""
        found = conditions.sql.conjuncts(self._parsed)
        if len(found) == 1:
            return (self,)
        return tuple(
            # Its tokens are places in the whole text.
            SQLCondition(replace(self._parsed, tree=part), self._schema, self.time_zone)
            for _, part in found
        )

    @cached_property
    def reach(self) -> Predicate | None:
        """What holds for every row that it is true for; None where nothing is known."""
        return conditions.hints.reach_of(self._parsed, self._schema, self.time_zone)

    @cached_property
    def misses(self) -> Predicate:
        """What holds for every row that it is not true for, and maybe for others."""
        return conditions.hints.misses_of(self._parsed, self._schema, self.time_zone)

    def holds(self, rows: pa.RecordBatch) -> pa.BooleanArray:
        """Return where the condition is true: neither false nor unknown."""
        # What it does not look at need not be copied to be left out.
        looked_at = rows.select(sorted(self.names)) if self.names else rows
        found = _values(self._node, self.sql, looked_at)
        return pc.fill_null(found, fill_value=False)


class SQLValue:
    """The value of an expression, in its own type.

    Attributes:
        kind: The type; null for NULL alone.
    """

    def __init__(self, sql: str, schema: StructType, time_zone: str = UTC_ZONE) -> None:
        self.sql = sql
        self._node = _compiled(sql, schema, time_zone)
        self.kind = self._node.kind

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        return _values(self._node, self.sql, rows)


class SQLAssignment:
    """An expression whose value a column takes."""

    def __init__(
        self,
        sql: str,
        column: StructField,
        schema: StructType,
        time_zone: str = UTC_ZONE,
    ) -> None:
        self.sql = sql
        node = _compiled(sql, schema, time_zone)
        kind = arrow_type(column.data_type)
        # A column takes what Spark stores in it by itself: no text, nor a boolean, as
        # another type.
        kinds = (pa.types.is_string, pa.types.is_boolean)
        is_unlike = any(is_kind(node.kind) != is_kind(kind) for is_kind in kinds)
        try:
            if is_unlike and not node.is_null:
                own, its = type_name(kind), type_name(node.kind)
                message = f"{column.name!r} is {own}, and it is {its}"
                raise NotTranslatedError(message)  # noqa: TRY301  # one way to refuse
            with in_zone(time_zone):
                self._node = cast(node, kind)
        except NotTranslatedError as error:
            raise ExpressionError(sql=sql, reason=str(error)) from None

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        return _values(self._node, self.sql, rows)


def _values(node: BoundExpression, sql: str, rows: pa.RecordBatch) -> pa.Array:
    try:
        parts = [*in_parts(sql, rows, node.values)]
        return parts[0] if len(parts) == 1 else _joined(parts, sql)
    except NoValueError as error:
        raise ExpressionValueError(sql=sql, reason=str(error)) from None
    except (pa.ArrowException, OverflowError, ValueError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise ExpressionValueError(sql=sql, reason=reason) from None


def _joined(parts: list[pa.Array], sql: str) -> pa.Array:
    num_bytes = sum(map(text_bytes, parts))
    if num_bytes > MADE_BYTES:
        raise ExpressionTooLargeError(
            sql=sql,
            function="its value",
            num_bytes=num_bytes,
            num_rows=sum(map(len, parts)),
            most_bytes=MADE_BYTES,
            is_final=False,
        )
    return pa.concat_arrays(parts)


def _compiled(
    sql: "str | SQLText", schema: StructType, time_zone: str
) -> BoundExpression:
    return expressions.compiler.compile_sql(sql, schema, time_zone)
