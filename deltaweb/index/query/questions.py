"""A condition in the parts that leave out files, and why a part cannot.

The parts are joined by AND; an OR is one part. What is false of every row of a file in
one part is false in the whole.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from deltaweb.conditions.hints import Hints, understood
from deltaweb.conditions.remedies import Obstacle, obstacle_of
from deltaweb.conditions.sql import conjuncts
from deltaweb.conditions.sql_text import SQLText
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import StructType, leaf_fields
from deltaweb.delta.protocol.table_properties import STATISTICS_COLUMNS
from deltaweb.delta.scan.predicate import Like, Predicate
from deltaweb.delta.scan.row_condition import RowCondition
from deltaweb.delta.scan.variant_parts import SchemaWithParts
from deltaweb.delta.values.statistics.shape import has_order
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.expressions.compiler import named_columns, parse_expression
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionError, ExpressionMistakenError
from deltaweb.writer.files.statistics import statistics_columns


@dataclass(frozen=True, kw_only=True)
class QuestionPart(RowCondition):
    """A part of a condition, also one that only Spark can evaluate.

    Attributes:
        text: The part in SQL.
        columns: The columns that it names.
        condition: What evaluates it; None if only Spark does.
        reached: Its `reach`.
        obstacle: Why it cannot skip files; None if it can.
    """

    text: str
    columns: tuple[ColumnPath, ...]
    condition: SQLCondition | None
    reached: Predicate | None
    obstacle: Obstacle | None

    @property
    def names(self) -> Collection[str]:
        return {path[0] for path in self.columns}

    @property
    def reach(self) -> Predicate | None:
        return self.reached

    def holds(self, rows: pa.RecordBatch) -> pa.BooleanArray:
        if self.condition is None:
            raise ExpressionError(sql=self.text, reason="only Spark evaluates it")
        return self.condition.holds(rows)


class Question:
    """A condition on the rows of a version.

    Args:
        time_zone: Whose clocks show the times without a zone.

    Raises:
        ExpressionMistakenError: If it is not a condition over these columns.
    """

    def __init__(
        self,
        sql: str,
        schema: StructType,
        metadata: Metadata,
        time_zone: str = UTC_ZONE,
    ) -> None:
        self.sql = sql
        self.schema = schema
        self.partition_columns = frozenset(metadata.partition_columns)
        self._configuration = metadata.configuration
        self._time_zone = time_zone
        self._whole = SchemaWithParts.of(schema)
        parsed = parse_expression(sql)
        self.parts = tuple(
            self._part(text, SQLText(sql, parsed.tokens, tree))
            for text, tree in conjuncts(parsed)
        )

    @cached_property
    def named_schema(self) -> StructType:
        """The top-level columns that the condition names: few of a wide schema."""
        return self.schema.select(tuple(n for part in self.parts for n in part.names))

    @cached_property
    def suggestion(self) -> str:
        """The condition with every suggestion applied; "" without any."""
        obstacles = [part.obstacle for part in self.parts]
        suggestions = [one.suggestion if one else "" for one in obstacles]
        if not any(suggestions):
            return ""
        texts = (
            suggestion or part.text
            for part, suggestion in zip(self.parts, suggestions, strict=True)
        )
        return " AND ".join(f"({text})" if " OR " in text else text for text in texts)

    def lacking_reason(self, path: ColumnPath) -> str:
        """Say why files lack the range of a column, as far as settings tell."""
        name = ".".join(path)
        leaves = {leaf.path: leaf for leaf in leaf_fields(self.schema)}
        if path not in leaves or not has_order(leaves[path]):
            return f"no statistics of `{name}`: values of its type have no range"
        try:
            written = statistics_columns(self.schema, self._configuration)
        except DeltaError:
            return f"no statistics of `{name}`"
        if path in written:
            return f"no statistics of `{name}` in these files"
        if STATISTICS_COLUMNS in self._configuration:
            return f"no statistics of `{name}`: {STATISTICS_COLUMNS} does not name it"
        place = [*leaves].index(path) + 1
        return (
            f"no statistics of `{name}`: it is column {place}, and the first"
            f" {len(written)} have them"
        )

    def _part(self, text: str, parsed: SQLText) -> QuestionPart:
        try:
            condition = SQLCondition(parsed, self._whole, self._time_zone)
        except ExpressionMistakenError:
            raise
        except ExpressionError:  # which Spark evaluates
            condition = None
        columns = named_columns(parsed, self._whole)
        hints = understood(parsed, self._whole, self._time_zone)
        return QuestionPart(
            text=text,
            columns=tuple(sorted(columns)),
            condition=condition,
            reached=hints.reach,
            obstacle=self._obstacle(parsed, columns, hints),
        )

    def _obstacle(
        self, parsed: SQLText, columns: Collection[ColumnPath], hints: Hints
    ) -> Obstacle | None:
        if {path[0] for path in columns} <= self.partition_columns:
            return None
        match hints.reach:
            case None | Like(prefix=""):
                pass
            case _:
                return None
        reason = hints.skipped[0].reason if hints.skipped else ""
        found = obstacle_of(parsed.tree, self._whole, reason)
        if found.suggestion and not self._is_understood(found.suggestion):
            return Obstacle(found.reason)
        return found

    def _is_understood(self, sql: str) -> bool:
        with suppress(DeltaError):
            parsed = parse_expression(sql)
            return not understood(parsed, self._whole, self._time_zone).skipped
        return False
