"""How fast a token may ask, and what failing over and over costs an address."""

import logging
import time
from functools import cache
from ipaddress import IPv6Address
from pathlib import Path
from threading import BoundedSemaphore
from typing import Final
from uuid import UUID

from django.conf import settings

from apps.pages.addresses import parse_address
from apps.sharing.api.token_buckets import TokenBuckets
from deltaweb.sharing.errors import TooManyRequestsError

logger = logging.getLogger(__name__)

FAILURES_PER_S: Final = 100
MAX_DELAY_S: Final = 1.0
IPV6_NETWORK_BITS: Final = 64  # what one customer of a provider has at least


def check_rate(token_id: UUID) -> None:
    """Count a request of a token.

    Raises:
        TooManyRequestsError: If it sends more than it may.
    """
    place = Path(settings.HOME) / "rates-requests"
    buckets = _buckets(place, settings.REQUESTS_PER_S, settings.REQUEST_BURST)
    wait_s = _take(buckets, token_id.bytes)
    if wait_s > 0:
        raise TooManyRequestsError(wait_s=wait_s)


def failure_delay_s(address: str) -> float:
    """Count a failed authentication; return how long its answer has to wait.

    Nobody waits who fails less than `FAILURES_PER_S`; who goes on beyond that waits
    longer each time, up to `MAX_DELAY_S`.
    """
    debt = FAILURES_PER_S * MAX_DELAY_S
    place = Path(settings.HOME) / "rates-failures"
    buckets = _buckets(place, FAILURES_PER_S, FAILURES_PER_S, debt)
    return min(_take(buckets, _network(address)), MAX_DELAY_S)


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


def _take(buckets: TokenBuckets, key: bytes) -> float:
    """Take one from a bucket; without the file nobody is refused."""
    try:
        return buckets.take(key, now_s=time.monotonic())
    except OSError as error:
        logger.warning("Rates are not limited: %s", error.strerror)
        return 0.0


@cache
def _buckets(path: Path, rate: int, burst: int, debt: float = 0.0) -> TokenBuckets:
    return TokenBuckets(path, rate=rate, burst=burst, debt=debt)


def _network(address: str) -> bytes:
    """Return what stands for everybody behind an address."""
    parsed = parse_address(address)
    if parsed is None:
        return b"unknown"
    if isinstance(parsed, IPv6Address):
        return parsed.packed[: IPV6_NETWORK_BITS // 8]
    return parsed.packed
