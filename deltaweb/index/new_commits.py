"""The commits after an index: read once, and reconciled with its files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.actions import Metadata, Protocol
from deltaweb.delta.commit_batch import read_commit_batches
from deltaweb.delta.commit_file import TailCommits, read_tail
from deltaweb.delta.commit_times import RunningTimes
from deltaweb.delta.log_store import FileStatus, LogStore
from deltaweb.delta.partition_keys import partition_keys
from deltaweb.delta.replay import (
    SelectedBlock,
    TailLayer,
    apply_layer,
    run_in_threads,
)
from deltaweb.delta.table_features import mapping_mode
from deltaweb.index.base_index import CannotGoOnError, WholeBase
from deltaweb.index.file_index import COMMITS
from deltaweb.index.history.commit_files import starting_files
from deltaweb.index.history.commit_part import CommitChange, CommitPart, commit_part
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.lifetimes import (
    FileActions,
    Lifetimes,
    StandingFiles,
    Totals,
    concat_actions,
)
from deltaweb.index.history.run_actions import MAX_FILE_ACTIONS
from deltaweb.index.history_reader import Progress
from deltaweb.index.index_source import COMMIT_HEAD_BYTES
from deltaweb.index.log_since import LogSince, new_version
from deltaweb.index.shared.indexed_block import indexed_block
from deltaweb.storage.memory import MemoryTableStore

CHUNK_BYTES: Final = 32 << 20
CHUNK_COMMITS: Final = 4096


@dataclass(slots=True, eq=False)
class NewCommits:
    """What the commits after an index come to.

    Attributes:
        base: The index.
        history: What they say.
        protocol: The protocol in force after them.
        metadata: The metaData in force after them.
        old_blocks: The files of the index, block by block, without those that the
            commits speak of.
        new_blocks: The files that they add.
        num_tombstones: How many files they remove.
        digest: SHA-256 of the beginning of the last one; the index's own without any.
    """

    base: WholeBase
    history: History
    protocol: Protocol
    metadata: Metadata
    old_blocks: list[SelectedBlock]
    new_blocks: tuple[SelectedBlock, ...] = ()
    num_tombstones: int = 0
    digest: str = ""
    _actions: list[FileActions] = field(default_factory=list)

    @property
    def has_file_changes(self) -> bool:
        """Whether the files are not those of the index."""
        masks = [block.mask for block in self.old_blocks]
        return bool(self.new_blocks) or any(mask is not None for mask in masks)

    def totals(self) -> Totals:
        """What holds after each version from the index's own on."""
        base, last = self.base.version, self.history.versions[-1]
        spoken = [_spoken_of(block, base - 1) for block in self.old_blocks]
        lifetimes = Lifetimes(
            concat_actions([*spoken, *self._actions]), first=base, last=last
        )
        return lifetimes.totals(_standing(self.old_blocks))

    def take(self, part: CommitPart) -> None:
        """Take what commits say, which follow those that were taken before.

        Raises:
            CannotGoOnError: If they change more than an index can be brought up to.
        """
        _check_part(self.base, part)
        self.history.take(part)
        _check_history(self.history)
        if part.file_actions is not None:
            self._actions.append(part.file_actions)
        if sum(len(held.versions) for held in self._actions) > MAX_FILE_ACTIONS:
            reason = f"more than {MAX_FILE_ACTIONS:,} file actions are new"
            raise CannotGoOnError(reason)

    def reconcile(self, store: LogStore) -> None:
        """Reconcile the file actions of the commits of a store.

        Raises:
            CannotGoOnError: If files have deletion vectors.
            LogCorruptError: If a commit does not read.
        """
        names = store.list_names_from("")
        tail = read_tail(
            TailCommits(store, names),
            protocol=self.protocol,
            metadata=self.metadata,
            holds_statistics=True,
        )
        self.protocol = tail.protocol or self.protocol
        self.metadata = tail.metadata or self.metadata
        self._apply(tail.layer)

    def _apply(self, layer: TailLayer) -> None:
        if layer.block is not None:
            vectors = layer.block.files["dv_id"]
            if vectors.null_count < len(vectors):
                reason = "new files have deletion vectors"
                raise CannotGoOnError(reason)
        self.num_tombstones += layer.tombstones.num_rows
        self.new_blocks = apply_layer(self.new_blocks, layer)
        if len(layer.keys):
            self.old_blocks = run_in_threads(
                lambda block: block.without(layer.keys),
                self.old_blocks,
                num_rows=self.base.source.num_files,
            )


