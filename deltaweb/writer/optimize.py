"""Small files become large ones, or rows are laid out so that files can be left out.

Rows stay the same, so that readers of changes see nothing (`dataChange=false`). Each
bin of files is of one partition; files that are large enough are left as they are.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import ColumnTypeError, PredicateError
from deltaweb.delta.features.clustering import clustering_columns, is_clustered
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.column_path import ColumnPath, column_field
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.row_tracking.logged_fields import (
    PROVIDER,
    LoggedFields,
    load_logged_fields,
)
from deltaweb.delta.scan.small_files import packed_rows
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.values.partition_values import (
    PartitionKey,
    canonical_keys,
    partition_schema,
)
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.delta.writing.transaction import CommitResult, TableRead, Transaction
from deltaweb.expressions.session.settings import SessionSettings
from deltaweb.writer.changes.row_ids import KeptRowIds, NextRowIds
from deltaweb.writer.files.data_files import FileLayout
from deltaweb.writer.matching import check_all_read, find_matches
from deltaweb.writer.table_write import TableWrite

OPTIMIZE: Final = "OPTIMIZE"
OUR_CLUSTERING: Final = "deltaweb"
"""By which files are known that were clustered here."""
LARGE_ENOUGH: Final = 0.75
"""The share of the target size from which a file is left as it is."""
MAX_CLUSTER_BYTES: Final = 256 << 20
"""Of files whose rows are put in order together, in memory."""


class PartitionPlan(NamedTuple):
    """What becomes of the files of one partition.

    Attributes:
        values: Partition columns by their names, and their values as we write them.
    """

    values: tuple[tuple[str, str | None], ...]
    num_files: int
    num_bytes: int
    num_after: int


@dataclass(frozen=True, slots=True, eq=False)
class OptimizePlan:
    """What an optimization does, or would do.

    Attributes:
        where: Which partitions, as it was asked; None for all.
        paths: The columns whose values are to be close within files.
        bins: Files that are written together, of one partition each: rows of
            `Snapshot.files`.
        num_considered: Files of the partitions that were asked for.
        is_clustered: Whether it is the table that names the columns.
    """

    snapshot: Snapshot
    where: str | None
    paths: tuple[ColumnPath, ...]
    target_bytes: int
    bins: tuple[pa.Table, ...]
    num_considered: int
    is_clustered: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(".".join(path) for path in self.paths)

    @property
    def removed(self) -> pa.Table:
        nothing = self.snapshot.counted(self.snapshot.files.slice(0, 0))
        return pa.concat_tables([nothing, *self.bins])

    def partitions(self) -> list[PartitionPlan]:
        """Return what becomes of each partition, those of most files first."""
        columns = _partitions(self.snapshot)
        found: dict[tuple[tuple[str, str | None], ...], PartitionPlan] = {}
        for some in self.bins:
            (key,) = canonical_keys(some["partition_values"].slice(0, 1), columns)
            values = tuple(zip(columns.names, key, strict=True))
            num_bytes = pc.sum(some["size"]).as_py()
            before = found.get(values, PartitionPlan(values, 0, 0, 0))
            found[values] = PartitionPlan(
                values,
                before.num_files + some.num_rows,
                before.num_bytes + num_bytes,
                before.num_after + max(1, round(num_bytes / self.target_bytes)),
            )
        return sorted(found.values(), key=lambda one: -one.num_files)


def plan_optimize(  # noqa: PLR0913  # what is asked for
    store: TableStore,
    where: str | None = None,
    *,
    target_bytes: int | None = None,
    cluster_by: Sequence[str] = (),
    version: int | None = None,
    time_zone: str = UTC_ZONE,
) -> OptimizePlan:
    """Return how small files are packed, or all rows clustered along a Z-order curve.

    Args:
        cluster_by: Names of columns whose values are to be close within files.
    """
    state = load_state(store, version)
    check_writable(state.definition, root=store.root, operation=OPTIMIZE)
    snapshot = Snapshot(store, state)
    paths = _curve_columns(snapshot, cluster_by)
    logged = None
    if is_clustered(snapshot.protocol):
        logged = load_logged_fields(store, snapshot.version)
        asked = clustering_columns(logged.domains, snapshot.schema)[0]
        if asked and paths:
            named = ", ".join(".".join(path) for path in asked)
            raise PredicateError(reason=f"the table itself is clustered by {named}")
        paths, logged = (asked, logged) if asked else (paths, None)
    target = FileLayout.of_table(
        snapshot.protocol, snapshot.metadata, target_bytes
    ).target_bytes
    files = _files(snapshot, where, time_zone)
    open_files = snapshot.counted(_unclustered(files, logged, target))
    keys = canonical_keys(open_files["partition_values"], _partitions(snapshot))
    bins = [*_bins(open_files, keys, target, clusters=bool(paths))]
    if logged is not None:
        bins = [some for some in bins if _is_worth_clustering(some, logged)]
    return OptimizePlan(
        snapshot=snapshot,
        where=where,
        paths=tuple(paths),
        target_bytes=target,
        bins=tuple(bins),
        num_considered=files.num_rows,
        is_clustered=logged is not None,
    )


def _unclustered(files: pa.Table, logged: LoggedFields | None, target: int) -> pa.Table:
    """Return the files that may be clustered: of nobody, or small ones of ours.

    Those that another implementation has clustered are left to it.
    """
    if logged is None:
        return files
    providers = logged.of(files["path"])[PROVIDER]
    is_small = pc.less(files["size"], int(LARGE_ENOUGH * target))
    is_ours = pc.fill_null(pc.equal(providers, OUR_CLUSTERING), False)  # noqa: FBT003  # what a null becomes
    is_open = pc.or_(is_small, files[VECTOR].is_valid())
    return files.filter(pc.or_(providers.is_null(), pc.and_(is_ours, is_open)))


def _is_worth_clustering(files: pa.Table, logged: LoggedFields) -> bool:
    """Return whether files that are clustered together change by it."""
    is_one = files.num_rows == 1 and not files[VECTOR][0].is_valid
    return not is_one or not logged.of(files["path"])[PROVIDER][0].is_valid


def carry_out_optimize(
    store: TableStore,
    plan: OptimizePlan,
    *,
    user_name: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> CommitResult:
    """Rewrite the files of a plan, and commit that."""
    started = monotonic()
    snapshot, removed = plan.snapshot, plan.removed
    base = snapshot.state.definition
    write = TableWrite(store, base, base.metadata, plan.target_bytes)
    row_ids = KeptRowIds.of(store, snapshot)
    with write.open_files(keeps_ids=True) as files:
        num_done = 0
        files.spell_as(removed)
        for some in plan.bins:
            num_before = files.num_rows
            for rows in _rows(snapshot, some, plan.paths, row_ids):
                files.write(rows)
            check_all_read(some, files.num_rows - num_before)
            files.end_file()
            num_done += some.num_rows
            if on_progress is not None:
                on_progress(num_done, removed.num_rows)
        added = files.finish()
        if plan.is_clustered:
            names = pa.repeat(pa.scalar(OUR_CLUSTERING), added.num_rows)
            added = added.append_column(PROVIDER, names)
        transaction = Transaction(
            base=base,
            operation=OPTIMIZE,
            parameters={
                "predicate": [] if plan.where is None else [plan.where],
                **_said_columns(plan),
                "auto": False,
            },
            metrics={
                "numAddedFiles": added.num_rows,
                "numAddedBytes": files.num_bytes,
                "numRemovedFiles": removed.num_rows,
                "numRemovedBytes": pc.sum(removed["size"]).as_py() or 0,
                "numCopiedRows": files.num_rows,
                "numDeletionVectorsRemoved": pc.sum(removed[VECTOR].is_valid()).as_py()
                or 0,
                **size_quantiles(added["size"].to_pylist()),
                "executionTimeMs": int((monotonic() - started) * 1_000),
            },
            read=TableRead(files=removed),
            added=added,
            removed=removed,
            data_change=False,
            user_name=user_name,
        )
    return commit_and_checkpoint(store, transaction)


def size_quantiles(sizes: Sequence[int]) -> dict[str, int]:
    """Return how large files are, by Spark's names; nothing of no file."""
    ordered = sorted(sizes)
    if not ordered:
        return {}
    return {
        "minFileSize": ordered[0],
        **{f"p{p}FileSize": ordered[len(ordered) * p // 100] for p in (25, 50, 75)},
        "maxFileSize": ordered[-1],
    }


def _said_columns(plan: OptimizePlan) -> dict[str, list[str]]:
    """Return what the log is told of the columns, by Spark's names."""
    if plan.is_clustered:
        return {"zOrderBy": [], "clusterBy": [*plan.columns]}
    return {"zOrderBy": [*plan.columns]}


def _files(snapshot: Snapshot, where: str | None, time_zone: str) -> pa.Table:
    if where is None:
        return snapshot.files
    matches = find_matches(
        snapshot, where, settings=SessionSettings(time_zone=time_zone)
    )
    if matches.partly.num_rows:
        reason = "an optimization is of whole partitions, and it names other columns"
        raise PredicateError(reason=reason)
    return matches.whole


def _partitions(snapshot: Snapshot) -> StructType:
    return partition_schema(snapshot.schema, snapshot.metadata.partition_columns)


def _bins(
    files: pa.Table, keys: Sequence[PartitionKey], target: int, *, clusters: bool
) -> Iterator[pa.Table]:
    """Yield files of one partition each that are written together."""
    most = MAX_CLUSTER_BYTES if clusters else target
    groups: dict[PartitionKey, list[int]] = defaultdict(list)
    sizes: list[int] = files["size"].to_pylist()
    is_marked: list[bool] = files[VECTOR].is_valid().to_pylist()
    for place, key in enumerate(keys):
        # A file with a vector is written again without the rows that are gone.
        is_small = sizes[place] < LARGE_ENOUGH * target
        if clusters or is_small or is_marked[place]:
            groups[key].append(place)
    for places in groups.values():
        for some in _filled(places, sizes, most):
            if clusters or len(some) > 1 or is_marked[some[0]]:
                yield files.take(pa.array(some))


def _filled(places: list[int], sizes: list[int], most: int) -> Iterator[list[int]]:
    some: list[int] = []
    total = 0
    for place in places:
        if some and total + sizes[place] > most:
            yield some
            some, total = [], 0
        some.append(place)
        total += sizes[place]
    if some:
        yield some


# === Order ===


def _curve_columns(snapshot: Snapshot, names: Sequence[str]) -> list[ColumnPath]:
    schema = snapshot.schema
    found: list[ColumnPath] = []
    for name in names:
        column = column_field(schema, (name,))
        if column.name in snapshot.metadata.partition_columns:
            reason = f"{column.name!r} is a partition column: its files are apart"
            raise PredicateError(reason=reason)
        if not hasattr(column.data_type, "name") and not hasattr(
            column.data_type, "scale"
        ):
            raise ColumnTypeError(column=column.name, type_name="nested")
        found.append((column.name,))
    return found


def _rows(
    snapshot: Snapshot,
    files: pa.Table,
    columns: Sequence[ColumnPath],
    row_ids: KeptRowIds | None,
) -> Iterator[pa.Table]:
    """Yield rows in the order they are written, with what they are known by."""
    ids = None if row_ids is None else row_ids.of_files(files)
    if not columns:
        following = None if ids is None else NextRowIds(ids)
        for batch in packed_rows(snapshot.row_source(files)):
            rows = pa.Table.from_batches([batch])
            yield (
                rows
                if following is None
                else following.take(batch.num_rows).beside(rows)
            )
        return
    batches = [*packed_rows(snapshot.row_source(files))]
    if batches:
        rows = pa.Table.from_batches(batches).combine_chunks()
        order = z_order([_values(rows, path) for path in columns])
        taken = rows.take(pa.array(order))
        yield taken if ids is None else ids.take(order).beside(taken)


def _values(rows: pa.Table, path: ColumnPath) -> pa.ChunkedArray:
    column = rows.column(path[0])
    for name in path[1:]:
        column = pc.struct_field(column, [name])
    return column


# === The order of rows ===


CURVE_BITS: Final = 16


def z_order(columns: Sequence[pa.ChunkedArray]) -> npt.NDArray[np.int64]:
    """Return the order of rows along a Z-order curve through the ranks of values."""
    bits = max(1, min(CURVE_BITS, 64 // len(columns)))
    key = np.zeros(len(columns[0]), np.uint64)
    ranks = [_ranks(column, bits) for column in columns]
    for bit in range(bits - 1, -1, -1):
        for rank in ranks:
            key = (key << np.uint64(1)) | ((rank >> np.uint64(bit)) & np.uint64(1))
    return np.argsort(key, kind="stable")


def _ranks(column: pa.ChunkedArray, bits: int) -> npt.NDArray[np.uint64]:
    ranked = pc.rank(column.combine_chunks(), tiebreaker="dense").to_numpy()
    most = max(1, int(ranked.max(initial=1)))
    scaled = (ranked.astype(np.float64) - 1) * ((1 << bits) - 1) / most
    found: npt.NDArray[np.uint64] = scaled.astype(np.uint64)
    return found
