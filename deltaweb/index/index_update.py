"""From an index to the next one: the commits that came since, and nothing else.

    base_index      the index that is gone on from, whole or not
    log_since       what the log holds since: one listing, and two looks
    new_commits     the new commits, each read once
    updated_files   the files, streamed from the old index into the new one

An index made so is the one that the whole log would give. It is not gone on from, and
the log is read from the start, where

- the index is not whole, not what was written or of another form, is of a version
  that may not be read or has a schema that does not parse, of files with deletion
  vectors (it does not hold these), or of a log with holes or commits that do not
  read;
- the commit that it is of is gone or another one, the log ends before it, or does
  not follow it commit by commit: a table made anew, a backup put back, a long
  absence, a copy whose files have other times;
- a new commit does not read, adds files with deletion vectors, asks for a reader
  that this one is not, or sets another metaData.id, format, partitioning or mapping of
  columns: what the log says of older files then reads in another way;
- a new commit is a VACUUM: which older versions lack files, only the lives of all
  files tell;
- the new commits are more bytes than this process is to read, or more file actions
  than it is to hold.

Other changes of schema, properties and protocol are gone on from: typed columns are
made anew from the statistics as text. A log that was cleaned is, too: its older
versions are gone, and what is known of their commits is kept. The number of
tombstones is what it was and what came, so it may be more than the log holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log_store import LogStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot_state import SnapshotState
from deltaweb.index.base_index import (
    CannotGoOnError,
    WholeBase,
    mark_gone,
    open_whole_base,
)
from deltaweb.index.file_index import (
    COMMIT_SCHEMA,
    COMMITS,
    METADATA,
    METADATA_SCHEMA,
    PROTOCOL_SCHEMA,
    PROTOCOLS,
    bounded_batches,
    write_batches,
    write_summary,
    written_beside,
)
from deltaweb.index.file_rows import NewestFiles
from deltaweb.index.history.commit_rows import ROWS_A_BATCH
from deltaweb.index.history.lifetimes import Totals
from deltaweb.index.history.readability import (
    READABLE,
    Readability,
    ReadableRun,
    extended_runs,
)
from deltaweb.index.history.version_totals import (
    VersionTotals,
    completed_commits,
    with_totals,
)
from deltaweb.index.history_reader import Progress
from deltaweb.index.index_result import IndexResult
from deltaweb.index.index_source import write_source
from deltaweb.index.log_since import LogSince, read_log_since
from deltaweb.index.new_commits import NewCommits, read_new_commits
from deltaweb.index.newest_result import newest_result
from deltaweb.index.summary import Story, files_summary, table_summary
from deltaweb.index.updated_files import write_updated_files
from deltaweb.table import DeltaTable


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """An index to make from another one.

    Attributes:
        base: The folder of the index to go on from.
        folder: The folder to make.
        report: Called with the step, what is done of it, of how much, and the unit.
        now_ms: The time that the days of `commits_30d` end at.
        max_bytes: The most bytes of new commits to read; None for any.
    """

    base: Path
    folder: Path
    report: Progress
    now_ms: int
    max_bytes: int | None = None


def update_index(table: DeltaTable, request: UpdateRequest) -> IndexResult:
    """Make the index of a table's newest version from an older one.

    Raises:
        CannotGoOnError: If the log must be read from the start.
        DeltaError: If storage does not answer, or a new commit does not read.
        OSError: If the base is being removed, or the folder cannot be written.
    """
    request.report("Looking for new commits", 0, None, "")
    base = open_whole_base(request.base)
    since = read_log_since(table.store, base)
    if request.max_bytes is not None and since.size_bytes > request.max_bytes:
        reason = f"{since.size_bytes:,} bytes of commits are new"
        raise CannotGoOnError(reason)
    new = read_new_commits(table.store, base, since, request.report)
    snapshot = Snapshot(table.store, _state(table.store, new, since))
    with written_beside(request.folder) as beside:
        newest = write_updated_files(beside, snapshot, new, request.report)
        write_source(beside, snapshot, new.digest, newest)
        request.report("Writing the index", 0, None, "")
        _write_history(beside, new, since, newest)
        story = _story(new, since)
        files = files_summary(newest, snapshot.metadata.partition_columns)
        summary = table_summary(snapshot.metadata, files, story, request.now_ms)
        result = newest_result(
            request.folder, snapshot, newest, summary, int(story.timestamps_ms[-1])
        )
        result = replace(
            result, first_commit=since.first_commit, commit_digest=new.digest
        )
        write_summary(beside, result.to_json())
    return result


def _state(store: LogStore, new: NewCommits, since: LogSince) -> SnapshotState:
    base = new.base
    live = [block for block in new.old_blocks if block.num_files]
    commit = base.source.commit_status
    if since.commits:  # as whoever goes on from the index will look at it
        commit = store.status(since.commits[-1].name)
    return SnapshotState(
        version=base.version + len(since.commits),
        protocol=new.protocol,
        metadata=new.metadata,
        blocks=(*live, *new.new_blocks),
        layers=(),
        checkpoint=None,
        new_transactions={},
        commit_status=commit,
    )


def _story(new: NewCommits, since: LogSince) -> Story:
    base, history = new.base, new.history
    old = [batch["timestamp_ms"].to_numpy() for batch in base.rows[COMMITS]]
    new_times = np.array(history.timestamps_ms, dtype=np.int64)
    return Story(
        runs=_runs(base, since),
        events=[*base.result.summary["events"], *history.events],
        timestamps_ms=np.concatenate([*old, new_times]),
    )


def _runs(base: WholeBase, since: LogSince) -> list[ReadableRun]:
    """Which versions can be read: as before, but for what is lost and what is new."""
    latest = base.version + len(since.commits)
    return extended_runs(base.runs, first=since.first_version, latest=latest)


# === History ===


def _write_history(
    folder: Path, new: NewCommits, since: LogSince, newest: NewestFiles
) -> None:
    base, history = new.base, new.history
    commits = (pa.Table.from_batches([batch]) for batch in _commits(new, since, newest))
    batches = bounded_batches(commits, ROWS_A_BATCH)
    write_batches(folder, COMMITS, COMMIT_SCHEMA, batches)
    changes = {
        METADATA: (METADATA_SCHEMA, history.metadata_batch()),
        PROTOCOLS: (PROTOCOL_SCHEMA, history.protocol_batch()),
    }
    for name, (schema, rows) in changes.items():
        newer = rows.filter(pc.greater(rows["version"], base.version))
        added = [newer] if newer.num_rows else []
        write_batches(folder, name, schema, [*base.rows[name], *added])


def _commits(
    new: NewCommits, since: LogSince, newest: NewestFiles
) -> Iterator[pa.RecordBatch]:
    """Yield the commits of the index, then those that are new."""
    totals = new.totals() if since.commits else None
    *older, last = new.base.rows[COMMITS]
    if totals is not None:
        last = with_totals(last, totals)
    for batch in (*older, last):
        yield mark_gone(batch, since.first_version)
    if totals is not None:
        yield from _new_commits(new, totals, newest)


def _new_commits(
    new: NewCommits, totals: Totals, newest: NewestFiles
) -> Iterator[pa.RecordBatch]:
    versions = np.array(new.history.versions, dtype=np.int64)
    held = VersionTotals.unknown(new.history.versions)
    held.take(np.arange(len(versions)), versions - new.base.version, totals)
    held.num_missing_files[:] = 0  # a VACUUM among them is not gone on from
    held.set_newest(newest)
    states = [Readability(READABLE)] * len(versions)
    for start, batch in new.history.commit_batches():
        rows = slice(start, start + batch.num_rows)
        yield completed_commits(batch, rows, held, states)
