"""One page of a list: where it stands, and the way to those beside it."""

from dataclasses import dataclass
from typing import Annotated, Final

from django.http import HttpRequest

from apps.pages.lists.links import changed
from apps.pages.page_json import Named, OnPage

PAGE_LENGTH: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged:
    """Where a page stands in its list.

    Attributes:
        page: Which page, from 1.
        num_pages: At least 1.
        first, last: Place of the first and last entry of the page, from 1; 0 of none.
    """

    count: int
    page: OnPage[int]
    num_pages: OnPage[int]
    first: OnPage[int]
    last: OnPage[int]

    @property
    def next_page(self) -> int | None:
        return self.page + 1 if self.page < self.num_pages else None

    @property
    def previous_page(self) -> int | None:
        return self.page - 1 if self.page > 1 else None

    @property
    def start(self) -> int:
        """Place of the first entry, from 0."""
        return max(0, self.first - 1)

    @property
    def rows(self) -> slice:
        """Which entries of the list are on the page."""
        return slice(self.start, self.last)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyset:
    """Where a page stands in a list that is too long to be counted and numbered.

    Attributes:
        count: The number of entries that match the filters, as far as counted.
        is_exact: Whether that is the whole truth.
        next_key: The key of the next page, or None at the end.
    """

    count: int
    is_exact: Annotated[bool, Named("count_is_exact")]
    next_key: OnPage[int | None]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLinks:
    """The addresses of the pages beside one, "" where there is none.

    `next` is that of the next page with its host, as scripts follow it.
    """

    next_url: OnPage[str] = ""
    previous_url: OnPage[str] = ""
    next: str | None = None


def page_links(request: HttpRequest, place: Paged | Keyset | None) -> PageLinks:
    """Return the way to the pages beside one; no way where there is no list."""
    if place is None:
        return PageLinks()
    if isinstance(place, Keyset):
        return links_between(request, None, place.next_key, "before")
    return links_between(request, place.previous_page, place.next_page)


def links_between(
    request: HttpRequest,
    previous: int | None,
    following: int | None,
    name: str = "page",
) -> PageLinks:
    """Return the way to a page before and one after, each by what `name` is there."""
    next_url = changed(request, **{name: following}) if following else ""
    return PageLinks(
        next_url=next_url,
        previous_url=changed(request, **{name: previous}) if previous else "",
        next=request.build_absolute_uri(next_url) if next_url else None,
    )
