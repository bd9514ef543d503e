"""What an index notes for the rules about the health of a table.

`summary["health"]` has, besides constants of the table's properties:

    log          the oldest commit, checkpoints, and the hint
    history      times of commits with the files that were removed by then
    writes       how often the table is written
    statistics   their size, and the files that have them, by column
    vectors      the files with deletion vectors, and their rows
    identities   the identity columns, and how far they have counted

What cannot be known is null or missing. Times are milliseconds since the Unix epoch, so
that the rules can be asked again on another day.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError, PropertyError, SchemaError
from deltaweb.delta.features.identity_columns import identity_columns
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.log.paths import LAST_CHECKPOINT
from deltaweb.delta.log.segment import MAX_HINT_BYTES, list_log, version_of_hint
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.table_properties import (
    INDEXED_COLUMNS,
    STATISTICS_COLUMNS,
    deleted_file_retention_ms,
    log_retention_ms,
)
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.statistics.record_counts import deleted_records
from deltaweb.delta.writing.after_commit import CHECKPOINT_INTERVAL
from deltaweb.index.files.file_rows import (
    MAX_INDEXED_COLUMNS,
    NewestFiles,
    choose_columns,
)
from deltaweb.index.folder.file_index import FILES
from deltaweb.index.folder.parts import map_table
from deltaweb.index.history.lifetimes import Longs
from deltaweb.index.history.readability import refusal_reason

DAY_MS: Final = 86_400_000
DAYS_OF_HISTORY: Final = 45  # each with a point of its own
OLDER_POINTS: Final = 20
LAST_WRITES: Final = 60
VACUUM_START: Final = "VACUUM START"
LOG_CLEANUP: Final = "delta.enableExpiredLogCleanup"
VECTORS_FEATURE: Final = "deletionVectors"
NOTED: Final = (
    "version",
    "timestamp_ms",
    "num_added_files",
    "num_removed_files",
    "removed_bytes",
)
"""The columns of commits that facts are made of."""


@dataclass(frozen=True, slots=True)
class KnownCheckpoints:
    """The checkpoints of a log.

    Attributes:
        oldest, newest: Their versions; None without any.
        hint_version: The version that `_last_checkpoint` names; None without one.
        is_hint_dangling: Whether it names one that is not there.
        is_hint_broken: Whether `_last_checkpoint` is there and names none.
    """

    oldest: int | None
    newest: int | None
    hint_version: int | None = None
    is_hint_dangling: bool = False
    is_hint_broken: bool = False


def checkpoints_of(store: LogStore, versions: Sequence[int]) -> KnownCheckpoints:
    """Return what a whole listing says of checkpoints.

    Args:
        versions: The versions of all complete checkpoints, ascending.
    """
    hint, is_broken = _hint(store)
    return KnownCheckpoints(
        oldest=versions[0] if versions else None,
        newest=versions[-1] if versions else None,
        hint_version=hint,
        is_hint_dangling=hint is not None and hint not in versions,
        is_hint_broken=is_broken,
    )


def checkpoints_since(
    store: LogStore,
    summary: Mapping[str, Any],
    new: Sequence[int],
    *,
    version: int,
    first_version: int,
) -> KnownCheckpoints:
    """Return what is known of checkpoints after an update of an index.

    Args:
        summary: That of the index before; the log is listed where it says nothing.
        new: The versions of complete checkpoints from `version` on, ascending.
        version: That of the index before.
        first_version: The oldest version that the log can build.
    """
    log = (summary.get("health") or {}).get("log") or {}
    if "oldest_checkpoint" not in log:
        listing = list_log(store)
        return checkpoints_of(store, [one.version for one in listing.checkpoints])
    known = [log["oldest_checkpoint"], log["newest_checkpoint"]]
    kept = [one for one in known if one is not None and one >= first_version]
    if len(kept) == 1 and known[0] != known[1]:
        kept.insert(0, min(first_version, kept[0]))
    all_known = [*kept, *new]
    hint, is_broken = _hint(store)
    is_dangling = False
    if hint is not None and hint not in all_known:
        was_dangling = log["is_hint_dangling"] and log["hint_version"] == hint
        is_dangling = hint >= version or was_dangling or hint < first_version
    return KnownCheckpoints(
        oldest=min(all_known, default=None),
        newest=max(all_known, default=None),
        hint_version=hint,
        is_hint_dangling=is_dangling,
        is_hint_broken=is_broken,
    )


def _hint(store: LogStore) -> tuple[int | None, bool]:
    """Return the version that the hint names, and whether it is there and names none.

    Storage that does not answer has no hint.
    """
    try:
        data = store.read_head(LAST_CHECKPOINT, MAX_HINT_BYTES)
    except (DeltaError, FileNotFoundError):
        return None, False
    version = version_of_hint(data)
    return version, version is None


class NotedCommits:
    """The columns of all commits that the facts need, noted while they are written."""

    def __init__(self) -> None:
        self._columns: list[list[Longs]] = []
        self._vacuum: tuple[int, str] | None = None

    def take(self, batch: pa.RecordBatch) -> None:
        """Take the next commits, by `COMMIT_SCHEMA`."""
        self._columns.append(
            [pc.fill_null(batch[name], 0).to_numpy() for name in NOTED]
        )
        starts = pc.fill_null(pc.equal(batch["operation"], VACUUM_START), False)  # noqa: FBT003
        found = np.flatnonzero(starts.to_numpy(zero_copy_only=False))
        if len(found):
            last = int(found[-1])
            began_ms = batch["timestamp_ms"][last].as_py()
            self._vacuum = (began_ms, batch["parameters"][last].as_py() or "{}")

    def column(self, name: str) -> Longs:
        """Return a column of all commits, oldest first."""
        place = NOTED.index(name)
        parts = [columns[place] for columns in self._columns]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def vacuum_cutoff_ms(self, retention_ms: int) -> int | None:
        """Return the time before which the newest vacuum deleted what was removed."""
        if self._vacuum is None:
            return None
        began_ms, text = self._vacuum
        return began_ms - _vacuum_retention_ms(text, retention_ms)


def _vacuum_retention_ms(parameters: str, default_ms: int) -> int:
    with suppress(ValueError, TypeError, AttributeError):
        values = json.loads(parameters)
        for name in ("specifiedRetentionMillis", "defaultRetentionMillis"):
            if values.get(name) is not None:
                return int(values[name])
    return default_ms


def health_facts(  # noqa: PLR0913 (each is a source of facts)
    folder: Path,
    snapshot: Snapshot,
    newest: NewestFiles | None,
    commits: NotedCommits,
    checkpoints: KnownCheckpoints,
    *,
    first_commit: int | None,
    now_ms: int,
) -> dict[str, Any]:
    """Return what rules are to know of a version; see the module."""
    configuration = snapshot.metadata.configuration
    features = {
        *(snapshot.protocol.reader_features or ()),
        *(snapshot.protocol.writer_features or ()),
    }
    retention_ms = _duration(deleted_file_retention_ms, configuration)
    facts: dict[str, Any] = {
        "log": {
            "first_commit": first_commit,
            "oldest_checkpoint": checkpoints.oldest,
            "newest_checkpoint": checkpoints.newest,
            "hint_version": checkpoints.hint_version,
            "is_hint_dangling": checkpoints.is_hint_dangling,
            "is_hint_broken": checkpoints.is_hint_broken,
            "retention_ms": _duration(log_retention_ms, configuration),
            "is_cleaned": configuration.get(LOG_CLEANUP, "true").lower() != "false",
            "checkpoint_interval": _count(configuration.get(CHECKPOINT_INTERVAL)),
        },
        "file_retention_ms": retention_ms,
        # With deletion vectors a commit removes files that it adds again.
        "history": _history(
            commits, now_ms, retention_ms, has_vectors=VECTORS_FEATURE in features
        ),
        "writes": _writes(commits),
        "identities": _identities(snapshot),
        "refusal": refusal_reason(snapshot.refusal) if snapshot.refusal else "",
    }
    if newest is not None and newest.num_files:
        files = map_table(folder, FILES)
        facts["statistics"] = _statistics(files, snapshot)
        facts["vectors"] = _vectors(files, newest)
    return facts


# === The log ===


def _history(
    commits: NotedCommits, now_ms: int, retention_ms: int | None, *, has_vectors: bool
) -> dict[str, Any]:
    """Return points of the history, and what was removed by each of them.

    Returns:
        `points`, each a version, its time, and the files and bytes that were removed
        up to it and that no vacuum has deleted; null where the log does not say.
        `oldest_removal_ms` and `vacuum_cutoff_ms`, or null.
    """
    versions, times = commits.column("version"), commits.column("timestamp_ms")
    cutoff_ms = commits.vacuum_cutoff_ms(retention_ms or 0)
    is_kept = times >= (-1 if cutoff_ms is None else cutoff_ms)
    files = np.where(is_kept, commits.column("num_removed_files"), 0)
    sizes = np.where(is_kept, commits.column("removed_bytes"), 0)
    removing = np.flatnonzero(files > 0)
    num_removed, removed_bytes = np.cumsum(files), np.cumsum(sizes.astype(np.float64))
    points = [
        [
            int(versions[at]),
            int(times[at]),
            None if has_vectors else int(num_removed[at]),
            None if has_vectors else int(removed_bytes[at]),
        ]
        for at in _chosen(times, now_ms)
    ]
    return {
        "points": points,
        "oldest_removal_ms": int(times[removing[0]]) if len(removing) else None,
        "vacuum_cutoff_ms": cutoff_ms,
    }


def _chosen(times: Longs, now_ms: int) -> list[int]:
    """Choose the last commit of each recent day, and some of the older ones."""
    if not len(times):
        return []
    days = times // DAY_MS
    ends = np.flatnonzero(np.append(days[1:] != days[:-1], True))
    is_recent = days[ends] > now_ms // DAY_MS - DAYS_OF_HISTORY
    older, recent = ends[~is_recent], ends[is_recent]
    if len(older) > OLDER_POINTS:
        older = older[np.linspace(0, len(older) - 1, OLDER_POINTS).astype(np.int64)]
    first = [0] if ends[0] else []
    return [*first, *older.tolist(), *recent[-DAYS_OF_HISTORY:].tolist()]


def _writes(commits: NotedCommits) -> dict[str, Any]:
    """Return how the last commits that added or removed files followed each other."""
    changes = commits.column("num_added_files") + commits.column("num_removed_files")
    times = commits.column("timestamp_ms")[changes > 0][-LAST_WRITES:]
    gaps = np.diff(times)
    return {
        "num_writes": len(times),
        "first_ms": int(times[0]) if len(times) else None,
        "last_ms": int(times[-1]) if len(times) else None,
        "typical_gap_ms": int(np.median(gaps)) if len(gaps) else None,
        "longest_gap_ms": int(gaps.max()) if len(gaps) else None,
    }


# === Files ===


def _statistics(files: pa.Table, snapshot: Snapshot) -> dict[str, Any]:
    """Return the size of the statistics, and the files that have them by column."""
    columns = choose_columns(snapshot)
    known = columns.statistics or ()
    covered = [[".".join(path), _num_covered(files, path)] for path in known]
    return {
        "bytes": _text_bytes(files["stats"]),
        "path_bytes": _text_bytes(files["path"]),
        "num_without": files["stats"].null_count,
        "columns": covered,
        "is_whole": _is_whole(snapshot, len(known)),
    }


def _is_whole(snapshot: Snapshot, num_columns: int) -> bool:
    """Return whether writers keep statistics for these columns and no others."""
    configuration = snapshot.metadata.configuration
    if STATISTICS_COLUMNS in configuration:
        return False
    limit = _count(configuration.get(INDEXED_COLUMNS, str(MAX_INDEXED_COLUMNS)))
    # The index has no more columns than this; what writers keep of others is unknown.
    return limit is not None and num_columns == limit <= MAX_INDEXED_COLUMNS


def _num_covered(files: pa.Table, path: Sequence[str]) -> int:
    """Count the files with a bound, or a count of nulls, of a column."""
    found = [_leaf(files[name], path) for name in ("min", "null_count")]
    return max(
        (len(leaf) - leaf.null_count for leaf in found if leaf is not None), default=0
    )


def _leaf(column: pa.ChunkedArray, path: Iterable[str]) -> pa.ChunkedArray | None:
    for name in path:
        kind = column.type
        if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
            return None
        column = pc.struct_field(column, [kind.get_field_index(name)])
    return column


def _text_bytes(texts: pa.ChunkedArray) -> int:
    return int(pc.sum(pc.binary_length(texts)).as_py() or 0)


def _vectors(files: pa.Table, newest: NewestFiles) -> dict[str, Any]:
    """Return the files with deletion vectors: their number, bytes and rows."""
    if not newest.num_vectors:
        return {"num_files": 0, "size_bytes": 0, "rows": 0, "deleted_rows": 0}
    counted = files.select(["size", "num_records", VECTOR])
    with_vector = counted.filter(pc.is_valid(files[VECTOR]))
    deleted = deleted_records(with_vector[VECTOR])
    rows = with_vector["num_records"]
    return {
        "num_files": newest.num_vectors,
        "size_bytes": int(pc.sum(with_vector["size"]).as_py() or 0),
        "rows": None if rows.null_count else int(pc.sum(rows).as_py()),
        "deleted_rows": None if deleted.null_count else int(pc.sum(deleted).as_py()),
    }


# === Metadata ===


def _identities(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return the identity columns that have counted; big numbers are texts."""
    try:
        columns = identity_columns(snapshot.schema)
    except SchemaError:
        return []
    return [
        {
            "name": column.name,
            "start": str(column.start),
            "step": str(column.step),
            "mark": str(column.mark),
        }
        for column in columns
        if column.mark is not None
    ]


def _duration(read: Any, configuration: Mapping[str, str]) -> int | None:  # noqa: ANN401
    try:
        found: int = read(configuration)
    except PropertyError:
        return None
    return found


def _count(text: str | None) -> int | None:
    is_count = text is not None and text.isascii() and text.isdigit()
    return int(text or 0) if is_count and len(text or "") < len(str(1 << 30)) else None
