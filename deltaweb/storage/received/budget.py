"""What one look at a provider may take: time, bytes, pages and lines.

All requests of a look draw from the same budget. A provider that answers slowly, or
without an end, costs one look and no more.
"""

import time
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from deltaweb.storage.received.errors import (
    ProviderAnswerError,
    ProviderLimitError,
    ProviderSlowError,
)

MAX_LINE_BYTES: Final = 32 << 20  # a schema of 100,000 columns takes less


@dataclass(frozen=True, slots=True, kw_only=True)
class LookBounds:
    """The bounds of a look.

    Attributes:
        seconds: From the first request to the end of the last answer.
        waits_s: The seconds that a person waits for all looks and files of a store
            together; None for no such limit.
        num_bytes: Of the bodies of all answers.
        num_pages: Of all lists.
        num_lines: Of all answers about a table: one for each file.
    """

    seconds: float = 120.0
    waits_s: float | None = None
    num_bytes: int = 1 << 30
    num_pages: int = 2_000
    num_lines: int = 2_000_000


@dataclass(frozen=True, slots=True)
class LookBudget:
    """What is left of the bounds of one look.

    Attributes:
        provider: What people call the provider, for errors.
    """

    provider: str
    bounds: LookBounds
    _ends_s: float
    _pages: "count[int]" = field(default_factory=lambda: count(1))
    _lines: "count[int]" = field(default_factory=lambda: count(1))
    _sizes: list[int] = field(default_factory=lambda: [0])

    @classmethod
    def of(cls, provider: str, bounds: LookBounds) -> "LookBudget":
        """Begin a look."""
        seconds = bounds.seconds if bounds.waits_s is None else bounds.waits_s
        return cls(provider, bounds, time.monotonic() + seconds)

    def renewed(self) -> "LookBudget":
        """Begin another look at the same provider; a person waits for all of them."""
        return self.of_files or LookBudget.of(self.provider, self.bounds)

    @property
    def of_files(self) -> "LookBudget | None":
        """What files are read within; None where each request has its own limit."""
        return None if self.bounds.waits_s is None else self

    def left_s(self) -> float:
        """Return how many seconds are left; without any, the look ends here."""
        left_s = self._ends_s - time.monotonic()
        if left_s <= 0:
            raise self.too_long()
        return left_s

    def take_bytes(self, size: int) -> None:
        """Count a part of an answer."""
        self._sizes[0] += size
        if self._sizes[0] > self.bounds.num_bytes:
            reason = f"its answers have more than {self.bounds.num_bytes:,} bytes"
            raise self._over(reason)

    def take_page(self) -> None:
        """Count a page of a list."""
        if next(self._pages) > self.bounds.num_pages:
            reason = f"its lists have more than {self.bounds.num_pages:,} pages"
            raise self._over(reason)

    def take_line(self) -> None:
        """Count a line of an answer."""
        if next(self._lines) > self.bounds.num_lines:
            reason = f"its answers have more than {self.bounds.num_lines:,} lines"
            raise self._over(reason)

    def check_line(self, size: int) -> None:
        """Refuse a line that is too long, before all of it is there."""
        if size > MAX_LINE_BYTES:
            reason = f"a line has more than {MAX_LINE_BYTES:,} bytes"
            raise self._over(reason)

    def too_long(self) -> ProviderAnswerError:
        """Return the error of a look that takes too much time."""
        waits_s = self.bounds.waits_s
        if waits_s is not None:
            reason = f"the read was ended after {waits_s:g} seconds"
            return ProviderSlowError(provider=self.provider, reason=reason)
        return self._over(f"it takes longer than {self.bounds.seconds:g} seconds")

    def _over(self, reason: str) -> ProviderLimitError:
        return ProviderLimitError(provider=self.provider, reason=reason)
