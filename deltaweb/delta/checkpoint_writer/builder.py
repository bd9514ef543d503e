"""One checkpoint, from the files of the log to `_last_checkpoint`.

The order keeps every fault harmless: the version exists before anything is written;
the files are made beside their places and made durable before the first of them is
visible; the hint comes after the last of them.

Source: delta_protocol.md, "Requirements for Writers", "Checkpoints".
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from deltaweb.delta.checkpoint import CheckpointReader
from deltaweb.delta.checkpoint_part import READ_FAULTS
from deltaweb.delta.checkpoint_writer.checkpoint_schema import CheckpointLayout
from deltaweb.delta.checkpoint_writer.commit_source import (
    CommitActions,
    read_commit_actions,
    read_commit_files,
)
from deltaweb.delta.checkpoint_writer.file_rows import FileRows, RowShaper
from deltaweb.delta.checkpoint_writer.last_checkpoint import (
    LastCheckpoint,
    write_last_checkpoint,
)
from deltaweb.delta.checkpoint_writer.older_checkpoint import (
    checkpoint_extras,
    count_rows,
    read_checkpoint_files,
)
from deltaweb.delta.checkpoint_writer.parts import PartsWriter
from deltaweb.delta.checkpoint_writer.rare_actions import RareActions
from deltaweb.delta.checkpoint_writer.read_ahead import read_ahead
from deltaweb.delta.checkpoint_writer.stats_columns import partition_type, stats_type
from deltaweb.delta.commit_times import to_ms
from deltaweb.delta.errors import (
    CheckpointCancelledError,
    LogCorruptError,
    LogGapError,
    MissingMetadataError,
    MissingProtocolError,
    SchemaMissingError,
)
from deltaweb.delta.log_path import checkpoint_name, checkpoint_part_names
from deltaweb.delta.log_segment import Checkpoint, LogSegment, load_log_segment
from deltaweb.delta.log_store import LogStore
from deltaweb.delta.schema import parse_schema
from deltaweb.delta.table_features import log_writing_refusal
from deltaweb.delta.table_properties import (
    deleted_file_retention_ms,
    writes_stats_as_json,
    writes_stats_as_struct,
)

MAX_PARTS: Final = 256  # all are open at once
READ_AHEAD: Final = 4
OPERATION: Final = "no checkpoint"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CheckpointRequest:
    """What is wanted of a checkpoint.

    Attributes:
        version: The version; the newest for None.
        parts: Into how many files; None leaves it to `rows_per_part`.
        rows_per_part: Actions a file, about, or more where `MAX_PARTS` files do not
            suffice; a single file for None.
        now: The time by which tombstones expire; aware.
        on_progress: Called with the file actions that were taken, and how many there
            are about; it may raise to stop the work.
        is_cancelled: Asked between two pieces of work.
    """

    now: datetime
    version: int | None = None
    parts: int | None = None
    rows_per_part: int | None = None
    on_progress: Progress | None = None
    is_cancelled: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class WrittenCheckpoint:
    """A checkpoint that was written.

    Attributes:
        version: Its version.
        names: Its files in the log.
        num_actions: Its actions.
        num_files: Its live files.
        num_tombstones: Its tombstones.
        size_bytes: Bytes of its files.
        is_last: Whether `_last_checkpoint` names it; not where a newer one is there.
    """

    version: int
    names: tuple[str, ...]
    num_actions: int
    num_files: int
    num_tombstones: int
    size_bytes: int
    is_last: bool


def build_checkpoint(store: LogStore, request: CheckpointRequest) -> WrittenCheckpoint:
    """Write a checkpoint of a version that exists.

    A checkpoint that does not read is passed over for an older one. On any error
    nothing is left that a reader could take for a checkpoint.

    Raises:
        ValueError: If `parts` or `rows_per_part` is not of use.
        TableNotFoundError: If there is no log.
        VersionNotFoundError: If the log does not reach the version.
        UnsupportedWriterFeatureError: If the table's writer features forbid it.
        UnsupportedWriterError: If it asks for a writer version above ours.
        UnsupportedFeatureError: If it uses features that are not read.
        LogGapError: If a commit is missing.
        LogCorruptError: If a commit does not read, or no way around a broken
            checkpoint is left.
        StorageFullError: If the storage has no room.
        CheckpointCancelledError: If it is not wanted any more.
    """
    for count in (request.parts, request.rows_per_part):
        if count is not None and count < 1:
            message = "parts and rows_per_part are whole numbers from 1"
            raise ValueError(message)
    if request.parts is not None and request.parts > MAX_PARTS:
        message = f"a checkpoint has {MAX_PARTS} parts at most"
        raise ValueError(message)
    unreadable: dict[Checkpoint, LogCorruptError] = {}
    while True:
        try:
            segment = load_log_segment(store, request.version, unreadable=unreadable)
        except LogGapError:
            if unreadable:
                raise next(iter(unreadable.values())) from None
            raise
        try:
            return _Builder(store, segment, request).build()
        except _UnreadableCheckpointError as fault:
            unreadable[fault.checkpoint] = fault.cause


class _UnreadableCheckpointError(Exception):
    """The checkpoint to start from turned out broken."""

    def __init__(self, checkpoint: Checkpoint, cause: LogCorruptError) -> None:
        super().__init__(str(cause))
        self.checkpoint = checkpoint
        self.cause = cause


class _Builder:
    """One attempt, from one older checkpoint or from the commits alone."""

    def __init__(
        self, store: LogStore, segment: LogSegment, request: CheckpointRequest
    ) -> None:
        self.store = store
        self.segment = segment
        self.request = request
        self.reader: CheckpointReader | None = None
        self.done = 0
        self.total = 0
        self.num_files = 0
        self.num_tombstones = 0

    def build(self) -> WrittenCheckpoint:
        self._check_wanted()
        commits = read_commit_actions(self.store, self.segment.commit_names)
        state = self._state(commits)
        refusal = log_writing_refusal(
            state.protocol,
            state.metadata,
            root=self.store.root,
            version=self.segment.version,
            operation=OPERATION,
        )
        if refusal is not None:
            raise refusal
        shaper = self._shaper(state, commits)
        self.total = len(commits.live) + len(commits.removed)
        if self.reader is not None:
            self.total += count_rows(self.reader)
        names = self._names()
        self.store.remove_leftovers()
        parts = PartsWriter(self.store, names, shaper.layout.schema)
        try:
            self._write(parts, state, shaper, commits)
            size_bytes = parts.finish()
            self._check_wanted()
            parts.commit()
        finally:
            parts.discard()
        return self._announce(names, parts.num_rows, size_bytes)

    # === What is there ===

    def _state(self, commits: CommitActions) -> RareActions:
        """Read the older checkpoint's rare actions and bring them up to the version."""
        if self.segment.checkpoint is None:
            return bring_up_to(None, commits, self.segment.version, self.store.root)
        with self._of_checkpoint():
            self.reader = CheckpointReader(self.store, self.segment.checkpoint)
            protocol, metadata = self.reader.protocol_and_metadata(reads_ahead=False)
            older = RareActions(
                protocol=protocol,
                metadata=metadata,
                transactions=self.reader.transactions(),
                domains=self.reader.domains(),
            )
        return bring_up_to(older, commits, self.segment.version, self.store.root)

    def _shaper(self, state: RareActions, commits: CommitActions) -> RowShaper:
        metadata, configuration = state.metadata, state.metadata.configuration
        if metadata.schema_string is None:
            raise SchemaMissingError(root=self.store.root, version=self.segment.version)
        schema = parse_schema(metadata.schema_string)
        columns = tuple(dict.fromkeys(metadata.partition_columns))
        is_typed = writes_stats_as_struct(configuration)
        layout = CheckpointLayout(
            extras=self._extras(state, commits),
            has_json_stats=writes_stats_as_json(configuration),
            stats_type=stats_type(schema, columns) if is_typed else None,
            partition_type=partition_type(schema, columns) if is_typed else None,
        )
        retention_ms = deleted_file_retention_ms(configuration)
        return RowShaper(
            layout=layout,
            schema=schema,
            partition_columns=columns,
            oldest_ms=to_ms(self.request.now) - retention_ms,
            root=self.store.root,
            version=self.segment.version,
        )

    def _extras(self, state: RareActions, commits: CommitActions) -> frozenset[str]:
        extras = set(commits.extras) | state.extras()
        if self.reader is not None:
            with self._of_checkpoint():
                extras |= checkpoint_extras(self.reader)
        return frozenset(extras)

    def _names(self) -> tuple[str, ...]:
        version, parts = self.segment.version, self.request.parts
        if parts is None and self.request.rows_per_part is None:
            return (checkpoint_name(version),)
        if parts is None:
            parts = -(-self.total // (self.request.rows_per_part or 1)) or 1
        return checkpoint_part_names(version, min(parts, MAX_PARTS))

    # === What is written ===

    def _write(
        self,
        parts: PartsWriter,
        state: RareActions,
        shaper: RowShaper,
        commits: CommitActions,
    ) -> None:
        parts.write_first(state.table(shaper.layout))
        reading = self._file_rows(state, shaper, commits)
        with contextlib.closing(read_ahead(reading, depth=READ_AHEAD)) as shaped:
            for num_read, rows in shaped:
                if rows.adds is not None:
                    parts.put("add", rows.adds)
                    self.num_files += len(rows.adds)
                if rows.removes is not None:
                    parts.put("remove", rows.removes)
                    self.num_tombstones += len(rows.removes)
                self._tell(num_read)
                self._check_wanted()

    def _file_rows(
        self, state: RareActions, shaper: RowShaper, commits: CommitActions
    ) -> Iterator[tuple[int, FileRows]]:
        """Yield how many file actions were read, and what is left of them."""
        if self.reader is not None:
            yield from self._older_rows(self.reader, shaper, commits)
        for adds, removes in read_commit_files(
            self.store,
            self.segment.commit_names,
            commits,
            protocol=state.protocol,
            metadata=state.metadata,
        ):
            yield len(adds) + len(removes), shaper.shape(adds, removes)

    def _older_rows(
        self, reader: CheckpointReader, shaper: RowShaper, commits: CommitActions
    ) -> Iterator[tuple[int, FileRows]]:
        with self._of_checkpoint():
            for adds, removes in read_checkpoint_files(reader, commits.keys):
                num_read = sum(len(some) for some in (adds, removes) if some)
                try:
                    rows = shaper.shape(adds, removes)
                except READ_FAULTS:
                    reason = "its file actions are not of their types"
                    raise LogCorruptError(path=reader.path, reason=reason) from None
                yield num_read, rows

    @contextlib.contextmanager
    def _of_checkpoint(self) -> Iterator[None]:
        """Mark a fault as the older checkpoint's, so that one before it is tried."""
        try:
            yield
        except LogCorruptError as fault:
            if self.segment.checkpoint is None:
                raise
            raise _UnreadableCheckpointError(self.segment.checkpoint, fault) from None

    # === Whoever waits ===

    def _tell(self, num_read: int) -> None:
        self.done += num_read
        if self.request.on_progress is not None:
            self.request.on_progress(min(self.done, self.total), self.total)

    def _check_wanted(self) -> None:
        if self.request.is_cancelled is not None and self.request.is_cancelled():
            raise CheckpointCancelledError(
                root=self.store.root, version=self.segment.version
            )

    def _announce(
        self, names: tuple[str, ...], num_actions: int, size_bytes: int
    ) -> WrittenCheckpoint:
        is_multi_part = names != (checkpoint_name(self.segment.version),)
        hint = LastCheckpoint(
            version=self.segment.version,
            num_actions=num_actions,
            parts=len(names) if is_multi_part else None,
            size_bytes=size_bytes,
            num_files=self.num_files,
        )
        is_last = write_last_checkpoint(self.store, hint)
        return WrittenCheckpoint(
            version=self.segment.version,
            names=names,
            num_actions=num_actions,
            num_files=self.num_files,
            num_tombstones=self.num_tombstones,
            size_bytes=size_bytes,
            is_last=is_last,
        )


def bring_up_to(
    older: RareActions | None, commits: CommitActions, version: int, root: str
) -> RareActions:
    """Return the rare actions of a version, whichever of the commits bring newer ones.

    Raises:
        MissingProtocolError: If there is no protocol.
        MissingMetadataError: If there is no metaData.
    """
    protocol, metadata = commits.protocol, commits.metadata
    if older is not None:
        protocol, metadata = protocol or older.protocol, metadata or older.metadata
    if protocol is None:
        raise MissingProtocolError(root=root, version=version)
    if metadata is None:
        raise MissingMetadataError(root=root, version=version)
    domains = {**(older.domains if older else {}), **commits.domains}
    return RareActions(
        protocol=protocol,
        metadata=metadata,
        transactions={
            **(older.transactions if older else {}),
            **commits.transactions,
        },
        domains={name: text for name, text in domains.items() if text is not None},
    )
