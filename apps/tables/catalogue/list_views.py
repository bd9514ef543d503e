"""The list of tables, and the search of the whole app."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from apps.accounts.permissions import signed_in
from apps.pages.changes.change import VIEWER
from apps.pages.changes.read import Read, reads
from apps.pages.lists.paging import page_links
from apps.pages.page_json import Spread
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond
from apps.tables.catalogue.forms import SearchForm
from apps.tables.catalogue.listing import TABLES, catalogue_counts
from apps.tables.catalogue.search.page import search_csv, search_keys, search_page
from apps.tables.head.shapes import TableResource, table_resource


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFound:
    """A column whose name holds what was looked for."""

    table: str
    column: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What was found.

    Attributes:
        count: The total number of hits.
        next: The URL of the next page.
        others: Of each kind that other apps have, by its name: `shares`, `recipients`.
    """

    q: str
    count: int
    next: str | None
    tables: list[TableResource]
    columns: list[ColumnFound]
    others: Spread[Mapping[str, object]]


HITS = "search-hits"  # what the box of the top bar fills
FACETS: Final = "catalog-facets"  # they are loaded after a large page


def table_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the catalogue; htmx asks for the list alone, or for the facets."""
    if request.headers.get("HX-Target") == FACETS:
        counts = catalogue_counts(request.user, TABLES.query_of(request))
        context = {"facets": counts.others}
        return render(request, "tables/catalogue/_facets.html", context)
    return TABLES.answer(request, fmt)


def search(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the tables, columns and whatever else holds a word.

    While one types, htmx asks for the results of the page, or for the few that the box
    of the top bar offers.
    """
    user = signed_in(request)
    values = cleaned(SearchForm(request.GET, kinds=search_keys(user)))
    q, kind = values["q"], values["kind"]
    page = search_page(user, q=q, kind=kind, page=values["page"] or 1)
    links = page_links(request, page.paged)
    return respond(
        request,
        fmt,
        template="tables/catalogue/search.html",
        context={
            "page": page,
            "links": links,
        },
        data=SearchAnswer(
            q=q,
            count=page.count,
            next=links.next,
            tables=[table_resource(table) for table in page.tables],
            columns=[
                ColumnFound(
                    table=column.table.full_name,
                    column=column.path,
                    type=column.type_text,
                )
                for column in page.columns
            ],
            others={
                found.kind.label.lower(): [asdict(hit) for hit in found.hits]
                for found in page.others
            },
        ),
        rows=search_csv(user, q=q, kind=kind) if fmt == "csv" else None,
        fragment="hits" if request.headers.get("HX-Target") == HITS else "results",
    )


reads.register(
    Read(
        route="tables",
        view="TableList",
        page="tables:table-list",
        shows=TABLES,
        help="List tables.",
        role=VIEWER,
    )
)


reads.register(
    Read(
        route="search",
        view="Search",
        page="tables:search",
        shows=SearchAnswer,
        help="Search tables, columns, shares and recipients.",
        role=VIEWER,
    )
)
