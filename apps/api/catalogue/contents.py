"""What is in a table, as far as a job finds it out: profiles and comparisons."""

from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest, HttpResponseBase

from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.jobs import started
from apps.explorer.column.view import request_profile
from apps.explorer.compare.addresses import wanted_versions
from apps.explorer.compare.selector import compare_versions
from apps.explorer.compare.view import (
    ComparisonPage,
    comparison_page,
    start_comparison,
)
from apps.explorer.parquet_file.place import (
    MAX_LOCATION_LENGTH,
    inspect_again,
)
from apps.explorer.schema.view import request_profiles
from apps.explorer.urls import AT, COMPARED
from apps.explorer.version.query import text_of
from apps.jobs.listing.resource import Started
from apps.tables.head.finding import OF_TABLE, get_table

BOTH: Final = "from to"


class TableColumn(RestView):
    """The profile of a column."""

    @endpoint(Role.VIEWER, takes=AT, answers={202: Started})
    def post(
        self, request: HttpRequest, namespace: str, name: str, column: str
    ) -> Answer:
        """Start the profile of a column; GET then returns it."""
        user, wanted = signed_in(request), request.GET.get("v", "")
        return started(request_profile(user, namespace, name, wanted, column)[0])


class TableSchema(RestView):
    """The profiles of all columns."""

    @endpoint(Role.VIEWER, takes=AT, answers={202: Started})
    def post(self, request: HttpRequest, namespace: str, name: str) -> Answer:
        """Start the profile of every column; GET of a column then returns its own."""
        user, wanted = signed_in(request), request.GET.get("v", "")
        return started(request_profiles(user, namespace, name, wanted)[0])


class ParquetFile(RestView):
    """A Parquet file of whatever table, or of none."""

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


STARTS: Final[Mapping[str, type[RestView]]] = {
    f"{OF_TABLE}/schema": TableSchema,
    f"{OF_TABLE}/schema/<path:column>": TableColumn,
    "parquet": ParquetFile,
}
"""By the routes of reads, the views with what starts a job there."""
