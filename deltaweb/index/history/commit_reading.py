"""The parts of a history: read here, or shared with a second process where it is long.

Two thirds of the work on a commit is Python's, which has one core a process. The
second process only ever helps: where it cannot begin, or ends early, all is read here.
"""

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from queue import SimpleQueue
from typing import Final

from deltaweb.delta.commit_batch import (
    read_commit_batches,
    without_collections,
)
from deltaweb.delta.log_store import LogStore
from deltaweb.index.history.commit_helper import (
    HelperLostError,
    Reader,
    second_reader,
)
from deltaweb.index.history.commit_part import CommitPart, commit_part
from deltaweb.index.history.commit_share import read_here

MIN_COMMITS_TO_SHARE: Final = 20_000  # fewer are read before a process has begun
COMMITS_A_SHARE: Final = 1_024
SHARES_AHEAD: Final = 2  # one that is read there, and one that waits

logger = logging.getLogger(__name__)

ReadCommits = Callable[[Sequence[int]], Generator[CommitPart, None, None]]
"""Yields the parts of commits, oldest first; closed by who stops early.

A commit that is gone since it was listed raises `LogCorruptError`.
"""


@contextmanager
def commit_reader(store: LogStore, most: int) -> Iterator[ReadCommits]:
    """Give what reads commits; where they may be many, a second process begins at once.

    Args:
        store: The table's log; many commits are shared where it can be pickled.
        most: How many commits there can be.
    """
    may_be_many = most >= MIN_COMMITS_TO_SHARE and (os.cpu_count() or 1) > 1
    with second_reader(store) if may_be_many else nullcontext() as helper:
        yield partial(_read_parts, store, helper)


def _read_parts(
    store: LogStore, helper: Reader | None, versions: Sequence[int]
) -> Generator[CommitPart, None, None]:
    if helper is not None and len(versions) >= MIN_COMMITS_TO_SHARE:
        yield from _read_shared(store, versions, helper)
        return
    with closing(read_commit_batches(store, versions)) as batches:
        yield from map(commit_part, batches)


def shares_of(versions: Sequence[int]) -> list[Sequence[int]]:
    """Cut commits into shares, each to be read by one process."""
    firsts = range(0, len(versions), COMMITS_A_SHARE)
    return [versions[first : first + COMMITS_A_SHARE] for first in firsts]


def _read_shared(
    store: LogStore, versions: Sequence[int], helper: Reader
) -> Generator[CommitPart, None, None]:
    here = partial(read_here, store)
    readers: SimpleQueue[Reader] = SimpleQueue()
    readers.put(here)
    for _ in range(SHARES_AHEAD):
        readers.put(helper)

    def read(share: Sequence[int]) -> list[CommitPart]:
        reader = readers.get()
        try:
            return reader(share)
        except HelperLostError:
            logger.info("The second process is lost to the log of %s", store.root)
            reader = here
            return here(share)
        finally:
            readers.put(reader)

    with without_collections(), ThreadPoolExecutor(1 + SHARES_AHEAD) as pool:
        for parts in pool.map(read, shares_of(versions)):
            yield from parts
