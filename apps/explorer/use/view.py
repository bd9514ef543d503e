"""A view of a table as code."""

from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

from apps.accounts.zones import user_zone
from apps.explorer.rows.form import RowQuery, parse_row_query
from apps.explorer.use.selector import TableUse, use_page
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion, table_version
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond_page


class UseForm(forms.Form):
    """Whether the code names the version, or reads whichever is the newest."""

    newest = forms.BooleanField(required=False)


def table_use(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show the code that reads a version, with the columns and rows of the address."""
    asked = cleaned(UseForm(request.GET))
    # Code for the newest version is written by what the newest version is.
    wanted = "" if asked["newest"] else request.GET.get("v", "")
    at = table_version(request.user, namespace, name, wanted)
    query = parse_row_query(request.GET)
    page = use_page(
        at,
        query,
        user=request.user,
        zone=user_zone(request.user),
        data_url=request.build_absolute_uri(
            _data_address(at, query, newest=asked["newest"])
        ),
        newest=asked["newest"],
    )
    return respond_page(
        request, fmt, page, template="explorer/use/table_use.html", fragment="use"
    )


def _data_address(at: TableVersion, query: RowQuery, *, newest: bool) -> str:
    names = [at.table.namespace, at.table.name]
    parts = [] if newest else [("v", str(at.version))]
    parts += [("col", column) for column in query.columns]
    parts += [("f", text) for text in query.filters]
    address = reverse("explorer:row-list-json", args=names)
    return f"{address}?{urlencode(parts)}" if parts else address


table_read(
    "/use", "TableCode", "table-use", TableUse, "Get the code that reads a version."
)
