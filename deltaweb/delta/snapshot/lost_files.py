"""Statistics of files after the log files that had them were deleted.

A snapshot reads statistics when they are requested. A clean-up of the log may have
deleted the commits, checkpoints or sidecars that it was read from. The same files are
then in a newer checkpoint. Statistics that are in no log file are unknown.

Source: Delta protocol, "Metadata Cleanup" and "Per-file Statistics".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Generic, Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError, LogFileGoneError, SchemaError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.log.blocks import (
    FileBlock,
    RawStatistics,
    SelectedBlock,
    StatisticsPart,
    StatisticsStream,
)
from deltaweb.delta.log.file_actions import canonical_keys
from deltaweb.delta.protocol import actions
from deltaweb.delta.snapshot.statistics_texts import block_texts


class StateWithFiles(Protocol):
    """The part of a `SnapshotState` in which statistics are found."""

    @property
    def protocol(self) -> actions.Protocol: ...

    @property
    def metadata(self) -> actions.Metadata: ...

    @property
    def blocks(self) -> tuple[SelectedBlock, ...]:
        """The live files."""


S = TypeVar("S", bound=StateWithFiles)


@dataclass(slots=True, eq=False)
class LostFiles(Generic[S]):
    """Finds statistics whose log files are gone; consecutive states share one.

    Attributes:
        load: Reads a version from the log, the newest one for None.
        version: The newest version of the states.
        is_needed: Whether a log file of the states was found to be gone.
    """

    load: Callable[[int | None], S]
    version: int
    is_needed: bool = False
    _lock: Lock = field(default_factory=Lock)
    _states: dict[int | None, S] = field(default_factory=dict)
    _texts: tuple[SelectedBlock, pa.StringArray] | None = None

    def guarded(self, block: FileBlock) -> FileBlock:
        """Return a block whose statistics are found when their log file is gone."""
        load, text = block.load_statistics, block.load_text
        stream, counts = block.stream_statistics, block.load_counts
        return replace(
            block,
            load_statistics=partial(self._statistics, block, load),
            load_text=text and partial(self._text, block, text),
            stream_statistics=stream and partial(self._stream, block, stream),
            load_counts=counts and partial(self._statistics, block, counts),
        )

    def state_again(self, version: int, fault: LogFileGoneError) -> S:
        """Return a version as the log has it now.

        Raises:
            LogFileGoneError: If the log cannot build the version any more: `fault`.
        """
        with self._lock:
            return self._first_readable((version,), fault)

    def _statistics(
        self, block: FileBlock, load: Callable[[], RawStatistics]
    ) -> RawStatistics:
        try:
            return load()
        except LogFileGoneError as fault:
            return RawStatistics(self._found(block, fault), None)

    def _text(
        self, block: FileBlock, load: Callable[[], pa.ChunkedArray | None]
    ) -> pa.ChunkedArray | None:
        try:
            return load()
        except LogFileGoneError as fault:
            return self._found(block, fault)

    def _stream(
        self, block: FileBlock, stream: StatisticsStream, max_rows: int
    ) -> Iterator[StatisticsPart]:
        passed = 0
        try:
            for part in stream(max_rows):
                yield part
                passed += part.num_files
        except LogFileGoneError as fault:
            texts = self._found(block, fault)
            while passed < len(texts):
                some = texts.slice(passed, max_rows)
                yield StatisticsPart(RawStatistics(some, None), len(some))
                passed += len(some)

    def _found(self, block: FileBlock, fault: LogFileGoneError) -> pa.ChunkedArray:
        """Return the statistics of a block as JSON, null where they are unknown.

        Raises:
            LogFileGoneError: If the log has no readable version: `fault`.
        """
        keys = canonical_keys(block.keys())
        texts = pa.nulls(len(keys), pa.string())
        with self._lock:  # several threads would read the same log
            state = self._first_readable((self.version, None), fault)
            for selected in state.blocks:
                rows = pc.index_in(
                    keys, canonical_keys(selected.compact().block.keys())
                )
                if rows.null_count < len(rows):
                    known = self._texts_of(selected, state)
                    texts = pc.coalesce(texts, known.take(rows))
        return pa.chunked_array([texts])

    def _first_readable(
        self, versions: tuple[int | None, ...], fault: LogFileGoneError
    ) -> S:
        self.is_needed = True
        for version in versions:
            if version not in self._states:
                try:
                    self._states[version] = self.load(version)
                except DeltaError:
                    continue
            return self._states[version]
        raise fault

    def _texts_of(self, selected: SelectedBlock, state: S) -> pa.StringArray:
        """Return the statistics of a block; those of the last one are kept."""
        if self._texts is None or self._texts[0] is not selected:
            try:
                schema = table_schema(state.protocol, state.metadata)
                found = block_texts(selected, schema)
            except SchemaError:  # typed statistics cannot be read without a schema
                found = pa.nulls(selected.num_files, pa.string())
            self._texts = selected, found
        return self._texts[1]
