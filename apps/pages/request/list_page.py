"""A list declared once: its columns and filters, and every form of it follows.

    JOBS = ListPage(
        entries="jobs",  # what the JSON form calls them
        template="jobs/job_list.html",
        columns=(Column(key="job", label="Job", fields=("title",)), ...),
        filters={"q": forms.CharField(required=False), "state": WordField(STATES)},
        default_sort="-asked",
        page=job_page,  # (user, query, now) -> rows of one page
        entry=JobResource,
        every=every_job,  # (user, query, now) -> what CSV holds, not the page alone
    )

The address takes the filters, `sort` and `page`. A row's fields are its JSON form, an
entry's the columns of CSV (`page_json`). Templates have `page`, `query`, `headers`,
`sorts` and `links`, and draw on the parts in `templates/pages/`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Generic, Protocol, TypeVar

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from apps.pages.lists.fields import SortField
from apps.pages.lists.paging import Keyset, Paged, page_links
from apps.pages.lists.sorting import Column, sort_headers, sort_options
from apps.pages.page_json import csv_rows, json_with
from apps.pages.request.parameters import cleaned
from apps.pages.request.server_paths import for_reader
from apps.pages.responses import respond

MAX_PAGE: Final = 1_000_000
MAX_KEY: Final = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """What a list is asked for; empty values filter nothing.

    Attributes:
        sort: A value of `?sort=`: a key of the list's columns, or one with `-` in
            front.
        page: Which page, from 1.
        before: The key that a page comes after, in a list of `Keyset` pages.
    """

    filters: Mapping[str, Any]
    sort: str
    page: int = 1
    before: int | None = None

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 (as the field cleaned it)
        """Return the value of a filter."""
        return self.filters[name]

    @property
    def is_filtered(self) -> bool:
        """Whether something else than all is asked for."""
        return any(self.filters.values())


class Listed(Protocol):
    """One page of a list."""

    @property
    def rows(self) -> Sequence[object]:
        """Its rows, dataclasses as `page_json` reads them."""

    @property
    def paged(self) -> Paged | Keyset: ...


L = TypeVar("L", bound=Listed)
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOfRows(Generic[R]):
    """One page of a list, and what its template gets besides."""

    rows: Sequence[R]
    paged: Paged
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ListPage(Generic[L]):
    """A list; see the module.

    Attributes:
        entries: The key of its rows in JSON.
        template: Of the page.
        fragment: The part of it that htmx asks for.
        columns: From left to right; none where there is one order alone.
        default_sort: The order without `?sort=`: a key, or one with `-` in front.
        is_keyset: Whether its pages are `Keyset` ones.
        page: Returns one page of what a user may see, at a moment.
        entry: The dataclass of a line of CSV.
        every: Returns what all pages hold, as such dataclasses.
        more: What the template needs besides.
    """

    entries: str
    template: str
    fragment: str = ""
    columns: Sequence[Column] = ()
    default_sort: str = ""
    is_keyset: bool = False
    filters: Mapping[str, forms.Field]
    page: Callable[[Any, ListQuery, datetime], L]
    entry: type[Any]
    every: Callable[[Any, ListQuery, datetime], Iterable[Any]]
    more: Callable[[HttpRequest, L], Mapping[str, object]] = lambda *_: {}

    @cached_property
    def form(self) -> type[forms.Form]:
        """The parameters of its address."""
        key = forms.IntegerField(min_value=1, max_value=MAX_KEY, required=False)
        page = forms.IntegerField(min_value=1, max_value=MAX_PAGE, required=False)
        order = {"sort": SortField(self.columns)} if self.columns else {}
        place = {"before": key} if self.is_keyset else {"page": page}
        return type("ListForm", (forms.Form,), {**self.filters, **order, **place})

    def query(
        self,
        *,
        sort: str = "",
        page: int = 1,
        before: int | None = None,
        **filters: object,
    ) -> ListQuery:
        """Return what is asked for, the filters that are not named left empty."""
        values = {name: filters.pop(name, "") for name in self.filters}
        if filters:
            raise TypeError(*filters)
        sort = sort or self.default_sort
        return ListQuery(filters=values, sort=sort, page=page, before=before)

    def query_of(self, request: HttpRequest) -> ListQuery:
        """Return the query of the address."""
        values = cleaned(self.form(request.GET))
        sort = values.pop("sort", "")
        before, number = values.pop("before", None), values.pop("page", None) or 1
        return self.query(sort=sort, page=number, before=before, **values)

    def answer(
        self, request: HttpRequest, fmt: str, *, status: int = 200, **context: object
    ) -> HttpResponseBase:
        """Answer in the form that the address asks for."""
        query = self.query_of(request)
        sort = query.sort if request.GET.get("sort") else ""
        now = timezone.now()
        if fmt == "csv":
            entries = self.every(request.user, query, now)
            rows = for_reader(csv_rows(self.entry, entries))
            return respond(request, fmt, template="", context={}, data=None, rows=rows)
        page = self.page(request.user, query, now)
        links = page_links(request, page.paged)
        return respond(
            request,
            fmt,
            template=self.template,
            context={
                "page": page,
                "query": query,
                "headers": sort_headers(request, self.columns, query.sort),
                "sorts": sort_options(self.columns, sort, default=self.default_sort),
                "sort": sort,
                "links": links,
                **self.more(request, page),
                **context,
            }
            if fmt == "html"
            else {},
            data=json_with(page.paged, next=links.next) | {self.entries: page.rows},
            fragment=self.fragment,
            status=status,
        )
