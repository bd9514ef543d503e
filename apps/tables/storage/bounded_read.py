"""A read of storage that never holds a request for longer than the settings say."""

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from django.conf import settings

MAX_READS: Final = 8  # at the same time, those that storage never answered among them
PLACES: Final = threading.BoundedSemaphore(MAX_READS)

T = TypeVar("T")


class StorageSlowError(Exception):
    """Storage did not answer in time."""


def read_within(
    read: Callable[[], T],
    *,
    timeout_s: float | None = None,
    places: threading.Semaphore = PLACES,
) -> T:
    """Return what `read` returns, or raise what it raises, within a time.

    A read that takes longer is left behind in a thread that does not keep the process
    from ending; as long as it hangs, it takes one of the places.

    Args:
        timeout_s: The time; that of the settings for None.
        places: As many as may read at the same time.
    """
    if timeout_s is None:
        timeout_s = float(settings.STORAGE_TIMEOUT_S)
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
