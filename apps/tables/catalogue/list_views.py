"""The list of tables, and the search of the whole app."""

from dataclasses import asdict

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from deltaweb.web.pages.paging import page_links
from deltaweb.web.pages.request.parameters import cleaned
from deltaweb.web.pages.responses import respond
from deltaweb.web.tables.catalogue.forms import SearchForm
from deltaweb.web.tables.catalogue.listing import TABLES
from deltaweb.web.tables.catalogue.search import search_csv, search_keys, search_page
from deltaweb.web.tables.head.shapes import signed_in, table_resource

HITS = "search-hits"  # what the box of the top bar fills


@require_GET
def table_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the catalogue; htmx asks for the list alone."""
    return TABLES.answer(request, fmt)


@require_GET
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
        template="tables/search.html",
        context={
            "page": page,
            "links": links,
        },
        data={
            "q": q,
            "count": page.count,
            "next": links.next,
            "tables": [table_resource(table) for table in page.tables],
            "columns": [
                {
                    "table": column.table.full_name,
                    "column": column.path,
                    "type": column.type_text,
                }
                for column in page.columns
            ],
            **{
                found.kind.label.lower(): [asdict(hit) for hit in found.hits]
                for found in page.others
            },
        },
        rows=search_csv(user, q=q, kind=kind) if fmt == "csv" else None,
        fragment="hits" if request.headers.get("HX-Target") == HITS else "results",
    )
