"""An incremental update: an index from the one before, by the commits that came since.

    base_index      the index before, whole or not
    log_since       what the log holds since: one listing, and two looks
    new_commits     the new commits, each read once
    updated_files   the files, streamed from the old index into the new one

An index made so is the one that the whole log would give. Checkpoints that came since
are not read: each is to hold the replay of the commits before it, so it says nothing
new. The log is read from the start instead where

- the index is not whole, not what was written or of another form, is of a version
  that may not be read or has a schema that does not parse, of files with deletion
  vectors (it does not hold these), or of a log with holes or commits that do not
  read;
- the commit that it is of is gone or another one, the log ends before it, or does
  not follow it commit by commit: a table recreated, a backup put back, a long
  absence, a copy whose files have other times;
- a new commit does not read, adds files with deletion vectors, asks for a reader
  that this one is not, or sets another metaData.id, format, partitioning, mapping of
  columns or keeper of times: what the log says of older files, or commits, then reads
  in another way;
- a new commit is a VACUUM: which older versions lack files, only the lives of all
  files show;
- the new commits are more bytes than this process is to read, or more file actions
  than it is to hold.

Other changes of schema, properties and protocol are taken: typed columns are made
again from the statistics as text. A log that was cleaned is, too: its older versions
are gone, and what is known of their commits is kept. The number of tombstones is what
it was and what came, so it may be more than the log holds.

Source: delta_protocol.md, "Checkpoints".
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.store import LogStore
from deltaweb.delta.log.versions import READABLE
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import SnapshotState
from deltaweb.index.build.base_index import (
    CannotUpdateError,
    VerifiedIndex,
    mark_gone,
    open_verified_index,
)
from deltaweb.index.build.finish import (
    BuildRequest,
    ReadLog,
    WrittenFiles,
    finish_index,
)
from deltaweb.index.build.health_facts import checkpoints_since
from deltaweb.index.build.log_since import LogSince, read_log_since
from deltaweb.index.build.new_commits import NewCommits, read_new_commits
from deltaweb.index.build.updated_files import write_updated_files
from deltaweb.index.files.file_rows import NewestFiles
from deltaweb.index.folder.file_index import (
    COMMITS,
    METADATA,
    PROTOCOLS,
    bounded_batches,
    written_beside,
)
from deltaweb.index.folder.parts import Piece, is_worth_keeping
from deltaweb.index.folder.result import IndexResult
from deltaweb.index.history.commit_rows import ROWS_A_BATCH
from deltaweb.index.history.readability import Readability, extended_runs
from deltaweb.index.history.version_totals import (
    VersionTotals,
    completed_commits,
    with_totals,
)


def update_index(request: BuildRequest, folder: Path) -> IndexResult:
    """Make the index of a table's newest version from an older one."""
    store = request.table.store
    request.report("Looking for new commits", 0, None, "")
    base = open_verified_index(folder)
    since = read_log_since(store, base)
    if request.max_bytes is not None and since.size_bytes > request.max_bytes:
        reason = f"{since.size_bytes:,} bytes of commits are new"
        raise CannotUpdateError(reason)
    new = read_new_commits(store, base, since, request.report)
    snapshot = Snapshot(store, _state(store, new, since))
    runs = extended_runs(base.runs, first=since.first_version, latest=snapshot.version)
    with written_beside(request.folder) as beside:
        newest = write_updated_files(beside, snapshot, new, request.report)
        log = ReadLog(
            snapshot=snapshot,
            files=WrittenFiles.of(newest, snapshot),
            rows={
                COMMITS: _commits(new, since, newest),
                METADATA: [*base.metadata, *_newer(base, new.history.metadata_batch())],
                PROTOCOLS: [
                    *base.protocols,
                    *_newer(base, new.history.protocol_batch()),
                ],
            },
            runs=runs,
            events=[*base.result.summary["events"], *new.history.events],
            committed_at_ms=new.committed_at_ms,
            commit_digest=new.digest,
            first_commit=since.first_commit,
            checkpoints=checkpoints_since(
                store,
                base.result.summary,
                since.checkpoints,
                version=base.version,
                first_version=since.first_version,
            ),
        )
        return finish_index(request, beside, log)


def _state(store: LogStore, new: NewCommits, since: LogSince) -> SnapshotState:
    base = new.base
    live = [block for block in new.old_blocks if block.num_files]
    commit = base.source.commit_status
    if since.commits:  # as the next incremental update will look at it
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


def _newer(base: VerifiedIndex, rows: pa.RecordBatch) -> list[pa.RecordBatch]:
    """Return the rows of metadata or protocols that are new, if there are."""
    newer = rows.filter(pc.greater(rows["version"], base.version))
    return [newer] if newer.num_rows else []


def _commits(new: NewCommits, since: LogSince, newest: NewestFiles) -> Iterator[Piece]:
    """Return the commits of the index, most of them as they stand, then new ones."""
    base = new.base
    is_cleaned = since.first_version > base.first_version
    if not (since.commits or is_cleaned):
        yield from base.commits
        return
    older, last = list(base.commits), base.commits[-1]
    again: list[pa.RecordBatch] = []
    if is_cleaned:
        again = [batch for part in older for batch in part.rows]
        for part in older:
            base.check_before_reading(part.path.name)
        older = []
    elif not is_worth_keeping(last.num_rows):
        again = [*last.rows]
        older.pop()
    else:  # of a version that two parts hold, the later one counts
        *most, end = last.rows
        again = [end.slice(len(end) - 1)]
        older[-1] = replace(last, rows=[*most, end.slice(0, len(end) - 1)])
    yield from older
    rows = (mark_gone(batch, since.first_version) for batch in again)
    tables = (
        pa.Table.from_batches([batch]) for batch in _followed(rows, new, since, newest)
    )
    yield from bounded_batches(tables, ROWS_A_BATCH)


def _followed(
    rows: Iterator[pa.RecordBatch],
    new: NewCommits,
    since: LogSince,
    newest: NewestFiles,
) -> Iterator[pa.RecordBatch]:
    """Yield commits of the index, then new ones with what holds after each."""
    *older, last = rows
    yield from older
    if not since.commits:
        yield last
        return
    totals = new.totals()
    yield with_totals(last, totals)
    versions = np.array(new.history.versions, dtype=np.int64)
    held = VersionTotals.unknown(new.history.versions)
    held.take(np.arange(len(versions)), versions - new.base.version, totals)
    held.num_missing_files[:] = 0  # a VACUUM among them allows no update
    held.set_newest(newest)
    states = [Readability(READABLE)] * len(versions)
    yield from completed_commits(new.history, held, states)
