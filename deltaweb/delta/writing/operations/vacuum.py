"""What a table no longer needs of its folder, and its deletion.

Kept are the files of the newest version, those that left it within the retention, and
every file that is younger than the retention: somebody may be about to commit it. Files
and folders whose names begin with `_` or `.` are not data, but for partitions (`_p=1`).

Source: delta_protocol.md, "Add File and Remove File"; hidden names are those of the
reference implementation.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.commits.times import to_ms
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.table_properties import deleted_file_retention_ms
from deltaweb.delta.snapshot.state import SnapshotState, load_definition, load_state
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.errors import RetentionTooShortError
from deltaweb.delta.writing.operations.file_ages import (
    HELD,
    NEEDLESS,
    TOMBSTONED,
    VersionLosses,
    file_ages,
    version_losses,
    with_held,
)
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.delta.writing.transaction import Transaction

MS_PER_HOUR: Final = 3_600_000
BATCH: Final = 1_000
"""Files that are deleted together, where storage offers that."""
FILES: Final = pa.schema(
    [
        pa.field("place", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("modification_time", pa.int64()),
        pa.field("kind", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class VacuumPlan:
    """What a vacuum takes, or would take.

    Attributes:
        retention_ms: How long what left the table is kept.
        cutoff: What left the table, and what was written, after this time stays.
        files: place string (below the root, decoded), size int64 (bytes),
            modification_time int64 (ms), kind string (`tombstoned` where the log
            knows the file, `changes` of the change data feed, else `orphan`).
        lost_versions: The versions that can be read before, and not after.
        live_bytes: Bytes of the files of the version.
        kept_bytes: Bytes of files that are not of it, and stay all the same.
        num_held: Files that would go if no older version had to stay readable.
    """

    version: int
    retention_ms: int
    cutoff: datetime
    files: pa.Table
    lost_versions: tuple[int, ...]
    live_bytes: int
    kept_bytes: int
    num_held: int
    held_bytes: int
    is_done: bool

    @property
    def size_bytes(self) -> int:
        return pc.sum(self.files["size"]).as_py() or 0


@dataclass(frozen=True, eq=False)
class VacuumOutlook:
    """The files of a table's folder, and what any retention would take of them.

    Attributes:
        ages: Of `file_ages`: each file, what it is, and since when it is not needed.
    """

    store: TableStore
    state: SnapshotState
    now: datetime
    ages: pa.Table

    @property
    def least_ms(self) -> int:
        """How long the table itself says that files are kept, in milliseconds."""
        return deleted_file_retention_ms(self.state.metadata.configuration)

    @cached_property
    def losses(self) -> VersionLosses:
        """Until when each version can be read, by the commits that the log has."""
        return version_losses(self.store, self.state, self.ages)

    def plan(
        self, hours: float | None = None, *, allow_short_retention: bool = False
    ) -> VacuumPlan:
        """Return what a vacuum would take.

        Args:
            hours: How long what left the table is kept; as the table says for None.
            allow_short_retention: Whether it may be shorter than that.
        """
        least, now_ms = self.least_ms, to_ms(self.now)
        asked = least if hours is None else hours * MS_PER_HOUR
        if asked < 0 or (asked < least and not allow_short_retention):
            raise RetentionTooShortError(
                hours=asked / MS_PER_HOUR, least=least / MS_PER_HOUR
            )
        retention_ms = int(min(asked, now_ms))  # no file is older than 1970
        cutoff_ms = now_ms - retention_ms
        kind = self.ages["kind"]
        is_needless = pc.is_in(kind, value_set=pa.array(NEEDLESS))
        goes = pc.and_(is_needless, pc.less(self.ages["since"], cutoff_ms))
        files = self.ages.filter(goes).select(FILES.names)
        is_held = pc.equal(kind, HELD)
        is_kept = pc.and_(pc.or_(is_needless, is_held), pc.invert(goes))
        is_spared = pc.and_(is_held, pc.less(self.ages["since"], cutoff_ms))
        stays, spared = self.ages.filter(is_kept), self.ages.filter(is_spared)
        has_lost = bool(pc.any(pc.equal(files["kind"], TOMBSTONED)).as_py())
        return VacuumPlan(
            version=self.state.version,
            retention_ms=retention_ms,
            cutoff=self.now.astimezone(UTC) - timedelta(milliseconds=retention_ms),
            files=files,
            lost_versions=self.losses.lost(cutoff_ms) if has_lost else (),
            live_bytes=self.num_bytes("live"),
            kept_bytes=pc.sum(stays["size"]).as_py() or 0,
            num_held=spared.num_rows,
            held_bytes=pc.sum(spared["size"]).as_py() or 0,
            is_done=False,
        )

    def num_bytes(self, kind: str) -> int:
        files = self.ages.filter(pc.equal(self.ages["kind"], kind))
        return pc.sum(files["size"]).as_py() or 0


def vacuum(  # noqa: PLR0913  # what a caller may want of one
    store: TableStore,
    *,
    now: datetime,
    retention_hours: float | None = None,
    is_dry_run: bool = True,
    allow_short_retention: bool = False,
    keep_from: int | None = None,
    record_in_history: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> VacuumPlan:
    """Find the files that a table no longer needs; delete them when asked to.

    Args:
        now: The time to count back from; aware.
        retention_hours: How long what left the table is kept; by
            `delta.deletedFileRetentionDuration` for None.
        is_dry_run: Whether the files are only found.
        keep_from: The oldest version that has to stay readable; any for None.
    """
    outlook = look_at_files(store, now=now, keep_from=keep_from)
    plan = outlook.plan(retention_hours, allow_short_retention=allow_short_retention)
    if is_dry_run:
        return plan
    return carry_out_vacuum(
        store, plan, record_in_history=record_in_history, on_progress=on_progress
    )


def look_at_files(
    store: TableStore, *, now: datetime, keep_from: int | None = None
) -> VacuumOutlook:
    """List a table's folder, and hold it against the log; `keep_from` as `vacuum`."""
    # Listed first: what is committed meanwhile is then known to be live.
    batches = [*store.list_data_statuses()]
    state = load_state(store, None)
    check_writable(state.definition, root=store.root, operation="VACUUM")
    listed = pa.Table.from_batches(batches) if batches else None
    ages = file_ages(store, state, listed)
    if keep_from is not None and ages.num_rows:
        ages = with_held(store, state, ages, keep_from=keep_from)
    return VacuumOutlook(store, state, now, ages)


