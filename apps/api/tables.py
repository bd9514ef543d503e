"""The tables of the catalogue."""

from deltaweb.web.api.endpoint import RestView
from deltaweb.web.api.pages import list_of, page_endpoint
from deltaweb.web.explorer import urls as explorer
from deltaweb.web.explorer.overview.view import TableOverview
from deltaweb.web.tables import urls as tables
from deltaweb.web.tables.catalogue.listing import TABLES


class TableList(RestView):
    """The tables."""

    get = page_endpoint(
        tables.urlpatterns, "table-list", list_of(TABLES), "List tables."
    )


class Table(RestView):
    """One table."""

    get = page_endpoint(
        explorer.urlpatterns,
        "table-overview",
        TableOverview,
        "Tell what a table holds and what it is made of.",
    )
