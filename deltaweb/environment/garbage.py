"""How often a process that loads much looks for garbage among it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Objects made between two looks: of 700, the usual number, the looks take a tenth of
# the time in which a process loads what it needs.
THRESHOLD = 50_000


@contextmanager
def few_looks() -> Iterator[None]:
    """Look seldom within the block, and never again at what it leaves.

    As it ends, Python looks for garbage among all that it has loaded, which takes
    longer than many a command; processes that fork share what no look touches.
    """
    usual = gc.get_threshold()
    gc.set_threshold(THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.freeze()
