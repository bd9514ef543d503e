"""The changed rows of some versions as a recipient is offered them.

Where a rule needs files to be rewritten, the changes are those of the rewritten files;
otherwise they are those of the table's feed, from files of which every row is seen.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.sharing.access.grants.changed import offered_changes, offered_range
from apps.sharing.access.grants.prepared import store_of
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.answers.changes import is_rewritten
from apps.sharing.answers.opening import check_history, check_start
from apps.sharing.answers.rows import readable_columns
from apps.sharing.models import SharedTable
from deltaweb.delta.changes.row_changes import CHANGE_TYPE, ChangeType
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedScan
from deltaweb.delta.feed.matched_updates import (
    MatchedUpdates,
    match_updates,
    own_columns,
)
from deltaweb.delta.feed.row_schema import COMMIT_VERSION
from deltaweb.delta.feed.versions import find_range
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.scan.rows import RowSource, iter_rows
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.table import DeltaTable

FEED: Final = (CHANGE_TYPE, COMMIT_VERSION)
_KIND: Final = StructField(CHANGE_TYPE, PrimitiveType("string"))
UPDATE: Final = "update"
"""The kind of a row whose values before are known."""
MAX_TRIED: Final = 16  # columns that may tell rows apart
_UPDATES: Final = pa.array(
    [ChangeType.UPDATE_BEFORE.value, ChangeType.UPDATE_AFTER.value]
)
_NAME_OF_KEY: Final = re.compile(r"(?:^|_)(?:id|key|uuid)$|[a-z](?:Id|ID|Key)$")


@dataclass(slots=True)
class ChangedRows:
    """Changed rows: the kind, the version, then the columns that are seen.

    Attributes:
        size_bytes: Of the files that are read for them.
        num_files: How many these are.
    """

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    size_bytes: int
    num_files: int

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches


def changed_rows(  # noqa: PLR0913 (of what, for whom, and from where on)
    shared: SharedTable,
    rule: TableRule,
    table: DeltaTable,
    newest: SharedVersion,
    *,
    first: int,
    now: datetime,
) -> ChangedRows:
    """Return the rows that changed from a version on, up to the newest one offered.

    Args:
        newest: That version, as it is offered under the rule.
        first: The first version whose changes are wanted.

    Raises:
        SharingError: If the history is not shared, or not from that version on, or
            the changes are not ready or cannot be exact.
        DeltaError: If the table does not keep its changes.
    """
    check_history(shared)
    check_start(shared, first)
    columns = [*FEED, *readable_columns(newest.schema)]
    if is_rewritten(rule, table):
        return _rewritten(shared, rule, table, newest, columns, first=first, now=now)
    versions = (first, newest.version)
    told = FeedScan(table.store, FeedRequest(versions=versions, is_shown=True))
    own = own_columns(told.rows.row_schema.names)
    fields = tuple(f for f in told.rows.row_schema.fields if f.name in own)
    condition = rule.condition(StructType(fields)) if rule.conditions else None
    request = FeedRequest(versions=versions, columns=columns, predicate=condition)
    scan = FeedScan(table.store, request)
    files = [one.files for one in scan.files(with_sizes=True)]
    schema = pa.schema([scan.schema.field(name) for name in columns])
    return ChangedRows(
        schema=schema,
        batches=(batch.select(columns) for batch in scan.batches()),
        size_bytes=sum(exact_sum(part) for one in files for part in one["size"].chunks),
        num_files=sum(one.num_rows for one in files),
    )


def _rewritten(  # noqa: PLR0913 (of what, for whom, and from where on)
    shared: SharedTable,
    rule: TableRule,
    table: DeltaTable,
    newest: SharedVersion,
    columns: list[str],
    *,
    first: int,
    now: datetime,
) -> ChangedRows:
    """Return the rows of the rewritten files of changes."""
    asked = find_range(
        table.root,
        table.commit_times(),
        versions=(first, newest.version),
        timestamps=(None, None),
    )
    versions = offered_range(shared, rule, asked, is_open=True)
    held = offered_changes(shared, rule, versions, [], with_feed=True, now=now)
    files = pa.Table.from_batches(held.held)
    schema = replace(newest.schema, fields=(*newest.schema.fields, _KIND))
    names = [name for name in columns if name != COMMIT_VERSION]

    def source(some: pa.Table) -> RowSource:
        return RowSource(
            schema=schema,
            partition_columns=newest.metadata.partition_columns,
            files=some.select(["path", "partition_values"]),
            open_file=store_of(shared.id).open_data_file,
        )

    def batches() -> Iterator[pa.RecordBatch]:
        for place in range(files.num_rows):
            some = files.slice(place, 1)
            (version,) = some["version"].to_pylist()
            for rows in iter_rows(source(some), columns=names):
                column = pa.repeat(pa.scalar(version, pa.int64()), rows.num_rows)
                yield rows.add_column(1, COMMIT_VERSION, column)

    plain = iter_rows(source(files.slice(0, 0)), columns=names).schema
    return ChangedRows(
        schema=plain.insert(1, pa.field(COMMIT_VERSION, pa.int64())),
        batches=batches(),
        size_bytes=sum(exact_sum(part) for part in files["size"].chunks),
        num_files=files.num_rows,
    )


def with_values_before(rows: pa.Table, name: str, *, are_some_hidden: bool) -> pa.Table:
    """Return changed rows, each with its values before in a last column.

    The rows of an update are matched by the column that leaves the fewest of them
    alone and changes the fewest cells. An update without a match stays two rows. That
    column is null in all rows but those of `UPDATE`.

    Args:
        rows: The columns of the feed and of the table.
        name: The name of the column that is added.
        are_some_hidden: Whether a condition hides rows. One row of an update may be
            hidden then, so only a column that is named like a key matches rows.
    """
    own = rows.select(own_columns(rows.column_names)).combine_chunks()
    kinds = rows[CHANGE_TYPE].cast(pa.string())
    places = np.flatnonzero(pc.is_in(kinds, _UPDATES).to_numpy())
    matched = _matched(rows.take(pa.array(places)), only_named=are_some_hidden)
    before = np.full(rows.num_rows, -1, dtype=np.int64)
    is_kept = np.ones(rows.num_rows, dtype=bool)
    if matched is not None:
        olds, news = places[matched.before], places[matched.after]
        before[news] = olds
        is_kept[olds] = False
    is_update = before >= 0
    kinds = pc.if_else(pa.array(is_update), UPDATE, kinds)
    place = rows.column_names.index(CHANGE_TYPE)
    values = own.to_struct_array().take(pa.array(before, mask=~is_update))
    found = rows.set_column(place, CHANGE_TYPE, kinds).append_column(name, values)
    return found.filter(pa.array(is_kept))


def _matched(updates: pa.Table, *, only_named: bool) -> MatchedUpdates | None:
    """Return the best match of updates; None if no column matches any."""
    best: tuple[tuple[int, int], MatchedUpdates] | None = None
    for name in _keys(updates, only_named=only_named):
        found = match_updates(updates, [name])
        changed = sum(int(mask.sum()) for mask in found.changed.values())
        score = (len(found.alone), changed)
        if len(found.before) and (best is None or score < best[0]):
            best = score, found
        if _NAME_OF_KEY.search(name) and not len(found.alone):
            break
    return None if best is None else best[1]


def _keys(updates: pa.Table, *, only_named: bool) -> Sequence[str]:
    """Return the columns that may tell rows apart, those named like a key first."""
    if not updates.num_rows:
        return ()
    names = [
        name
        for name in own_columns(updates.column_names)
        if _is_comparable(updates.schema.field(name).type)
    ]
    named = [name for name in names if _NAME_OF_KEY.search(name)]
    others = [] if only_named else [name for name in names if name not in named]
    return (named + others)[:MAX_TRIED]


def _is_comparable(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    )
