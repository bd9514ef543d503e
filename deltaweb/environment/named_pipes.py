"""Named pipes in one folder, by which the processes of a machine wake each other.

Who listens has a pipe for each kind of message, and waits at all of them at once; who
has something to say writes it into every pipe of that kind. A pipe that nobody reads
any more cannot be opened, and is removed by who finds that out. One that is full
belongs to a process that stands still: it is skipped. So messages may be lost, and
who waits looks at what they are about now and then.

Source: fifo(7), pipe(7): what is no longer than PIPE_BUF is written whole or not at
all.
"""

import contextlib
import errno
import os
import select
import uuid
from collections.abc import Iterable
from pathlib import Path
from threading import RLock
from typing import Final

PART_BYTES: Final = select.PIPE_BUF
WAKING: Final = b"\n"
_READ_BYTES: Final = 1 << 16  # what a pipe holds
_WRITE: Final = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC
# Anyone who opens a pipe for writing as well never comes to its end.
_READ: Final = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC


class PipeReader:
    """The pipes that one thread reads; any other may wake it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pipes: dict[str, tuple[Path, int]] = {}
        # What wakes must not meet the next file of that number. A signal's handler may
        # wake the thread that it interrupts.
        self._lock = RLock()

    def open(self, kind: str) -> None:
        """Have a pipe for a kind of message: from now on these are heard."""
        if kind in self._pipes:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"{os.getpid()}-{uuid.uuid4().hex}"
        beside, path = self._folder / f".{name}", self._folder / f"{kind}.{name}"
        with contextlib.ExitStack() as undo:
            undo.callback(beside.unlink, missing_ok=True)
            os.mkfifo(beside, 0o600)
            pipe = os.open(beside, _READ)
            undo.callback(os.close, pipe)
            beside.rename(path)  # others see it once it has a reader
            undo.pop_all()
        with self._lock:
            self._pipes[kind] = path, pipe

    def wait(self, timeout_s: float) -> bytes:
        """Return what was written, as soon as there is any; nothing after some time."""
        poll = select.poll()
        for _, pipe in self._pipes.values():
            poll.register(pipe, select.POLLIN)
        heard = b""
        for pipe, _ in poll.poll(1000 * max(0.0, timeout_s)):
            with contextlib.suppress(BlockingIOError):
                heard += os.read(pipe, _READ_BYTES)
        return heard

    def wake(self) -> None:
        """Wake the one who waits here, from another thread."""
        with self._lock:
            for _, pipe in self._pipes.values():
                with contextlib.suppress(BlockingIOError):  # a full one wakes as well
                    os.write(pipe, WAKING)
                return

    def check(self) -> None:
        """Find out whether others still find the pipes."""
        for path, _ in self._pipes.values():
            path.stat()

    def close(self) -> None:
        with self._lock:
            while self._pipes:
                _, (path, pipe) = self._pipes.popitem()
                path.unlink(missing_ok=True)
                os.close(pipe)


def write(folder: Path, kind: str, parts: Iterable[bytes]) -> None:
    """Write parts of at most `PART_BYTES` into every pipe of a kind."""
    parts = tuple(parts)
    with contextlib.suppress(FileNotFoundError):  # nobody has ever listened
        for path in sorted(folder.iterdir()):
            if path.name.rpartition(".")[0] == kind:
                _write(path, parts)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    try:
        pipe = os.open(path, _WRITE)
    except OSError as error:
        if error.errno == errno.ENXIO:  # its reader is gone
            path.unlink(missing_ok=True)
        return
    try:
        for part in parts:
            os.write(pipe, part)
    except OSError:  # it is full, or its reader has just gone
        return
    finally:
        os.close(pipe)
