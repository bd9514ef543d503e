"""A worker that has grown gives way to a new one, with which its memory goes.

What a job has taken in the worker's own process is not always given back when it ends.
So a worker that keeps much and does nothing leaves in good order, and begins again in
the same place: whatever has started it does not notice.
"""

import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from deltaweb.environment.memory import RETIRE_AFTER_S, RETIRE_BYTES, own_bytes

logger = logging.getLogger(__name__)


class Retirement:
    """Tells when a worker is to give way.

    Args:
        leave: Lets the worker end once it does nothing any more.
    """

    def __init__(self, leave: Callable[[], None]) -> None:
        self.is_due = False
        self._leave = leave
        self._lock = threading.Lock()
        self._num_at_work = 0
        self._from_s = monotonic() + RETIRE_AFTER_S

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Count a job; as the last one ends, look at what it has left."""
        with self._lock:
            self._num_at_work += 1
        try:
            yield
        finally:
            with self._lock:
                self._num_at_work -= 1
                if not self._num_at_work and self._has_grown():
                    self.is_due = True
                    self._leave()

    def _has_grown(self) -> bool:
        if self.is_due or monotonic() < self._from_s:
            return False
        kept_bytes = own_bytes()
        if kept_bytes <= RETIRE_BYTES:
            return False
        logger.warning(
            "The worker keeps %d MiB of memory; another takes its place.",
            kept_bytes >> 20,
        )
        return True


def begin_again() -> None:
    """Become a new process of the same command; the number stays."""
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606
