"""What rules know of a table: the facts of its index, as plain values."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from deltaweb.delta.log.versions import GONE
from deltaweb.delta.snapshot.checksum import Verdict

INDEX_FACTS: Final = (
    "state",
    "version",
    "committed_at",
    "num_files",
    "size_bytes",
    "num_records",
    "num_tombstones",
    "partition_columns",
    "summary",
    "fault",
    "fault_code",
)
"""The arguments of `HealthFacts.of_index` that a registered table has as well."""
DEFAULT_TARGET_BYTES: Final = 128 << 20


@dataclass(frozen=True, slots=True)
class SizeBin:
    """Files of similar sizes: from `first_bytes` to below `end_bytes`."""

    first_bytes: int
    end_bytes: int
    num_files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """A partition: its values as text, and its files."""

    values: Mapping[str, str | None]
    num_files: int
    size_bytes: int

    @property
    def text(self) -> str:
        """The values as a condition, such as `country = US`."""
        return ", ".join(
            f"{name} is null" if value is None else f"{name} = {value}"
            for name, value in self.values.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFacts:
    """The log of a table.

    Attributes:
        first_commit: The oldest commit in it; None if it has none.
        oldest_checkpoint, newest_checkpoint: Their versions; None without any.
        hint_version: The version that `_last_checkpoint` names; None without one.
        is_hint_dangling, is_hint_broken: Whether it names a version without a
            checkpoint, or is there and names none.
        retention_ms: How long history is kept; None if the property does not parse.
        is_cleaned: Whether writers may clean it up.
        checkpoint_interval: As the property says; None if it is not set.
    """

    first_commit: int | None
    oldest_checkpoint: int | None
    newest_checkpoint: int | None
    hint_version: int | None
    is_hint_dangling: bool
    is_hint_broken: bool
    retention_ms: int | None
    is_cleaned: bool
    checkpoint_interval: int | None


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """A version, its time, and what the table had removed by then.

    Attributes:
        removed_files, removed_bytes: Those that no VACUUM of the history has deleted;
            None if the log does not say.
    """

    version: int
    time_ms: int
    removed_files: int | None
    removed_bytes: int | None


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """Some versions of the history, oldest first.

    Attributes:
        oldest_removal_ms: When the first of the removed files left the table.
        vacuum_cutoff_ms: What was removed before this time was deleted by the newest
            VACUUM; None without one.
    """

    points: tuple[HistoryPoint, ...]
    oldest_removal_ms: int | None
    vacuum_cutoff_ms: int | None

    def before(self, time_ms: int) -> HistoryPoint | None:
        """Return the newest point at or before a time."""
        older = [one for one in self.points if one.time_ms <= time_ms]
        return older[-1] if older else None

    def time_of(self, version: int) -> datetime | None:
        """Return about when a version was committed, not before."""
        newer = (one.time_ms for one in self.points if one.version >= version)
        time_ms = next(newer, None)
        return None if time_ms is None else moment_of(time_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRhythm:
    """How the last commits that changed files followed each other."""

    num_writes: int
    first_ms: int
    last_ms: int
    typical_gap_ms: int
    longest_gap_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsFacts:
    """The statistics of the files.

    Attributes:
        path_bytes: The size of the paths beside them.
        num_without: Files without any.
        columns: The number of files that have statistics of a column, by its name.
        is_whole: Whether writers keep statistics of these columns alone.
    """

    size_bytes: int
    path_bytes: int
    num_without: int
    columns: Mapping[str, int]
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorFacts:
    """The files with deletion vectors, and the rows in them, deleted ones too."""

    num_files: int
    size_bytes: int
    rows: int
    deleted_rows: int


@dataclass(frozen=True, slots=True)
class IdentityFacts:
    """An identity column, and the last number that it gave."""

    name: str
    start: int
    step: int
    mark: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFolder:
    """What the last listing of the folder found.

    Attributes:
        removed_files, removed_bytes: Files that left the table before its retention.
        num_lost: The versions that a vacuum of these would have made unreadable.
        orphan_files, orphan_bytes: The files that are in no version, and that a vacuum
            would have deleted: others may be of a write that was under way.
    """

    listed_at: datetime
    removed_files: int
    removed_bytes: int
    num_lost: int
    orphan_files: int
    orphan_bytes: int


@dataclass(frozen=True, slots=True)
class UsedColumn:
    """A column that conditions use.

    Attributes:
        name: The dotted name; upper and lower case are one.
        used_by: Half a sentence, such as "2 recipients filter by it".
    """

    name: str
    used_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledVacuum:
    """The next vacuum of a schedule, and the versions that lose files by it."""

    next_at: datetime
    hours: float
    first_lost: int
    last_lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedReader:
    """A client that read the table and can no longer do so.

    Attributes:
        client: Its name, with its version if that is known.
        version: The first version that it cannot read.
        feature: The feature that its error names; "" if it names none.
        error: What the client said.
        recipients: For whom it reads.
    """

    client: str
    version: int
    feature: str = ""
    error: str = ""
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFacts:
    """The facts of one table.

    Attributes:
        table: The full name, as commands take it.
        size_bins: The files by size, ascending; empty if unknown.
        partitions: The largest partitions; the index keeps 200 of them.
        fault: What hides newer versions of the log; "" if nothing does.
        holes: Versions within the log that cannot be built, each the first and last.
        refusal: A sentence that says why this server does not read the newest version.
        file_retention_ms: How long removed files are kept.
        used_columns: The columns that conditions use; partition columns are ignored.
        listing: None if the folder was never listed, or a vacuum ran since.
    """

    table: str
    state: str = ""
    version: int | None = None
    committed_at: datetime | None = None
    num_files: int | None = None
    size_bytes: int | None = None
    num_records: int | None = None
    num_tombstones: int | None = None
    target_file_bytes: int = DEFAULT_TARGET_BYTES
    size_bins: tuple[SizeBin, ...] = ()
    partition_columns: tuple[str, ...] = ()
    num_partitions: int = 0
    partitions: tuple[PartitionFacts, ...] = ()
    fault: str = ""
    fault_code: str = ""
    holes: tuple[tuple[int, int], ...] = ()
    checksum: Verdict | None = None
    log: LogFacts | None = None
    history: HistoryFacts | None = None
    file_retention_ms: int | None = None
    writes: WriteRhythm | None = None
    statistics: StatisticsFacts | None = None
    vectors: VectorFacts | None = None
    identities: tuple[IdentityFacts, ...] = ()
    refusal: str = ""
    clustering: tuple[str, ...] = ()
    listing: ListedFolder | None = None
    used_columns: tuple[UsedColumn, ...] = ()
    scheduled_vacuum: ScheduledVacuum | None = None
    stopped_readers: tuple[StoppedReader, ...] = ()

    @classmethod
    def of_index(  # noqa: PLR0913 (as a registered table has them)
        cls,
        *,
        table: str,
        state: str,
        version: int | None,
        committed_at: datetime | None,
        num_files: int | None,
        size_bytes: int | None,
        num_records: int | None,
        num_tombstones: int | None,
        partition_columns: Sequence[str],
        summary: Mapping[str, Any],
        fault: str = "",
        fault_code: str = "",
    ) -> "HealthFacts":
        """Return the facts of a table by its index.

        Args:
            summary: As `IndexResult.summary`; what an older release left out of it
                is unknown.

        What other parts of a site know is added by `dataclasses.replace`: the listing,
        used columns, the scheduled vacuum, and stopped readers.
        """
        health = summary.get("health")
        noted = health if isinstance(health, dict) else {}
        return cls(
            table=table,
            state=state,
            version=version,
            committed_at=committed_at,
            num_files=num_files,
            size_bytes=size_bytes,
            num_records=num_records,
            num_tombstones=num_tombstones,
            target_file_bytes=_number(summary, "target_file_size_bytes")
            or DEFAULT_TARGET_BYTES,
            size_bins=_size_bins(summary.get("size_histogram")),
            partition_columns=tuple(partition_columns),
            num_partitions=_number(summary, "num_partitions") or 0,
            partitions=_partitions(summary.get("partitions")),
            fault=fault,
            fault_code=fault_code,
            holes=_holes(summary.get("readable_runs")),
            checksum=Verdict.of_json(summary.get("checksum")),
            log=_log(noted.get("log")),
            history=_history(noted.get("history")),
            file_retention_ms=_number(noted, "file_retention_ms"),
            writes=_writes(noted.get("writes")),
            statistics=_statistics(noted.get("statistics")),
            vectors=_vectors(noted.get("vectors")),
            identities=_identities(noted.get("identities")),
            refusal=str(noted.get("refusal") or ""),
            clustering=tuple(summary.get("clustering") or ()),
        )

    def command(self, verb: str, *options: str) -> str:
        """Return the command of a verb for this table, as a shell takes it."""
        return shlex.join(["deltaweb", "table", verb, self.table, *options])


def moment_of(time_ms: int) -> datetime:
    """Return a time of the facts as a moment; one beyond all years is the last."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time_ms)
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def milliseconds(moment: datetime) -> int:
    """Return a moment as facts have times."""
    return int(moment.timestamp() * 1000)


