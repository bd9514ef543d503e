"""What is in a table: its versions, columns, files, rows and changes."""

from typing import Final

from django.http import HttpRequest, HttpResponseBase

from deltaweb.web.api.calls.answers import Answer
from deltaweb.web.api.endpoint import RestView, Role, endpoint
from deltaweb.web.api.jobs import Started, started
from deltaweb.web.api.pages import page_endpoint
from deltaweb.web.explorer.changes.view import ChangeList
from deltaweb.web.explorer.commit.selector import CommitPage
from deltaweb.web.explorer.compare.addresses import wanted_versions
from deltaweb.web.explorer.compare.selector import compare_versions
from deltaweb.web.explorer.compare.view import (
    ComparisonPage,
    comparison_page,
    start_comparison,
)
from deltaweb.web.explorer.files.view import FileList
from deltaweb.web.explorer.history.view import HistoryPage
from deltaweb.web.explorer.partitions.view import PartitionList
from deltaweb.web.explorer.readers.view import ReadersPage
from deltaweb.web.explorer.rows.view import RowList
from deltaweb.web.explorer.schema.view import Schema
from deltaweb.web.explorer.urls import COMPARED, urlpatterns
from deltaweb.web.tables.head.shapes import signed_in
from deltaweb.web.tables.head.table_head import get_table

BOTH: Final = "from to"


class TableVersions(RestView):
    """The versions."""

    get = page_endpoint(
        urlpatterns, "commit-list", HistoryPage, "List versions, the newest first."
    )


class TableVersion(RestView):
    """One version."""

    get = page_endpoint(
        urlpatterns,
        "commit-detail",
        CommitPage,
        "Tell what the commit of a version did.",
    )


class TableSchema(RestView):
    """The columns."""

    get = page_endpoint(
        urlpatterns, "schema-detail", Schema, "List the columns of a version."
    )


class TableFiles(RestView):
    """The files."""

    get = page_endpoint(
        urlpatterns,
        "file-list",
        FileList,
        "List the files of a version.",
        waits=True,
    )


class TablePartitions(RestView):
    """The partitions."""

    get = page_endpoint(
        urlpatterns,
        "partition-list",
        PartitionList,
        "List the partitions of a version.",
        waits=True,
    )


class TableReaders(RestView):
    """The clients."""

    get = page_endpoint(
        urlpatterns,
        "table-readers",
        ReadersPage,
        "Tell which clients can read a version.",
    )


class TableRows(RestView):
    """The rows."""

    get = page_endpoint(
        urlpatterns,
        "row-list",
        RowList,
        "Read rows of a version.",
        waits=True,
        without="find fc fo fv vc vp vt",
    )


class TableChanges(RestView):
    """The changes."""

    get = page_endpoint(
        urlpatterns,
        "change-list",
        ChangeList,
        "Read the rows that versions inserted, updated and deleted.",
        waits=True,
    )


class TableDiff(RestView):
    """Two versions, compared."""

    @endpoint(
        Role.VIEWER,
        takes=[BOTH, COMPARED],
        answers={200: ComparisonPage, 202: ComparisonPage},
    )
    def get(self, request: HttpRequest, namespace: str, name: str) -> HttpResponseBase:
        """Compare two versions: files, schema, properties, protocol, or rows.

        Rows are compared once that was asked for by POST.
        """
        table = get_table(signed_in(request), namespace, name)
        versions = wanted_versions(request, table)
        return comparison_page(request, namespace, name, versions, "json")

    @endpoint(Role.VIEWER, takes=[BOTH, "key"], answers={202: Started})
    def post(self, request: HttpRequest, namespace: str, name: str) -> Answer:
        """Begin to compare the rows of two versions."""
        user = signed_in(request)
        versions = wanted_versions(request, get_table(user, namespace, name))
        found = compare_versions(user, namespace, name, *versions)
        return started(start_comparison(request, found, request.GET.get("key", "")))
