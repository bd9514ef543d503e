"""A view of a table as code."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from apps.explorer.forms import RowQuery, parse_row_query
from apps.explorer.selectors.use import use_page
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.zones import user_zone
from apps.pages.responses import respond


@require_safe
def table_use(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show the code that reads a version, with the columns and rows of the address."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    query = parse_row_query(request.GET)
    page = use_page(
        at,
        query,
        user=request.user,
        zone=user_zone(request.user),
        data_url=request.build_absolute_uri(_data_address(at, query)),
    )
    return respond(
        request,
        fmt,
        template="explorer/table_use.html",
        fragment="use",
        context={"at": at, "head": at.head, "table": at.table, "page": page},
        data={**at.describe(), **page.describe()},
    )


def _data_address(at: TableVersion, query: RowQuery) -> str:
    names = [at.table.namespace, at.table.name]
    parts = [("v", str(at.version))]
    parts += [("col", column) for column in query.columns]
    parts += [("f", text) for text in query.filters]
    return f"{reverse('explorer:row-list-json', args=names)}?{urlencode(parts)}"
