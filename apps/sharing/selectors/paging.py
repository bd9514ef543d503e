"""Where a page stands in its list."""

from dataclasses import dataclass
from typing import Final

PAGE_LENGTH: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged:
    """Where a page stands in its list.

    Attributes:
        count: How many entries the filter holds.
        page: Which page, from 1; `num_pages` is at least 1.
        first, last: Place of the first and last entry of the page, from 1.
    """

    count: int
    page: int
    num_pages: int
    first: int
    last: int

    @property
    def next_page(self) -> int | None:
        """The number of the next page, or None."""
        return self.page + 1 if self.page < self.num_pages else None

    @property
    def previous_page(self) -> int | None:
        """The number of the page before, or None."""
        return self.page - 1 if self.page > 1 else None

    @property
    def start(self) -> int:
        """Place of the first entry, from 0."""
        return max(0, self.first - 1)


def paged(count: int, page: int, *, length: int = PAGE_LENGTH) -> Paged:
    """Return where page `page` stands; one beyond the last is the last."""
    num_pages = max(1, -(-count // length))
    page = min(page, num_pages)
    start = (page - 1) * length
    return Paged(
        count=count,
        page=page,
        num_pages=num_pages,
        first=start + 1 if count else 0,
        last=min(start + length, count),
    )
