"""What a log segment says, read and reconciled: the state behind a `Snapshot`.

Reading a version is `load_state`; going from one version to a later one is
`advance_state`, which reads only the commits between them.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, ParamSpec, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError, LogFileGoneError
from deltaweb.delta.log.blocks import SelectedBlock
from deltaweb.delta.log.checkpoints.attempts import of_checkpoint, try_segments
from deltaweb.delta.log.checkpoints.reader import CheckpointReader
from deltaweb.delta.log.commits.tail import TailCommits, read_tail
from deltaweb.delta.log.compactions import check_totals
from deltaweb.delta.log.file_actions import TOMBSTONES_SCHEMA
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.replay import (
    TailLayer,
    apply_layer,
    concat_tombstones,
    in_force,
)
from deltaweb.delta.log.segment import Checkpoint, LogSegment, read_hint_version
from deltaweb.delta.log.store import FileStatus, LogStore
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.snapshot.kept import is_unchanged, kept
from deltaweb.delta.snapshot.lost_files import LostFiles

P = ParamSpec("P")
R = TypeVar("R")

MAX_LAYERS: Final = 64  # that a state stacks before the log is read afresh
MAX_COMMITS: Final = 16  # to read one by one; more are read together
MANY_FILES: Final = 250_000
WORTH_A_THREAD_BYTES: Final = 256 << 10


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotState:
    """The state of a table at one version; parts are shared between versions.

    Attributes:
        commit_status: Size and time of the version's commit file; None without one.
        lost: Finds statistics whose log files are gone; None where none can be.
    """

    version: int
    protocol: Protocol
    metadata: Metadata
    blocks: tuple[SelectedBlock, ...]
    layers: tuple[TailLayer, ...]
    checkpoint: CheckpointReader | None
    new_transactions: dict[str, SetTransaction]
    commit_status: FileStatus | None
    lost: "LostFiles[SnapshotState] | None" = None

    @property
    def definition(self) -> "Definition":
        """What holds at the version beside its files."""
        return Definition(self.version, self.protocol, self.metadata)

    def tombstones(self) -> pa.Table:
        """Read the checkpoint's tombstones and bring them up to the version."""
        older = TOMBSTONES_SCHEMA.empty_table()
        if self.checkpoint is not None:
            try:
                older = self.checkpoint.tombstones()
            except LogFileGoneError as fault:
                return self._again(fault).tombstones()
        return concat_tombstones(older, self.layers)

    def transactions(self) -> dict[str, SetTransaction]:
        """Read the checkpoint's transactions and bring them up to the version."""
        older: dict[str, SetTransaction] = {}
        if self.checkpoint is not None:
            try:
                older = self.checkpoint.transactions()
            except LogFileGoneError as fault:
                return self._again(fault).transactions()
        return {**older, **self.new_transactions}

    def _again(self, fault: LogFileGoneError) -> "SnapshotState":
        if self.lost is None:
            raise fault
        return self.lost.state_again(self.version, fault)


@dataclass(frozen=True, slots=True)
class Definition:
    """What holds at a version beside its files."""

    version: int
    protocol: Protocol
    metadata: Metadata


def load_state(store: LogStore, version: int | None) -> SnapshotState:
    """Read the log of a version, the newest one for None.

    A checkpoint that does not read is skipped for an older one, and a compaction
    that does not, or that its checksum file contradicts, for the commits.

    Raises:
        TableNotFoundError: If there is no log.
        VersionNotFoundError: If the log does not reach `version`.
        LogGapError: If a commit is missing.
        LogCorruptError: If a commit does not read, or no way around a broken
            checkpoint is left.
        MissingActionError: If there is no protocol or no metaData.
    """
    state = _from_kept(store, version)
    return kept.keep(store, load_afresh(store, version)) if state is None else state


def _from_kept(store: LogStore, version: int | None) -> SnapshotState | None:
    """Return a version by what this process keeps of the log; None without that."""
    if version is not None:
        found: SnapshotState | None = kept.find(store, version)
        if found is not None:
            return found
    older: SnapshotState | None = kept.nearest(store, version)
    if older is None:
        return None
    try:
        newer = newer_state(store, older, version)
    except (DeltaError, FileNotFoundError):  # the log says how it is to be read
        return None
    return newer if newer is None or newer is older else kept.keep(store, newer)


def load_afresh(store: LogStore, version: int | None) -> SnapshotState:
    """Read the log as `load_state` does, by nothing that this process keeps of it."""
    state = _guarded(store, try_segments(store, version, partial(_read_segment, store)))
    if sum(block.num_files for block in state.blocks) > MANY_FILES:
        pa.default_memory_pool().release_unused()  # what reading alone has used
    return state


def _guarded(store: LogStore, state: SnapshotState) -> SnapshotState:
    """Return a state whose statistics are found after a clean-up of the log."""
    lost = LostFiles(partial(load_afresh, store), state.version)
    blocks = [replace(one, block=lost.guarded(one.block)) for one in state.blocks]
    return replace(state, blocks=tuple(blocks), lost=lost)


def load_definition(store: LogStore, version: int | None = None) -> Definition:
    """Read what holds at a version, the newest one for None, without its files.

    Raises:
        DeltaError: As `load_state` does.
    """
    attempt = partial(_read_definition, store)
    # Nothing could hold what a compaction says of it against the files that there are.
    return try_segments(store, version, attempt, by_compactions=False)


