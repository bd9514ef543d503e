"""Limits that all processes of one machine share, each in a file of the home."""

import logging
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from deltaweb.web.pages.request.token_buckets import TokenBuckets

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """How often something may be done by one key.

    Attributes:
        file: Name of the file in the home; every limit has its own.
        rate_per_s: How often a second, for good.
        burst: How often at once.
        debt: How far beyond that it is still counted, so that waits grow.
    """

    file: str
    rate_per_s: float
    burst: float
    debt: float = 0.0

    def take(self, key: bytes, *, now_s: float) -> float:
        """Count once for `key`; return how many seconds it has to wait, 0.0 for none.

        Without the file nobody is refused.
        """
        try:
            return self._buckets().take(key, now_s=now_s)
        except OSError as error:
            logger.warning("Rates are not limited: %s", error.strerror)
            return 0.0

    def give_back(self, key: bytes, *, now_s: float) -> None:
        """Count once less for `key`: what was taken ahead turned out not to count."""
        try:
            self._buckets().give_back(key, now_s=now_s)
        except OSError as error:
            logger.warning("Rates are not limited: %s", error.strerror)

    def _buckets(self) -> TokenBuckets:
        path = Path(settings.HOME) / self.file
        return _opened(path, self.rate_per_s, self.burst, self.debt)


@lru_cache(maxsize=16)
def _opened(path: Path, rate: float, burst: float, debt: float) -> TokenBuckets:
    return TokenBuckets(path, rate=rate, burst=burst, debt=debt)
