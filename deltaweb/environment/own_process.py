"""What a process that runs our code alone sets for itself.

The library leaves all of it to the program that imports it: these are choices for the
whole process, and so belong to commands, workers and servers of deltaweb.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

PANDAS: Final = "pandas"
VARIABLES: Final = {
    # numpy's algebra, which is not used, starts a thread a core when it is loaded.
    "OPENBLAS_NUM_THREADS": "1",
    # gcsfs would ask by gRPC of what kind each bucket is, for a minute where nothing
    # answers, and in threads that no fork survives.
    "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
    # Arrow's default gives memory back between two batches, and the kernel clears it
    # again for the next one: a tenth of the time of an index. This one waits a second.
    **({"ARROW_DEFAULT_MEMORY_POOL": "jemalloc"} if sys.platform == "linux" else {}),
    # It would do so in a thread of its own, and processes that fork may have no other
    # thread: what such a one holds at a fork stays locked in the copy.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}
# Objects made between two collections: of 700, the usual number, they take a tenth of
# the time in which a process loads what it needs.
RARE: Final = 50_000


class _Refusal:
    """Answers the import of one package as if it were not installed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Say of one package that it is not there; of others, nothing."""
        if name == PANDAS:
            raise ModuleNotFoundError(name=name)


_claims: Final[list[int]] = []


def claim_process() -> None:
    """Say that this process runs our code alone."""
    _claims.append(os.getpid())


def prepare_process() -> None:
    """Choose how libraries behave in this process; call it before they are loaded.

    pandas is not to be found from here on. pyarrow imports it with the first value that
    it makes, to ask whether that is one of pandas's own. This takes longer than all
    else that a command imports, and nothing of deltaweb makes such values.
    """
    claim_process()
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    sys.meta_path.insert(0, _Refusal())


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage seldom within the block, and never again what it leaves.

    As it ends, Python looks for garbage among all that it has loaded, which takes
    longer than many a command; processes that fork share what no collection touches.
    """
    usual = gc.get_threshold()
    gc.set_threshold(RARE)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.freeze()


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage within the block, which makes none that holds circles.

    Collections would look at every value that is there, again and again. In a process
    of others nothing changes: whether they make garbage meanwhile is not known here.
    """
    if not _claims or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@cache
def leave_modules_out_of_collections() -> None:
    """Take what this process has imported out of every later collection of garbage.

    PySpark's worker collects garbage after each task. With the modules that tasks
    import, which are never garbage, that takes a tenth of a second: more than most
    tasks do. Later tasks import little more: the next call does nothing, in a fork too.
    """
    gc.collect()
    gc.freeze()