def newer_state(
    store: LogStore, state: SnapshotState, version: int | None = None
) -> SnapshotState | None:
    """Go on from a state to a later version, by the commits in between alone.

    They are probed by name, without a listing.

    Returns:
        Its state, the same where no commit follows; None where the log is to be read
        afresh: it is another one, went on behind a checkpoint, or is being cleaned up.

    Raises:
        DeltaError: If a commit does not read.
    """
    if len(state.layers) >= MAX_LAYERS or not is_unchanged(store, state):
        return None
    if state.lost is not None and state.lost.is_needed:
        return None
    if version is not None:
        if not 0 < version - state.version <= MAX_COMMITS:
            return None
        versions: Sequence[int] = range(state.version + 1, version + 1)
    else:
        versions = commits_after(store, state.version)
    if versions:
        try:
            return advance_state(store, state, versions)
        except LogFileGoneError:
            return None
    hint = read_hint_version(store)
    return None if hint is not None and hint > state.version else state


def advance_state(
    store: LogStore, state: SnapshotState, versions: Sequence[int]
) -> SnapshotState:
    """Apply the commits right after a state to it."""
    names = [commit_name(version) for version in versions]
    commits = TailCommits(store, names)
    tail = read_tail(commits, protocol=state.protocol, metadata=state.metadata)
    lost = state.lost or LostFiles(partial(load_afresh, store), versions[-1])
    lost.version = max(lost.version, versions[-1])
    layer = tail.layer
    if layer.block is not None:
        layer = replace(layer, block=lost.guarded(layer.block))
    return replace(
        state,
        version=versions[-1],
        protocol=tail.protocol or state.protocol,
        metadata=tail.metadata or state.metadata,
        blocks=apply_layer(state.blocks, layer),
        layers=(*state.layers, layer),
        new_transactions={**state.new_transactions, **tail.transactions},
        commit_status=commit_status(store, versions[-1]),
        lost=lost,
    )


def _read_segment(store: LogStore, segment: LogSegment) -> SnapshotState:
    state = (
        _read_commits_alone(store, segment)
        if segment.checkpoint is None
        else _read_from_checkpoint(store, segment, segment.checkpoint)
    )
    if segment.compactions:
        check_totals(
            store,
            segment.version,
            num_files=sum(block.num_files for block in state.blocks),
            size_bytes=sum(map(_live_bytes, state.blocks)),
        )
    return state


def _live_bytes(block: SelectedBlock) -> int:
    sizes = block.block.files["size"]
    live = sizes if block.mask is None else sizes.filter(block.mask)
    return int(pc.sum(live).as_py() or 0)


def _read_from_checkpoint(
    store: LogStore, segment: LogSegment, checkpoint: Checkpoint
) -> SnapshotState:
    commits = TailCommits(store, segment.replayed_names)
    with _executor(commits) as pool:
        with of_checkpoint(checkpoint):
            reader = CheckpointReader(store, checkpoint)
            protocol, metadata = reader.protocol_and_metadata()
        reading = pool.submit(
            read_tail,
            commits,
            protocol=protocol,
            metadata=metadata,
            holds_statistics=bool(segment.compactions),
        )
        with of_checkpoint(checkpoint):
            blocks = reader.blocks()
    tail = reading.result()
    return SnapshotState(
        version=segment.version,
        protocol=tail.protocol or protocol,
        metadata=tail.metadata or metadata,
        blocks=apply_layer([SelectedBlock(block) for block in blocks], tail.layer),
        layers=(tail.layer,),
        checkpoint=reader,
        new_transactions=dict(tail.transactions),
        commit_status=commit_status(store, segment.version),
    )


def _read_definition(store: LogStore, segment: LogSegment) -> Definition:
    if segment.checkpoint is None:
        state = _read_commits_alone(store, segment)
        return Definition(state.version, state.protocol, state.metadata)
    with of_checkpoint(segment.checkpoint):
        reader = CheckpointReader(store, segment.checkpoint)
        protocol, metadata = reader.protocol_and_metadata(reads_ahead=False)
    commits = TailCommits(store, segment.commit_names)
    tail = read_tail(commits, protocol=protocol, metadata=metadata)
    return Definition(
        segment.version, tail.protocol or protocol, tail.metadata or metadata
    )


def _executor(commits: TailCommits) -> Executor:
    """Return what reads the commits while the checkpoint is read.

    Many of them are parsed already, in a thread of their own; a fault of that shows
    when they are read. A few are not worth a thread.
    """
    if commits.first_bytes < WORTH_A_THREAD_BYTES:
        return _InTurn()
    pool = ThreadPoolExecutor(1)
    pool.submit(commits.parse_ahead)
    return pool


class _InTurn(Executor):
    """Calls a function when it is submitted."""

    def submit(
        self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[R]:
        future: Future[R] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def _read_commits_alone(store: LogStore, segment: LogSegment) -> SnapshotState:
    commits = TailCommits(store, segment.replayed_names)
    # A compaction may be gone when its statistics are asked for: nobody waits for it.
    tail = read_tail(commits, holds_statistics=bool(segment.compactions))
    protocol, metadata = in_force(
        tail.protocol, tail.metadata, root=store.root, version=segment.version
    )
    return SnapshotState(
        version=segment.version,
        protocol=protocol,
        metadata=metadata,
        blocks=apply_layer((), tail.layer),
        layers=(tail.layer,),
        checkpoint=None,
        new_transactions=dict(tail.transactions),
        commit_status=commit_status(store, segment.version),
    )


def commit_status(store: LogStore, version: int) -> FileStatus | None:
    """Return size and time of a version's commit; None where it is gone."""
    try:
        return store.status(commit_name(version))
    except FileNotFoundError:
        return None


def commits_after(store: LogStore, version: int) -> list[int]:
    """Return the versions right after one that have a commit, probed by name."""
    versions: list[int] = []
    while commit_status(store, version + len(versions) + 1) is not None:
        versions.append(version + len(versions) + 1)
    return versions
