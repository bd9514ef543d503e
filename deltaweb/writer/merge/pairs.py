"""Which rows of a table and of a source match.

Columns that the condition holds equal are joined by hash; what it says besides is
evaluated for the pairs that the join finds. Without such columns every row of the
table meets every row of the source, some at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from deltaweb.conditions.sql import column_names, connected, unwrapped
from deltaweb.conditions.sql_text import parse_sql
from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.column_path import ColumnPath, resolve_column
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import And, Comparison, In, Predicate
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.expressions.common_types import common
from deltaweb.expressions.compiler import compile_sql
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.node import BoundExpression
from deltaweb.writer.merge.clauses import (
    SOURCE,
    TABLE,
    Places,
    bound_rows,
    pair_schema,
    quoted,
)

PAIRS_AT_ONCE: Final = 1 << 18
JOINED_AT_ONCE: Final = 1 << 19
"""Rows of the table that are joined at a time."""
CROSSED_AT_ONCE: Final = 1 << 10
"""And where there is no column to join by."""
MAX_VALUES: Final = 256
"""Values of the source that files are looked for by; of more, the first and last."""
_PLACE: Final = {TABLE: "table_place", SOURCE: "source_place"}
_EXACT: Final = (
    pa.types.is_integer,
    pa.types.is_string,
    pa.types.is_date32,
    pa.types.is_timestamp,
    pa.types.is_boolean,
    pa.types.is_decimal,
)
"""Types whose equal values are the same value; a float's -0.0 and NaN are not."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JoinKey:
    """Values of the table and of the source that must be equal.

    Attributes:
        keeps_type: Whether that is the column's own type.
    """

    path: ColumnPath
    source_path: ColumnPath
    mine: BoundExpression
    theirs: BoundExpression
    keeps_type: bool

    def reach(self, values: pa.ChunkedArray, *, are_all: bool) -> list[Predicate]:
        """Return what is true of every row of the table that can match.

        Args:
            values: Of the source, in the column's type: all, or the least and the
                greatest.

        Returns:
            Conditions that all hold; none where nothing is known.
        """
        some = values.drop_null()
        if not self.keeps_type or not len(some):
            return []
        if are_all and len(some) <= MAX_VALUES:
            return [In(self.path, tuple(some.unique()))]
        bounds = pc.min_max(some)
        return [
            Comparison(self.path, ">=", bounds["min"]),
            Comparison(self.path, "<=", bounds["max"]),
        ]


def all_of(parts: Sequence[Predicate]) -> Predicate | None:
    """Return the condition that holds where all parts do; None without a part."""
    if len(parts) < 2:  # noqa: PLR2004  # one stands alone
        return parts[0] if parts else None
    return And(tuple(parts))


