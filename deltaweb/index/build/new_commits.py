"""The commits after an index: read once, and reconciled with its files."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.features.column_mapping import has_mapped_columns, mapping_mode
from deltaweb.delta.features.in_commit_timestamps import own_times
from deltaweb.delta.log.blocks import SelectedBlock
from deltaweb.delta.log.commits.arrow_reader import CommitData
from deltaweb.delta.log.commits.batch import read_commit_batches
from deltaweb.delta.log.commits.info import own_time_ms, read_commit_info
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.commits.tail import TailCommits, read_tail
from deltaweb.delta.log.commits.times import RunningTimes
from deltaweb.delta.log.file_actions import VECTOR, vector_ids
from deltaweb.delta.log.replay import TailLayer, apply_layer, run_in_threads
from deltaweb.delta.log.store import FileStatus, LogStore
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.values.statistics.record_counts import live_records
from deltaweb.index.build.base_index import CannotUpdateError, VerifiedIndex
from deltaweb.index.build.log_since import LogSince, new_version
from deltaweb.index.files.source import COMMIT_HEAD_BYTES
from deltaweb.index.history.commit_files import starting_files
from deltaweb.index.history.commit_part import CommitChange, CommitPart, commit_part
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.lifetimes import (
    FileActions,
    Lifetimes,
    Totals,
    UntouchedFiles,
    concat_actions,
)
from deltaweb.index.history.reader import MAX_FILE_ACTIONS, Progress
from deltaweb.index.query.indexed_block import indexed_block

CHUNK_BYTES: Final = 32 << 20


@dataclass(slots=True, eq=False)
class NewCommits:
    """What the commits after an index come to.

    Attributes:
        old_blocks: The files of the index, block by block, without those that the
            commits speak of.
        digest: SHA-256 of the beginning of the last one; the index's own without any.
    """

    base: VerifiedIndex
    history: History
    protocol: Protocol
    metadata: Metadata
    old_blocks: list[SelectedBlock]
    new_blocks: tuple[SelectedBlock, ...] = ()
    num_tombstones: int = 0
    digest: str = ""
    committed_at_ms: int = 0
    _actions: list[FileActions] = field(default_factory=list)

    @property
    def has_file_changes(self) -> bool:
        masks = [block.mask for block in self.old_blocks]
        return bool(self.new_blocks) or any(mask is not None for mask in masks)

    def totals(self) -> Totals:
        """What holds after each version from the index's own on."""
        base, last = self.base.version, self.history.versions[-1]
        replaced = [_replaced_files(block, base - 1) for block in self.old_blocks]
        lifetimes = Lifetimes(
            concat_actions([*replaced, *self._actions]), first=base, last=last
        )
        return lifetimes.totals(_untouched_files(self.old_blocks))

    def take(self, part: CommitPart) -> None:
        """Take what commits say, which follow those that were taken before."""
        _check_part(self.base, part)
        self.history.take(part)
        _check_history(self.history)
        if part.file_actions is not None:
            self._actions.append(part.file_actions)
        if sum(len(held.versions) for held in self._actions) > MAX_FILE_ACTIONS:
            reason = f"more than {MAX_FILE_ACTIONS:,} file actions are new"
            raise CannotUpdateError(reason)

    def reconcile(self, store: LogStore, commits: list[CommitData]) -> None:
        """Reconcile the file actions of commits that were taken."""
        tail = read_tail(
            TailCommits(store, (), held=commits),
            protocol=self.protocol,
            metadata=self.metadata,
            holds_statistics=True,
        )
        self.digest = sha256(commits[-1].data[:COMMIT_HEAD_BYTES]).hexdigest()
        self.protocol = tail.protocol or self.protocol
        self.metadata = tail.metadata or self.metadata
        self._apply(tail.layer)

    def _apply(self, layer: TailLayer) -> None:
        self.num_tombstones += layer.tombstones.num_rows
        self.new_blocks = apply_layer(self.new_blocks, layer)
        if len(layer.keys):
            self.old_blocks = run_in_threads(
                lambda block: block.without(layer.keys),
                self.old_blocks,
                num_rows=self.base.source.num_files,
            )