def _log(values: object) -> LogFacts | None:
    return LogFacts(**values) if isinstance(values, dict) else None


def _history(values: object) -> HistoryFacts | None:
    if not isinstance(values, dict):
        return None
    return HistoryFacts(
        points=tuple(HistoryPoint(*point) for point in values["points"]),
        oldest_removal_ms=values["oldest_removal_ms"],
        vacuum_cutoff_ms=values["vacuum_cutoff_ms"],
    )


def _writes(values: object) -> WriteRhythm | None:
    is_known = isinstance(values, dict) and None not in values.values()
    return WriteRhythm(**values) if isinstance(values, dict) and is_known else None


def _statistics(values: object) -> StatisticsFacts | None:
    if not isinstance(values, dict):
        return None
    return StatisticsFacts(
        size_bytes=values["bytes"],
        path_bytes=values["path_bytes"],
        num_without=values["num_without"],
        columns=dict(values["columns"]),
        is_whole=values["is_whole"],
    )


def _vectors(values: object) -> VectorFacts | None:
    is_known = isinstance(values, dict) and None not in values.values()
    return VectorFacts(**values) if isinstance(values, dict) and is_known else None


def _identities(values: object) -> tuple[IdentityFacts, ...]:
    rows = values if isinstance(values, list) else []
    return tuple(
        IdentityFacts(
            row["name"], int(row["start"]), int(row["step"]), int(row["mark"])
        )
        for row in rows
    )


def _number(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number else None


def _size_bins(histogram: object) -> tuple[SizeBin, ...]:
    found = histogram if isinstance(histogram, dict) else {}
    edges, counts = found.get("edges") or [], found.get("counts") or []
    sizes = found.get("bytes") or []
    if not len(edges) - 1 == len(counts) == len(sizes):
        return ()
    bins = zip(pairwise(edges), counts, sizes, strict=True)
    return tuple(SizeBin(first, end, count, size) for (first, end), count, size in bins)


def _partitions(found: object) -> tuple[PartitionFacts, ...]:
    rows = found if isinstance(found, list) else []
    return tuple(
        PartitionFacts(row["values"], row["files"], row["bytes"]) for row in rows
    )


def _holes(runs: object) -> tuple[tuple[int, int], ...]:
    """Return the runs of versions that are gone between others that are not."""
    rows = runs if isinstance(runs, list) else []
    kept = [place for place, row in enumerate(rows) if row[2] != GONE]
    inside = rows[kept[0] : kept[-1]] if kept else []
    return tuple((row[0], row[1]) for row in inside if row[2] == GONE)
