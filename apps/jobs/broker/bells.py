"""Bells: named pipes by which whoever leaves a message wakes those who wait for it.

A taker hangs up a bell for each queue that it takes from, and waits at all of them at
once; whoever has left a message rings the bells of its queue. A bell that nobody
listens at any more is taken away by the first who rings it. Bells only wake: one that
is not heard, on a machine beside or on a disk that has no pipes, costs the time until
the next look into the folder.
"""

import contextlib
import os
import select
import uuid
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Final

RING: Final = b"!"
ALL_RINGS: Final = 1 << 16  # what a pipe holds


class Bells:
    """The bells of one taker; it listens in one thread, and anyone may ring.

    Args:
        folder: Where bells hang.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._hung: dict[str, tuple[Path, int]] = {}
        self._is_possible = True
        self._lock = Lock()  # what rings must not meet the next file of that number

    def hang_up(self, queues: Iterable[str]) -> bool:
        """Have a bell for each of some queues; from now on what is rung is heard.

        Returns:
            Whether that was possible: not every disk has pipes.
        """
        for queue in queues:
            if queue not in self._hung and self._is_possible:
                self._hang_up(queue)
        return self._is_possible

    def wait(self, timeout_s: float) -> bool:
        """Wait until a bell rings, for some time; tell whether one did."""
        poll = select.poll()
        for _, pipe in self._hung.values():
            poll.register(pipe, select.POLLIN)
        rung = poll.poll(1000 * max(0.0, timeout_s))
        for pipe, _ in rung:
            with contextlib.suppress(BlockingIOError):
                os.read(pipe, ALL_RINGS)
        return bool(rung)

    def ring(self) -> None:
        """Wake the one who waits here, from another thread."""
        with self._lock:
            for _, pipe in self._hung.values():
                _write(pipe)
                return

    def take_down(self) -> None:
        """Take all bells away."""
        with self._lock:
            while self._hung:
                _, (path, pipe) = self._hung.popitem()
                path.unlink(missing_ok=True)
                os.close(pipe)

    def _hang_up(self, queue: str) -> None:
        name = uuid.uuid4().hex
        beside = self._folder / f".new-{name}"
        path = self._folder / f"{queue}.{name}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            os.mkfifo(beside, 0o600)
            # It is open before it has its name: one that nobody listens at is taken
            # away. Open to write as well, a pipe has no end that would wake us.
            pipe = os.open(beside, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            beside.rename(path)
        except OSError:
            self._is_possible = False
            return
        with self._lock:
            self._hung[queue] = path, pipe


def ring(folder: Path, queue: str) -> int:
    """Ring the bells of a queue.

    Returns:
        How many takers that wakes.
    """
    num_heard = 0
    for path in folder.glob(f"{queue}.*"):
        try:
            pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:  # nobody listens: its taker has died
            path.unlink(missing_ok=True)
            continue
        try:
            _write(pipe)
        finally:
            os.close(pipe)
        num_heard += 1
    return num_heard


def _write(pipe: int) -> None:
    """Ring once; a pipe that is full of rings wakes as well."""
    with contextlib.suppress(OSError):
        os.write(pipe, RING)
