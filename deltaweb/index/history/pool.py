"""The commits of a history: read by this process, and by a second one where many.

Two thirds of the work on a commit is Python's, which has one core a process. The
second process only ever helps: where it cannot begin, or ends early, all is read here.

It is no `ProcessPoolExecutor`, whether by `spawn` or by `forkserver`: that imports the
caller's `__main__`. A script that has no guard for it would run its body again, and end
with a `BrokenProcessPool`; in a Spark task all of PySpark would be loaded, for half a
second. It blocks until it has begun, and its worker outlives a caller that is killed.
"""

import logging
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock
from typing import Final

from deltaweb.delta.log.commits.batch import read_commit_batches
from deltaweb.delta.log.store import LogStore
from deltaweb.environment.own_process import without_collections
from deltaweb.index.history.commit_part import CommitPart, commit_part

MIN_COMMITS_TO_SHARE: Final = 20_000  # fewer are read before a process has begun
COMMITS_A_SHARE: Final = 1_024
SHARES_AHEAD: Final = 2  # one that is read there, and one that waits
BUFFER_BYTES: Final = 4 << 20  # more than the answer to any share of small commits
_SETTINGS: Final = {
    # Buffers of a share are those of the next one, not the kernel's in between.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}
_MODULE: Final = "deltaweb.index.history.reading_process"  # it imports this one

logger = logging.getLogger(__name__)

ReadCommits = Callable[[Sequence[int]], Generator[CommitPart, None, None]]
"""Yields the parts of commits, oldest first; to be closed by a caller that stops early.

A commit that is gone since it was listed raises `LogCorruptError`.
"""
Reader = Callable[[Sequence[int]], list[CommitPart]]
"""Reads the parts of a share of commits, oldest first."""


class ProcessLostError(Exception):
    """The second process did not answer: the caller reads the share itself."""


@contextmanager
def commit_reader(store: LogStore, most: int) -> Iterator[ReadCommits]:
    """Give what reads commits; for many, a second process begins at once."""
    may_be_many = most >= MIN_COMMITS_TO_SHARE and (os.cpu_count() or 1) > 1
    with second_reader(store) if may_be_many else nullcontext() as second:
        yield partial(_read_parts, store, second)


def shares_of(versions: Sequence[int]) -> list[Sequence[int]]:
    """Cut commits into shares, each to be read by one process."""
    firsts = range(0, len(versions), COMMITS_A_SHARE)
    return [versions[first : first + COMMITS_A_SHARE] for first in firsts]


def read_share(store: LogStore, versions: Sequence[int]) -> list[CommitPart]:
    """Read the parts of some commits in this process, oldest first."""
    with closing(read_commit_batches(store, versions)) as batches:
        return [commit_part(batch) for batch in batches]


def _read_parts(
    store: LogStore, second: Reader | None, versions: Sequence[int]
) -> Generator[CommitPart, None, None]:
    if second is not None and len(versions) >= MIN_COMMITS_TO_SHARE:
        yield from _read_shared(store, versions, second)
        return
    with closing(read_commit_batches(store, versions)) as batches:
        yield from map(commit_part, batches)


def _read_shared(
    store: LogStore, versions: Sequence[int], second: Reader
) -> Generator[CommitPart, None, None]:
    here = partial(read_share, store)
    readers: SimpleQueue[Reader] = SimpleQueue()
    readers.put(here)
    for _ in range(SHARES_AHEAD):
        readers.put(second)

    def read(share: Sequence[int]) -> list[CommitPart]:
        reader = readers.get()
        try:
            return reader(share)
        except ProcessLostError:
            logger.info("The second process is lost to the log of %s", store.root)
            reader = here
            return here(share)
        finally:
            readers.put(reader)

    with without_collections(), ThreadPoolExecutor(1 + SHARES_AHEAD) as pool:
        for parts in pool.map(read, shares_of(versions)):
            yield from parts


# === The second process ===


@contextmanager
def second_reader(store: LogStore) -> Iterator[Reader | None]:
    """Begin a second process that reads commits; None where none can help.

    It ends with its connection, so also where this process is killed.

    Args:
        store: The table's log; one that cannot be pickled stays with this process.

    Returns:
        What reads a share there, one after the other for all threads that ask; it
        raises `ProcessLostError`.
    """
    ours, theirs = _connections()
    with ours:
        try:
            with theirs:
                request = pickle.dumps(store)
                process = start_process(theirs)
        except (OSError, pickle.PicklingError, TypeError, AttributeError):
            yield None
            return
        try:
            with suppress(OSError):  # one that is gone does not answer either
                ours.send_bytes(request)
            yield partial(_ask, ours, Lock(), Lock())
        finally:
            process.kill()  # it holds nothing that could be lost
            process.wait()


def start_process(connection: Connection) -> "subprocess.Popen[bytes]":
    """Start the process with the modules that this one finds, wherever it runs."""
    number = connection.fileno()
    modules = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(  # noqa: S603 (our own program, no text of others)
        [sys.executable, "-P", "-m", _MODULE, str(number)],
        pass_fds=[number],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **_SETTINGS, "PYTHONPATH": modules},
    )


def serve(connection: int) -> None:
    """Answer in the second process until the other end is closed.

    A share that fails is answered with None: who asked then meets the fault itself.
    """
    with suppress(EOFError, OSError), Connection(connection) as asked:
        store = asked.recv()
        while True:
            versions = asked.recv()
            try:
                parts = read_share(store, versions)
            except Exception:  # noqa: BLE001 (as said)
                parts = None
            asked.send(parts)


def _connections() -> tuple[Connection, Connection]:
    """Return two ends that hold a whole answer, as far as the system allows that.

    The second process then need not wait for a thread that reads.
    """
    ends = socket.socketpair()
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
    return Connection(ends[0].detach()), Connection(ends[1].detach())


def _ask(
    connection: Connection, sending: Lock, receiving: Lock, versions: Sequence[int]
) -> list[CommitPart]:
    """Ask for a share; where two threads do, one share waits over there.

    So the second process goes on at once, whatever this one is busy with.
    """
    try:
        with sending:
            connection.send(versions)
            receiving.acquire()  # answers come in the order of the questions
        try:
            parts: list[CommitPart] | None = connection.recv()
        finally:
            receiving.release()
    except (OSError, EOFError, pickle.UnpicklingError) as error:
        raise ProcessLostError from error
    if parts is None:
        raise ProcessLostError
    return parts
