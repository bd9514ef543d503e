"""What is in a table: its versions, columns, files, rows and changes."""

from collections.abc import Callable
from typing import Any, Final

from django.http import HttpRequest, HttpResponseBase

from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import started
from apps.api.pages import page_endpoint
from apps.explorer.changes.view import ChangeList
from apps.explorer.column.view import Column as ColumnPage
from apps.explorer.column.view import request_profile
from apps.explorer.column_history.view import ColumnHistoryPage
from apps.explorer.commit.selector import CommitPage
from apps.explorer.compare.addresses import wanted_versions
from apps.explorer.compare.selector import compare_versions
from apps.explorer.compare.view import (
    ComparisonPage,
    comparison_page,
    start_comparison,
)
from apps.explorer.dashboard import Dashboard
from apps.explorer.files.view import FileList
from apps.explorer.history.view import HistoryPage
from apps.explorer.parquet_file.place import (
    MAX_LOCATION_LENGTH,
    PlacePage,
    inspect_again,
)
from apps.explorer.parquet_file.view import FilePage
from apps.explorer.parquet_table import ParquetPage
from apps.explorer.partitions.view import PartitionList
from apps.explorer.readers.view import ReadersPage
from apps.explorer.record.view import RecordPage
from apps.explorer.rows.view import RowList
from apps.explorer.schema.view import Schema
from apps.explorer.urls import AT, COMPARED, urlpatterns
from apps.explorer.use.selector import TableUse
from apps.explorer.version.query import text_of
from apps.jobs.listing.resource import Started
from apps.sharing import urls as sharing
from apps.sharing.shares.table_sharing import TableSharing
from apps.tables import urls as tables
from apps.tables.head.finding import get_table
from apps.tables.maintenance import MaintenancePage

BOTH: Final = "from to"


def _page(
    name: str,
    page: str,
    answers: type,
    says: str,
    **how: Any,  # noqa: ANN401 (as of `page_endpoint`)
) -> Callable[..., HttpResponseBase]:
    """Return the view of an address that answers what a page of the explorer does."""
    patterns = how.pop("patterns", urlpatterns)
    get = page_endpoint(patterns, page, answers, says, **how)
    view: Any = type(name, (RestView,), {"get": get})
    return view.as_view()  # type: ignore[no-any-return]  # as `RestView` has it


class TableColumn(RestView):
    """One column."""

    get = page_endpoint(
        urlpatterns,
        "column-detail",
        ColumnPage,
        "Get the statistics, history and profile of a column.",
    )

    @endpoint(Role.VIEWER, takes=AT, answers={202: Started})
    def post(
        self, request: HttpRequest, namespace: str, name: str, column: str
    ) -> Answer:
        """Start the profile of a column; GET then returns it."""
        user, wanted = signed_in(request), request.GET.get("v", "")
        return started(request_profile(user, namespace, name, wanted, column)[0])


class ParquetFile(RestView):
    """A Parquet file of whatever table, or of none."""

    get = page_endpoint(
        urlpatterns,
        "place-detail",
        PlacePage,
        "Inspect a Parquet file at any location.",
        waits=True,
        role=Role.EDITOR,
    )

    @endpoint(Role.EDITOR, takes=["location"], answers={202: Started})
    def post(self, request: HttpRequest) -> Answer:
        """Inspect a file again, in case it was replaced."""
        location = text_of(request.GET, "location")[:MAX_LOCATION_LENGTH]
        return started(inspect_again(location, signed_in(request)))


class TableDiff(RestView):
    """Two versions, compared."""

    @endpoint(
        Role.VIEWER,
        takes=[BOTH, COMPARED],
        answers={200: ComparisonPage, 202: ComparisonPage},
    )
    def get(self, request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
        """Compare two versions: files, schema, properties, protocol, or rows.

        Request a comparison of rows by POST first.
        """
        table = get_table(signed_in(request), namespace, name)
        versions = wanted_versions(request, table)
        return comparison_page(request, namespace, name, versions, "json")

    @endpoint(Role.VIEWER, takes=[BOTH, "key"], answers={202: Started})
    def post(self, request: HttpRequest, namespace: str, name: str) -> Answer:
        """Start a comparison of the rows of two versions."""
        user = signed_in(request)
        versions = wanted_versions(request, get_table(user, namespace, name))
        found = compare_versions(user, namespace, name, *versions)
        return started(start_comparison(request, found, request.GET.get("key", "")))


CONTENTS: Final = {
    "versions": _page(
        "TableVersions",
        "commit-list",
        HistoryPage,
        "List versions, the newest first.",
    ),
    "versions/<int:version>": _page(
        "TableVersion",
        "commit-detail",
        CommitPage,
        "Get the commit of a version.",
    ),
    "schema": _page(
        "TableSchema",
        "schema-detail",
        Schema,
        "List the columns of a version.",
    ),
    "schema/<path:column>": TableColumn.as_view(),
    "schema-lanes": _page(
        "TableLanes",
        "column-history",
        ColumnHistoryPage,
        "Get the history of each column.",
    ),
    "files": _page(
        "TableFiles",
        "file-list",
        FileList,
        "List the files of a version.",
        waits=True,
    ),
    "files/<str:file>": _page(
        "TableFile",
        "file-detail",
        FilePage,
        "Inspect a Parquet file of a version.",
        waits=True,
    ),
    "survey": _page(
        "TableSurvey",
        "parquet-detail",
        ParquetPage,
        "Get the contents of all Parquet files of a version.",
        waits=True,
    ),
    "partitions": _page(
        "TablePartitions",
        "partition-list",
        PartitionList,
        "List the partitions of a version.",
        waits=True,
    ),
    "readers": _page(
        "TableReaders",
        "table-readers",
        ReadersPage,
        "List the clients that can read a version.",
    ),
    "use": _page(
        "TableCode",
        "table-use",
        TableUse,
        "Get the code that reads a version.",
    ),
    "rows": _page(
        "TableRows",
        "row-list",
        RowList,
        "Read rows of a version.",
        waits=True,
        without="find fc fo fv vc vp vt",
    ),
    "rows/<int:row>": _page(
        "TableRow",
        "row-detail",
        RecordPage,
        "Read one row of a version, with its values whole.",
        waits=True,
    ),
    "changes": _page(
        "TableChanges",
        "change-list",
        ChangeList,
        "Read the rows that versions inserted, updated and deleted.",
        waits=True,
    ),
    "diff": TableDiff.as_view(),
    "maintenance": _page(
        "TableMaintenance",
        "table-maintenance",
        MaintenancePage,
        "Get the storage and the last maintenance runs of a table.",
        patterns=tables.urlpatterns,
        role=Role.EDITOR,
    ),
    "sharing": _page(
        "TableSharing",
        "table-sharing",
        TableSharing,
        "Get the shares, recipients and reads of a table.",
        patterns=sharing.urlpatterns,
        role=Role.EDITOR,
    ),
}
"""The addresses below a table, and their views."""
DASHBOARD: Final = _page(
    "Overview",
    "dashboard",
    Dashboard,
    "Get the latest commits, jobs and totals.",
    without="seen",
)
