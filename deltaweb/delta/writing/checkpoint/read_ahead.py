"""The next items of an iterator are made while this one is used."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar, cast

T = TypeVar("T")

END: Final = object()


def read_ahead(items: Iterator[T], *, depth: int) -> Generator[T]:
    """Yield items in order; a thread makes up to `depth` of them ahead.

    Whoever stops early closes this iterator; the thread has ended then.
    """
    with ThreadPoolExecutor(1) as pool:
        waiting = deque(pool.submit(next, items, END) for _ in range(depth))
        try:
            while (item := waiting.popleft().result()) is not END:
                waiting.append(pool.submit(next, items, END))
                yield cast("T", item)
                del item
        finally:
            for future in waiting:
                future.cancel()
