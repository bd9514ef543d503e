"""The page of who can read a table."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase

from apps.explorer.readers.selector import Readers, readers_of
from apps.explorer.version.page import TablePage
from apps.explorer.version.reads import table_read
from apps.explorer.version.table_version import TableVersion
from apps.pages.page_json import OnPage, Spread
from apps.pages.responses import respond_page
from deltaweb.delta.features.known.clients import known_on


@dataclass(frozen=True, kw_only=True)
class ReadersPage(TablePage):
    """Who reads a version; without `found` nothing is known of its protocol."""

    found: Spread[Readers | None]
    known_on: OnPage[str]


def table_readers(request: HttpRequest, at: TableVersion, fmt: str) -> HttpResponseBase:
    """Show which clients read a version, and what decides."""
    page = ReadersPage(at=at, found=readers_of(at), known_on=f"{known_on():%-d %B %Y}")
    return respond_page(
        request, fmt, page, template="explorer/readers/table_readers.html"
    )


table_read(
    "/readers",
    "TableReaders",
    "table-readers",
    ReadersPage,
    "List the clients that can read a version.",
)
