"""Where a page of a list stands among the others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PageNumbers:
    """The number of a page, from 1, and how many there are."""

    page: int
    num_pages: int

    @property
    def next_page(self) -> int | None:
        """The number of the next page, if there is one."""
        return self.page + 1 if self.page < self.num_pages else None

    @property
    def previous_page(self) -> int | None:
        """The number of the page before, if there is one."""
        return self.page - 1 if self.page > 1 else None