def read_new_commits(
    store: LogStore, base: WholeBase, since: LogSince, report: Progress
) -> NewCommits:
    """Read the commits after an index, each of them once.

    Raises:
        CannotGoOnError: If what they say cannot be added to the index.
        LogCorruptError: If one does not read.
        FileNotFoundError: If one went away.
    """
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
    times = _times(base, since.commits)
    done = 0
    for chunk in _chunks(since.commits):
        report("Reading new commits", done, len(since.commits), "commits")
        held = _hold(store, chunk)
        for batch in read_commit_batches(held, [*map(new_version, chunk)]):
            new.take(commit_part(batch).at_times(times))
        new.reconcile(held)
        head = held.read_head(chunk[-1].name, COMMIT_HEAD_BYTES)
        new.digest = sha256(head).hexdigest()
        done += len(chunk)
    return new


def _hold(store: LogStore, commits: Sequence[FileStatus]) -> MemoryTableStore:
    """Read commits into memory: several readers each want all of them."""
    held = MemoryTableStore(store.root)
    names = [commit.name for commit in commits]
    for name, file in zip(names, store.read_many(names), strict=True):
        held.log_files[name] = file.data
    return held


def _chunks(commits: Sequence[FileStatus]) -> Iterator[list[FileStatus]]:
    chunk: list[FileStatus] = []
    size = 0
    for commit in commits:
        is_full = size + commit.size > CHUNK_BYTES or len(chunk) >= CHUNK_COMMITS
        if chunk and is_full:
            yield chunk
            chunk, size = [], 0
        chunk.append(commit)
        size += commit.size
    if chunk:
        yield chunk


def _times(base: WholeBase, commits: Sequence[FileStatus]) -> RunningTimes:
    """Return the times of new commits, after those of the index."""
    listed = {new_version(commit): commit.modification_time for commit in commits}
    last_ms: int = base.rows[COMMITS][-1]["timestamp_ms"][-1].as_py()
    return RunningTimes(listed, {}, last_ms)


# === What cannot be added ===


def _check_part(base: WholeBase, part: CommitPart) -> None:
    """Check that commits leave the files of the index what they are.

    Raises:
        CannotGoOnError: If they do not.
    """
    versions = part.versions
    if part.file_actions is None:
        reason = f"commit {versions[0]} does not read"
        raise CannotGoOnError(reason)
    for change in part.changes:
        if not _is_same_table(base, change):
            reason = f"commit {versions[change.row]} makes it another table"
            raise CannotGoOnError(reason)


def _is_same_table(base: WholeBase, change: CommitChange) -> bool:
    old_protocol, old = base.source.protocol, base.source.metadata
    new, protocol = change.metadata or old, change.protocol or old_protocol
    return (
        new.id == old.id
        and new.format == old.format
        and new.partition_columns == old.partition_columns
        and mapping_mode(new.configuration) == mapping_mode(old.configuration)
        and partition_keys(protocol, new) == partition_keys(old_protocol, old)
    )


def _check_history(history: History) -> None:
    """Check that commits change nothing of what older versions are.

    Raises:
        CannotGoOnError: If they do.
    """
    if any(refusal is not None for refusal in history.refusals):
        reason = "new versions ask for a reader that this one is not"
        raise CannotGoOnError(reason)
    if history.vacuums:
        reason = "a VACUUM deleted files of older versions"
        raise CannotGoOnError(reason)


# === Files ===


def _spoken_of(selected: SelectedBlock, version: int) -> FileActions:
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
            "dv_id": pa.nulls(rows.num_rows, pa.string()),
        }
    )
    return starting_files(files, pa.chunked_array([rows["num_records"]]), version)


def _standing(blocks: Sequence[SelectedBlock]) -> StandingFiles:
    """Add up the files that new commits do not speak of."""
    total = StandingFiles()
    for selected in blocks:
        rows = indexed_block(selected).rows
        sizes, records = rows["size"], rows["num_records"]
        if selected.mask is not None:
            sizes, records = sizes.filter(selected.mask), records.filter(selected.mask)
        total = total.plus(
            np.asarray(pc.fill_null(sizes, 0)), np.asarray(pc.fill_null(records, -1))
        )
    return total
