"""News on one machine: a named pipe for each process that listens, in one folder.

A pipe that nobody reads any more cannot be opened, and is removed by who finds that
out. One that is full belongs to a process that stands still: it is passed over, and
looks at rows when it goes on.

Source: fifo(7), pipe(7): what is shorter than PIPE_BUF is written whole or not at all.
"""

import contextlib
import errno
import os
import select
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_PART_BYTES: Final = select.PIPE_BUF
_READ_BYTES: Final = 1 << 16
_HIDDEN: Final = "."  # begins the name of a pipe that is not there yet


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
        """Write to every pipe.

        Raises:
            OSError: If the folder cannot be read.
        """
        with contextlib.suppress(FileNotFoundError):  # nobody has ever listened
            for path in sorted(self._folder.iterdir()):
                if not path.name.startswith(_HIDDEN):
                    _write(path, topics)

    @contextlib.contextmanager
    def listening(self) -> "Iterator[PipeListener]":
        """Make a pipe and read it, until the block ends.

        Raises:
            OSError: If none can be made.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
        beside, path = self._folder / f"{_HIDDEN}{name}", self._folder / name
        os.mkfifo(beside, 0o600)
        # Whoever opens it for writing as well never comes to its end.
        descriptor = os.open(beside, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            beside.rename(path)  # others see it once it has a reader
            yield PipeListener(descriptor, path)
        finally:
            path.unlink(missing_ok=True)
            beside.unlink(missing_ok=True)
            os.close(descriptor)


class PipeListener:
    """The end of a pipe that is read."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self._path = path
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def hear(self, timeout_s: float) -> Sequence[str]:
        """Return topics that were written, none when the time is over."""
        if not self._poll.poll(timeout_s * 1000):
            return ()
        text = os.read(self._descriptor, _READ_BYTES).decode("ascii", "replace")
        return text.split()

    def check(self) -> None:
        """Find out whether others still find the pipe.

        Raises:
            OSError: If it was removed.
        """
        self._path.stat()


def _write(path: Path, topics: Sequence[str]) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:  # its reader is gone
            path.unlink(missing_ok=True)
        return
    try:
        for part in _parts(topics):
            os.write(descriptor, part)
    except OSError:  # it is full, or its reader has just gone
        return
    finally:
        os.close(descriptor)


def _parts(topics: Sequence[str]) -> Iterator[bytes]:
    """Yield topics as lines, in parts that are written whole."""
    part = b""
    for topic in topics:
        line = topic.encode("ascii") + b"\n"
        if len(part) + len(line) > _PART_BYTES:
            yield part
            part = b""
        part += line
    yield part
