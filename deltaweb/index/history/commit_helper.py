"""A second process that reads commits, `commit_process`, and how it is asked.

It is sent a store, then shares of a log's commits, and answers with their parts. It
ends with the connection, so also where the first process is killed.
"""

import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from threading import Lock

from deltaweb.delta.log_store import LogStore
from deltaweb.index.history import commit_process
from deltaweb.index.history.commit_part import CommitPart

Reader = Callable[[Sequence[int]], list[CommitPart]]
"""Reads the parts of some commits, oldest first."""

_SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",  # it multiplies no matrices
    # Buffers of a share are those of the next one, not the kernel's in between.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}
_UNSENDABLE = (pickle.PicklingError, TypeError, AttributeError)


BUFFER_BYTES = 4 << 20  # more than the answer to any share of small commits


class HelperLostError(Exception):
    """The second process did not answer: whoever asked it reads the share itself."""


@contextmanager
def second_reader(store: LogStore) -> Iterator[Reader | None]:
    """Begin a second process that reads commits; None where none can help.

    Args:
        store: The table's log; one that cannot be pickled stays with this process.

    Returns:
        What reads a share there, one after the other for all threads that ask; it
        raises `HelperLostError`.
    """
    try:
        request = pickle.dumps(store)
    except _UNSENDABLE:
        yield None
        return
    ours, theirs = _connections()
    with ours:
        try:
            process = start_process(theirs)
        except OSError:
            yield None
            return
        finally:
            theirs.close()
        try:
            with suppress(OSError):  # one that is gone does not answer either
                ours.send_bytes(request)
            yield _Asking(ours)
        finally:
            process.kill()  # it holds nothing that could be lost
            process.wait()


def _connections() -> tuple[Connection, Connection]:
    """Return two ends that hold a whole answer, as far as the system allows that.

    Who answers need not wait for a thread that reads.
    """
    ends = socket.socketpair()
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    return Connection(ends[0].detach()), Connection(ends[1].detach())


def start_process(connection: Connection) -> "subprocess.Popen[bytes]":
    """Start the process with the modules that this one finds, wherever it runs."""
    number = connection.fileno()
    modules = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(  # noqa: S603 (our own module, no text of others)
        [sys.executable, "-P", "-m", commit_process.__name__, str(number)],
        pass_fds=[number],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **_SETTINGS, "PYTHONPATH": modules},
    )


class _Asking:
    """Asks for shares of commits; where two threads do, a share waits over there.

    So the second process goes on at once, whatever this one is busy with.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending, self._receiving = Lock(), Lock()

    def __call__(self, versions: Sequence[int]) -> list[CommitPart]:
        try:
            with self._sending:
                self._connection.send(versions)
                self._receiving.acquire()  # answers come in the order of the questions
            try:
                parts: list[CommitPart] | None = self._connection.recv()
            finally:
                self._receiving.release()
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            raise HelperLostError from error
        if parts is None:
            raise HelperLostError
        return parts