def read_new_commits(
    store: LogStore, base: VerifiedIndex, since: LogSince, report: Progress
) -> NewCommits:
    """Read the commits after an index, each of them once."""
    source = base.source
    history = History(root=store.root)
    history.start_at(base.version, source.protocol, source.metadata)
    new = NewCommits(
        base,
        history,
        source.protocol,
        source.metadata,
        [SelectedBlock(block) for block in base.blocks],
        digest=source.commit_digest,
    )
    times = _times(store, base, since.commits)
    versions = [*map(new_version, since.commits)]
    held: list[CommitData] = []
    held_bytes = 0
    with closing(read_commit_batches(store, versions)) as batches:
        for batch in batches:
            done = len(history.versions)
            report("Reading new commits", done, len(versions), "commits")
            new.take(commit_part(batch).at_times(times))
            held += batch.commits
            held_bytes += sum(len(commit.data) for commit in batch.commits)
            if held_bytes >= CHUNK_BYTES:  # each look at all files costs their number
                new.reconcile(store, held)
                held, held_bytes = [], 0
    if held:
        new.reconcile(store, held)
    new.committed_at_ms = times.finish(base.version + len(versions))
    return new


def _times(
    store: LogStore, base: VerifiedIndex, commits: Sequence[FileStatus]
) -> RunningTimes:
    listed = {new_version(commit): commit.modification_time for commit in commits}
    last_ms: int = base.last_commits["timestamp_ms"][-1].as_py()
    own = own_times(base.source.protocol, base.source.metadata)
    if own is not None:
        carried = own_time_ms(read_commit_info(store, base.version))
        if carried not in {None, last_ms}:
            reason = "it has the times of files, and the commits carry theirs"
            raise CannotUpdateError(reason)
    return RunningTimes(listed, {}, last_ms, own)


# === What cannot be added ===


def _check_part(base: VerifiedIndex, part: CommitPart) -> None:
    """Check that commits leave the files of the index what they are."""
    versions = part.versions
    if part.file_actions is None:
        reason = f"commit {versions[0]} cannot be read"
        raise CannotUpdateError(reason)
    for change in part.changes:
        if not _is_same_table(base, change):
            reason = f"commit {versions[change.row]} makes it another table"
            raise CannotUpdateError(reason)


def _is_same_table(base: VerifiedIndex, change: CommitChange) -> bool:
    old_protocol, old = base.source.protocol, base.source.metadata
    new, protocol = change.metadata or old, change.protocol or old_protocol
    return (
        new.id == old.id
        and new.format == old.format
        and new.partition_columns == old.partition_columns
        and mapping_mode(new.configuration) == mapping_mode(old.configuration)
        and has_mapped_columns(protocol, new) == has_mapped_columns(old_protocol, old)
        and partition_keys(protocol, new) == partition_keys(old_protocol, old)
        and own_times(protocol, new) == own_times(old_protocol, old)
    )


def _check_history(history: History) -> None:
    """Check that commits change nothing of what older versions are."""
    if any(refusal is not None for refusal in history.refusals):
        reason = "new versions require a newer reader"
        raise CannotUpdateError(reason)
    if history.vacuums:
        reason = "a VACUUM deleted files of older versions"
        raise CannotUpdateError(reason)


# === Files ===


def _replaced_files(selected: SelectedBlock, version: int) -> FileActions:
    """Return the files of a block that new commits speak of, as if added before."""
    rows = indexed_block(selected).rows
    if selected.mask is None:
        rows = rows.slice(0, 0)
    else:
        rows = rows.filter(pc.invert(selected.mask))
    files = pa.table(
        {
            "path": rows["path"],
            "size": rows["size"],
            "dv_id": vector_ids(rows[VECTOR]),
            VECTOR: rows[VECTOR],
        }
    )
    return starting_files(files, pa.chunked_array([rows["num_records"]]), version)


def _untouched_files(blocks: Sequence[SelectedBlock]) -> UntouchedFiles:
    """Add up the files that new commits do not speak of."""
    total = UntouchedFiles()
    for selected in blocks:
        rows = indexed_block(selected).rows
        sizes = rows["size"]
        records = live_records(rows["num_records"], rows[VECTOR])
        if selected.mask is not None:
            sizes, records = sizes.filter(selected.mask), records.filter(selected.mask)
        total = total.plus(
            np.asarray(pc.fill_null(sizes, 0)), np.asarray(pc.fill_null(records, -1))
        )
    return total
