"""A version of before becomes the newest one: its files come back, later ones go.

No data is written, so every file that comes back must still be in storage. The
protocol stays as it is: it never goes down.

Source: delta_protocol.md, "Add File and Remove File".
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.deletion_vectors.places import vector_paths
from deltaweb.delta.features.column_mapping import (
    MAX_COLUMN_ID,
    has_mapped_columns,
    mapping_mode,
)
from deltaweb.delta.features.identity_columns import with_marks_kept
from deltaweb.delta.features.in_commit_timestamps import (
    ENABLED_AT_MS,
    ENABLED_AT_VERSION,
    IN_COMMIT_TIMESTAMPS,
    own_times,
)
from deltaweb.delta.features.row_tracking import assigns_row_ids
from deltaweb.delta.log.blocks import KeySet
from deltaweb.delta.log.file_actions import VECTOR, dv_ids, file_keys, files_of_block
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.row_tracking.logged_fields import load_logged_fields
from deltaweb.delta.row_tracking.numbering import with_fields
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.snapshot.statistics_texts import block_texts
from deltaweb.delta.values.statistics.record_counts import live_records
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.errors import (
    RestoreFilesMissingError,
    UnsupportedWriteError,
)
from deltaweb.delta.writing.operations.data_places import data_places
from deltaweb.delta.writing.operations.mapped_columns import highest_id
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.delta.writing.transaction import (
    EVERYTHING_READ,
    MARKED_FILES,
    REMOVED_FILES,
    CommitResult,
    Transaction,
)

FEW_FILES = 64  # are looked for one by one
OPERATION = "RESTORE"


@dataclass(frozen=True, slots=True, eq=False)
class RestorePlan:
    """What a restore does, or would do.

    Attributes:
        metadata: The metaData that comes back; None where it is the same.
        missing: Paths of files that would come back and are not in storage.
    """

    version: int
    base_version: int
    added: pa.Table
    removed: pa.Table
    metadata: Metadata | None
    missing: tuple[str, ...]
    transaction: Transaction
    now: Snapshot
    target: Snapshot

    @property
    def changes_schema(self) -> bool:
        before, after = self.now.metadata, self.target.metadata
        return before.schema_string != after.schema_string

    def count_rows(self) -> "RestoredRows":
        """Count the rows of the two versions, by the statistics of their files."""
        now = count_rows(self.now, self.removed["path"])
        target = count_rows(self.target, self.added["path"])
        return RestoredRows(*target, *now)

    @property
    def added_bytes(self) -> int:
        return pc.sum(self.added["size"]).as_py() or 0

    @property
    def removed_bytes(self) -> int:
        return pc.sum(self.removed["size"]).as_py() or 0

    def check(self) -> None:
        """Refuse a plan that cannot be carried out."""
        if self.missing:
            raise RestoreFilesMissingError(
                path=self.missing[0], version=self.version, paths=self.missing
            )


class RestoredRows(NamedTuple):
    """Rows of the files that come back and go; None where a file does not tell.

    `then` and `now` are those of all files, of the version that comes back and of the
    one that it replaces.
    """

    back: int | None
    then: int | None
    gone: int | None
    now: int | None


def plan_restore(
    store: TableStore, now: Snapshot, target: Snapshot, *, timestamp: str | None = None
) -> RestorePlan:
    """Return what it takes to make a version the newest one.

    Args:
        timestamp: The time that was asked for in the place of a version, for the log.
    """
    for snapshot in (now, target):
        if snapshot.refusal is not None:
            raise snapshot.refusal
    before, after = now.files, target.files
    added = with_statistics(target, before)
    if added.num_rows and assigns_row_ids(now.protocol, now.metadata):
        known = load_logged_fields(store, target.version).of(added["path"])
        added = with_fields(added, known)
    removed = files_without(before, after).select([*REMOVED_FILES.names, VECTOR])
    check_writable(
        now.state.definition,
        root=store.root,
        operation=OPERATION,
        removes_rows=removed.num_rows > 0,
    )
    restored = restored_metadata(now.state.definition, target.metadata, root=store.root)
    metadata = None if restored == now.metadata else restored
    plan = RestorePlan(
        version=target.version,
        base_version=now.version,
        added=added,
        removed=removed,
        metadata=metadata,
        missing=(*missing_files(store, added),),
        transaction=Transaction(
            base=now.state.definition,
            operation=OPERATION,
            parameters={
                "version": target.version,
                **({} if timestamp is None else {"timestamp": timestamp}),
            },
            read=EVERYTHING_READ,
            is_last_word=True,
            added=added,
            removed=removed,
            are_files_new=False,
            metadata=metadata,
            metrics={
                "numRestoredFiles": added.num_rows,
                "numRemovedFiles": removed.num_rows,
                "restoredFilesSize": pc.sum(added["size"]).as_py() or 0,
                "removedFilesSize": pc.sum(removed["size"]).as_py() or 0,
                "numOfFilesAfterRestore": target.num_files,
                "tableSizeAfterRestore": target.size_bytes,
            },
        ),
        now=now,
        target=target,
    )
    return plan  # noqa: RET504  # named: it is long


def carry_out_restore(
    store: TableStore, plan: RestorePlan, *, user_name: str | None = None
) -> CommitResult:
    """Commit what was planned."""
    plan.check()
    return commit_and_checkpoint(store, replace(plan.transaction, user_name=user_name))


def count_rows(
    snapshot: Snapshot, paths: pa.ChunkedArray
) -> tuple[int | None, int | None]:
    """Count the rows of some files of a version, and of all of them.

    None for a count that statistics do not give.
    """
    files = snapshot.files
    counts = live_records(snapshot.statistics([])["num_records"], files[VECTOR])
    is_meant = pc.is_in(files["path"], value_set=paths.combine_chunks())
    return _total(counts.filter(is_meant)), _total(counts)


def _total(counts: pa.Array | pa.ChunkedArray) -> int | None:
    return None if counts.null_count else pc.sum(counts).as_py() or 0


def with_statistics(snapshot: Snapshot, there: pa.Table | None = None) -> pa.Table:
    """Return the files of a version as those to add, statistics as JSON with them.

    Args:
        there: Files of another version, which are left out; none for None.
    """
    parts = [MARKED_FILES.empty_table()]
    others = KeySet(pa.array([], pa.string()) if there is None else _keys(there))
    for block in snapshot.state.blocks:
        live = block.without(others).compact() if len(others) else block.compact()
        if not live.num_files:
            continue
        rows = pa.Table.from_batches([files_of_block(live.block.files)])
        texts = block_texts(live, snapshot.schema)
        rows = rows.append_column(MARKED_FILES.field("stats"), texts)
        parts.append(rows.select(MARKED_FILES.names).cast(MARKED_FILES))
    return pa.concat_tables(parts)


def files_without(files: pa.Table, others: pa.Table) -> pa.Table:
    """Return the files that others lack, by path and deletion vector."""
    if not others.num_rows or not files.num_rows:
        return files
    is_there = pc.is_in(_keys(files), value_set=_keys(others))
    return files.filter(pc.invert(is_there))


def _keys(files: pa.Table) -> pa.Array:
    paths, vectors = (files[name].combine_chunks() for name in ("path", VECTOR))
    return file_keys(paths, dv_ids(vectors))


def missing_files(store: TableStore, files: pa.Table) -> Iterator[str]:
    """Yield the paths of files and of their deletion vectors that storage lacks."""
    yield from _missing(store, files["path"])
    yield from _lost_vectors(store, files)


def _lost_vectors(store: TableStore, files: pa.Table) -> Iterator[str]:
    yield from (p for p in vector_paths(files) if not store.has_data_file(p))


def _missing(store: TableStore, paths: pa.ChunkedArray) -> Iterator[str]:
    """Yield the paths whose files are not in storage; many are found by a listing."""
    if len(paths) <= FEW_FILES:
        looked_for = paths.to_pylist()
    else:
        listed = pa.chunked_array([*store.list_data_files()], pa.string())
        places = data_places(paths, root=store.root)
        is_there = pc.is_in(places, value_set=listed.combine_chunks())
        looked_for = paths.filter(pc.invert(is_there)).to_pylist()
    yield from (path for path in looked_for if not store.has_data_file(path))


# === What stays of a definition ===


OWN_TIMES: Final = (IN_COMMIT_TIMESTAMPS, ENABLED_AT_VERSION, ENABLED_AT_MS)


def restored_metadata(now: Definition, target: Metadata, *, root: str) -> Metadata:
    """Return the metaData with which a version comes back."""
    modes = [
        mapping_mode(metadata.configuration)
        if has_mapped_columns(now.protocol, metadata)
        else "none"
        for metadata in (now.metadata, target)
    ]
    if modes[0] != modes[1]:
        needs = ["columnMapping as it was then: the mode has changed since"]
        raise UnsupportedWriteError(root=root, version=now.version, needs=needs)
    configuration = dict(target.configuration)
    before = now.metadata.configuration
    if own_times(now.protocol, now.metadata) is not None:
        configuration = {k: v for k, v in configuration.items() if k not in OWN_TIMES}
        configuration |= {key: before[key] for key in OWN_TIMES if key in before}
    highest = max(highest_id(now.metadata), highest_id(target))
    if highest:
        configuration[MAX_COLUMN_ID] = str(highest)
    target = with_marks_kept(target, now.metadata)
    if configuration == dict(target.configuration):
        return target
    return replace(target, configuration=configuration)
