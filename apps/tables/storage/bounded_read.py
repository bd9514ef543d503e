"""A read of storage that never holds a request for longer than a second."""

import threading
from collections.abc import Callable
from typing import TypeVar

STORAGE_TIMEOUT_S = 1.0
MAX_READS = 8  # at the same time, those that storage never answered among them

T = TypeVar("T")

_places = threading.BoundedSemaphore(MAX_READS)


class StorageSlowError(Exception):
    """Storage did not answer in time."""


def read_within(read: Callable[[], T], *, timeout_s: float | None = None) -> T:
    """Return what `read` returns, or raise what it raises, within a time.

    The time is `STORAGE_TIMEOUT_S` where none is given.

    A read that takes longer is left behind in a thread that does not keep the process
    from ending; as long as it hangs, it takes one of `MAX_READS` places.

    Raises:
        StorageSlowError: If the time is over, or if all places are taken.
    """
    timeout_s = STORAGE_TIMEOUT_S if timeout_s is None else timeout_s
    places = _places
    if not places.acquire(timeout=timeout_s):
        message = "Storage has not answered earlier reads yet."
        raise StorageSlowError(message)
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(read())
        except Exception as error:  # noqa: BLE001 (raised again by the caller)
            errors.append(error)
        finally:
            places.release()

    thread = threading.Thread(target=run, name="bounded-read", daemon=True)
    thread.start()
    thread.join(timeout_s)
    if errors:
        raise errors[0]
    if not results:
        message = f"Storage did not answer within {timeout_s:g} s."
        raise StorageSlowError(message)
    return results[0]
