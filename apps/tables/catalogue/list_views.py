"""The list of tables, and the search of the whole app."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from deltaweb.web.pages.lists.sorting import sort_headers, sort_options
from deltaweb.web.pages.paging import page_links
from deltaweb.web.pages.responses import respond
from deltaweb.web.tables.catalogue.forms import COLUMNS, CatalogueForm, SearchForm
from deltaweb.web.tables.catalogue.listing import (
    DEFAULT_SORT,
    CatalogueQuery,
    CatalogueRow,
    catalogue_csv,
    catalogue_page,
)
from deltaweb.web.tables.catalogue.search import search_csv, search_keys, search_page
from deltaweb.web.tables.head.shapes import cleaned, signed_in, table_json

HITS = "search-hits"  # what the box of the top bar fills


@require_GET
def table_list(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the catalogue; htmx asks for the list alone."""
    user = signed_in(request)
    values = cleaned(CatalogueForm(request.GET))
    query = CatalogueQuery(
        q=values["q"],
        namespace=values["namespace"],
        status=values["status"],
        mark=values["mark"],
        feature=values["feature"],
        writer=values["writer"],
        sort=values["sort"],
        page=values["page"] or 1,
    )
    page = catalogue_page(user, query)
    links = page_links(request, page.paged)
    return respond(
        request,
        fmt,
        template="tables/table_list.html",
        context={
            "page": page,
            "query": query,
            "headers": sort_headers(request, COLUMNS, query.sort or DEFAULT_SORT),
            "sorts": sort_options(COLUMNS, query.sort, default=DEFAULT_SORT),
            "links": links,
            "here": request.get_full_path(),
        },
        data={
            "count": page.paged.count,
            "next": links.next,
            "tables": [_row_json(row) for row in page.rows],
        },
        rows=catalogue_csv(user, query) if fmt == "csv" else None,
        fragment="table-rows",
    )


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
            "tables": [table_json(table) for table in page.tables],
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


def _row_json(row: CatalogueRow) -> dict[str, Any]:
    return table_json(row.table) | {
        "status": row.status,
        "user": row.user_name or None,
        "operation": row.operation or None,
        "commits_30d": row.commits_30d,
        "matched_columns": row.matched_columns,
    }
