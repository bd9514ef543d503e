"""The page of who can read a table."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase

from deltaweb.delta.features.known.clients import KNOWN_ON
from deltaweb.web.explorer.readers.selector import Readers, readers_of
from deltaweb.web.explorer.version.page import TablePage
from deltaweb.web.explorer.version.table_version import TableVersion
from deltaweb.web.pages.page_json import OnPage, Spread
from deltaweb.web.pages.responses import respond_page


@dataclass(frozen=True, kw_only=True)
class ReadersPage(TablePage):
    """Who reads a version; without `found` nothing is known of its protocol."""

    found: Spread[Readers | None]
    known_on: OnPage[str]


def table_readers(request: HttpRequest, at: TableVersion, fmt: str) -> HttpResponseBase:
    """Show which clients read a version, and what decides."""
    page = ReadersPage(at=at, found=readers_of(at), known_on=KNOWN_ON)
    return respond_page(
        request, fmt, page, template="explorer/readers/table_readers.html"
    )
