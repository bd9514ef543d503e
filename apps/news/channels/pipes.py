"""News on one machine: a named pipe for each process that listens, in one folder."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from deltaweb.environment import named_pipes
from deltaweb.environment.named_pipes import PART_BYTES, PipeReader

_KIND: Final = "news"


class PipeChannel:
    """News by pipes.

    Args:
        folder: Where the pipes are; it is made by the first who listens.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self) -> None:
        """Import nothing: all is there."""

    def send(self, topics: Sequence[str]) -> None:
        """Write to every pipe."""
        named_pipes.write(self._folder, _KIND, _parts(topics))

    @contextlib.contextmanager
    def listening(self) -> "Iterator[PipeListener]":
        """Make a pipe and read it, until the block ends."""
        with contextlib.closing(PipeReader(self._folder)) as reader:
            reader.open(_KIND)
            yield PipeListener(reader)


class PipeListener:
    """The end of a pipe that is read."""

    def __init__(self, reader: PipeReader) -> None:
        self._reader = reader

    def hear(self, timeout_s: float) -> Sequence[str]:
        """Return topics that were written, none when the time is over."""
        return self._reader.wait(timeout_s).decode("ascii", "replace").split()

    def check(self) -> None:
        """Find out whether others still find the pipe."""
        self._reader.check()


def _parts(topics: Sequence[str]) -> Iterator[bytes]:
    """Yield topics as lines, in parts that are written whole."""
    part = b""
    for topic in topics:
        line = topic.encode("ascii") + b"\n"
        if len(part) + len(line) > PART_BYTES:
            yield part
            part = b""
        part += line
    yield part
