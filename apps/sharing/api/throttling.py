"""How fast a token may ask, and what failing over and over costs an address."""

import time
from functools import cache
from threading import BoundedSemaphore
from typing import Final
from uuid import UUID

from django.conf import settings

from apps.pages.request.addresses import network_of
from apps.pages.request.rate_limits import RateLimit
from deltaweb.sharing.errors import TooManyRequestsError

FAILURES_PER_S: Final = 100
MAX_DELAY_S: Final = 1.0
FAILURES: Final = RateLimit(
    file="rates-failures",
    rate_per_s=FAILURES_PER_S,
    burst=FAILURES_PER_S,
    debt=FAILURES_PER_S * MAX_DELAY_S,
)


def check_rate(token_id: UUID) -> None:
    """Count a request of a token."""
    requests = RateLimit(
        file="rates-requests",
        rate_per_s=settings.REQUESTS_PER_S,
        burst=settings.REQUEST_BURST,
    )
    wait_s = requests.take(token_id.bytes, now_s=time.monotonic())
    if wait_s > 0:
        raise TooManyRequestsError(wait_s=wait_s)


def failure_delay_s(address: str) -> float:
    """Count a failed authentication; return how long its answer has to wait.

    Nobody waits who fails less than `FAILURES_PER_S`; who goes on beyond that waits
    longer each time, up to `MAX_DELAY_S`.
    """
    wait_s = FAILURES.take(network_of(address).encode(), now_s=time.monotonic())
    return min(wait_s, MAX_DELAY_S)


def slow_down(delay_s: float) -> None:
    """Wait, unless half of this process's threads do already: others are served."""
    waiting = _waiting(settings.WEB_THREADS)
    if delay_s > 0 and waiting.acquire(blocking=False):
        try:
            time.sleep(delay_s)
        finally:
            waiting.release()


@cache
def _waiting(num_threads: int) -> BoundedSemaphore:
    return BoundedSemaphore(max(1, num_threads // 2))