def carry_out_vacuum(
    store: TableStore,
    plan: VacuumPlan,
    *,
    record_in_history: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> VacuumPlan:
    """Delete the files of a plan, a batch at a time; what went meanwhile is passed.

    Args:
        record_in_history: Whether the table's history is to say so: a commit before
            files go, and one when they are gone.
    """
    recorded = recorded_vacuum(
        store,
        num_files=plan.files.num_rows,
        size_bytes=plan.size_bytes,
        retention_ms=plan.retention_ms,
    )
    with recorded if record_in_history else contextlib.nullcontext():
        _delete(store, plan.files["place"].to_pylist(), on_progress)
    return replace(plan, is_done=True)


def _delete(
    store: TableStore, places: list[str], on_progress: Callable[[int, int], None] | None
) -> None:
    for first in range(0, len(places), BATCH):
        batch = places[first : first + BATCH]
        store.delete_data_files([quote(place, safe="/") for place in batch])
        if on_progress is not None:
            on_progress(first + len(batch), len(places))


# === What the history says of it ===


VACUUM_START = "VACUUM START"
VACUUM_END = "VACUUM END"


@contextmanager
def recorded_vacuum(
    store: TableStore, *, num_files: int, size_bytes: int, retention_ms: int
) -> Iterator[None]:
    """Commit the one mark, and after what is done within, the other.

    Args:
        retention_ms: How long is kept what left the table.
    """
    found = {"numFilesToDelete": num_files, "sizeOfDataToDelete": size_bytes}
    _mark(store, VACUUM_START, {"defaultRetentionMillis": retention_ms}, found)
    status = "FAILED"
    try:
        yield
        status = "COMPLETED"
    finally:
        gone = {"numDeletedFiles": num_files} if status == "COMPLETED" else {}
        _mark(store, VACUUM_END, {"status": status}, gone)


def _mark(
    store: TableStore,
    operation: str,
    parameters: Mapping[str, object],
    metrics: Mapping[str, int],
) -> None:
    mark = Transaction(
        base=load_definition(store),
        operation=operation,
        parameters=parameters,
        metrics=metrics,
        is_mark=True,
    )
    commit_and_checkpoint(store, mark)