class PairFinder:
    """Finds the rows of a source that rows of a table match."""

    def __init__(
        self,
        on: str,
        table: StructType,
        schema: StructType,
        source: pa.Table,
        time_zone: str = UTC_ZONE,
    ) -> None:
        self._source = source
        self._condition = SQLCondition(on, pair_schema(table, schema), time_zone)
        self._keys, self._is_whole = join_keys(on, table, schema)
        self._joined = self._key_columns(SOURCE, self.source_rows(None))

    def reach(self) -> Predicate | None:
        """Return what is true of every row of the table that can match.

        None where nothing is known of them.
        """
        found = (
            key.reach(self._joined[f"key{i}"], are_all=True)
            for i, key in enumerate(self._keys)
        )
        return all_of([part for parts in found for part in parts])

    def source_rows(self, places: Places | None) -> pa.RecordBatch:
        """Return the rows of the source at some places; all for None."""
        rows = self._source if places is None else self._source.take(pa.array(places))
        columns = [column.combine_chunks() for column in rows.columns]
        return pa.RecordBatch.from_arrays(columns, schema=rows.schema)

    def pairs(self, rows: pa.RecordBatch) -> Iterator[tuple[Places, Places]]:
        """Yield pairs of rows that the condition is true for.

        Yields:
            Places in `rows`, and as many in the source.
        """
        step = JOINED_AT_ONCE if self._keys else CROSSED_AT_ONCE
        for start in range(0, rows.num_rows, step):
            some = rows.slice(start, step)
            candidates = self._join(some) if self._keys else self._cross(some)
            for mine, theirs in candidates:
                for low in range(0, len(mine), PAIRS_AT_ONCE):
                    high = low + PAIRS_AT_ONCE
                    found = self._true_for(some, mine[low:high], theirs[low:high])
                    if len(found[0]):
                        yield found[0] + start, found[1]

    def _true_for(
        self, rows: pa.RecordBatch, mine: Places, theirs: Places
    ) -> tuple[Places, Places]:
        if self._is_whole:
            return mine, theirs
        both = bound_rows(t=rows.take(pa.array(mine)), s=self.source_rows(theirs))
        holds = self._condition.holds(both).to_numpy(zero_copy_only=False)
        return mine[holds], theirs[holds]

    def _cross(self, rows: pa.RecordBatch) -> Iterator[tuple[Places, Places]]:
        step = max(1, PAIRS_AT_ONCE // rows.num_rows)
        for start in range(0, self._source.num_rows, step):
            theirs = np.arange(start, min(start + step, self._source.num_rows))
            mine = np.arange(rows.num_rows)
            yield np.repeat(mine, len(theirs)), np.tile(theirs, rows.num_rows)

    def _join(self, rows: pa.RecordBatch) -> Iterator[tuple[Places, Places]]:
        keys = [f"key{i}" for i in range(len(self._keys))]
        mine = self._key_columns(TABLE, rows)
        found = mine.join(self._joined, keys=keys, join_type="inner")
        yield found[_PLACE[TABLE]].to_numpy(), found[_PLACE[SOURCE]].to_numpy()

    def _key_columns(self, side: str, rows: pa.RecordBatch) -> pa.Table:
        bound = bound_rows(**{side: rows})
        place = 0 if side == TABLE else 1
        columns = {
            f"key{i}": (key.mine, key.theirs)[place].values(bound)
            for i, key in enumerate(self._keys)
        }
        columns[_PLACE[side]] = pa.array(np.arange(rows.num_rows), pa.int64())
        return pa.table(columns)


def join_keys(
    on: str, table: StructType, source: StructType
) -> tuple[list[JoinKey], bool]:
    """Return values that must be equal, and whether that is all."""
    tree = unwrapped(parse_sql(on).tree)
    parts = [*connected(tree)] if isinstance(tree, exp.And) else [tree]
    keys = [_join_key(part, table, source) for part in parts]
    return [key for key in keys if key is not None], None not in keys


def _join_key(part: exp.Expr, table: StructType, source: StructType) -> JoinKey | None:
    """Return values of one type that a hash join compares as SQL does."""
    if not isinstance(part, exp.EQ):
        return None
    schema = pair_schema(table, source)
    found, paths = {}, {}
    for side in (unwrapped(part.this), unwrapped(part.expression)):
        if not isinstance(side, exp.Column | exp.Dot):
            return None
        try:
            path = resolve_column(schema, column_names(side))
        except ColumnNotFoundError:
            return None
        only = pair_schema(table, source, (path[0],))
        paths[path[0]] = path[1:]
        found[path[0]] = compile_sql(quoted(*path), only)
    if found.keys() != {TABLE, SOURCE}:
        return None
    mine, theirs = found[TABLE], found[SOURCE]
    are_integers = all(pa.types.is_integer(node.kind) for node in (mine, theirs))
    is_exact = any(is_kind(mine.kind) for is_kind in _EXACT)
    if not is_exact or (mine.kind != theirs.kind and not are_integers):
        return None
    left, right, kind = common(mine, theirs)
    return JoinKey(
        path=paths[TABLE],
        source_path=paths[SOURCE],
        mine=left,
        theirs=right,
        keeps_type=mine.kind == kind,
    )
