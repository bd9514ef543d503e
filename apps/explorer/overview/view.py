"""The first page of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from deltaweb.web.explorer.columns.tree import SchemaColumn
from deltaweb.web.explorer.history.parameters import Parameter
from deltaweb.web.explorer.overview.domains import shown_domains
from deltaweb.web.explorer.overview.selector import SCHEMA_ROWS, Overview, overview
from deltaweb.web.explorer.schema.log import inline_schema
from deltaweb.web.explorer.schema.view import LOG_FORM, code_url
from deltaweb.web.explorer.version.gone import GoneVersion, gone_version
from deltaweb.web.explorer.version.indexed import known_files
from deltaweb.web.explorer.version.page import TablePage
from deltaweb.web.explorer.version.table_version import TableVersion, table_version
from deltaweb.web.pages.page_json import As, OnPage, Spread, in_json
from deltaweb.web.pages.request.server_paths import place_for_reader, text_for_reader
from deltaweb.web.pages.responses import respond_page
from deltaweb.web.tables.models import ProtocolVersion, Table
from deltaweb.web.tables.versions.missing_files import lacking_versions

MAX_LACKING = 500  # runs of versions that the JSON form names


def _place(table: Table) -> dict[str, object]:
    error = {
        "code": table.error_code,
        "message": text_for_reader(table.error, table.location),
        "hint": text_for_reader(table.error_hint, table.location),
        "since": table.error_since,
    }
    return {
        "location": place_for_reader(table.location),
        "description": table.description,
        "restricted": table.restricted,
        "error": error if table.error_code else None,
        "files_checked_at": table.files_checked_at,
    }


def _protocol(protocol: ProtocolVersion) -> dict[str, object]:
    return {
        "min_reader_version": protocol.min_reader_version,
        "min_writer_version": protocol.min_writer_version,
        "reader_features": protocol.reader_features,
        "writer_features": protocol.writer_features,
    }


def _metadata(at: TableVersion) -> dict[str, object] | None:
    if at.metadata is None:
        return None
    return {
        "id": at.metadata.metadata_id,
        "name": at.metadata.metadata_name,
        "description": at.metadata.description,
        "format": at.metadata.format_provider,
        "schema_string": inline_schema(at.metadata),
        "schema_url": code_url(at, LOG_FORM),
        "partition_columns": at.metadata.partition_columns,
        "configuration": at.metadata.configuration,
        "created_time": at.metadata.created_time,
    }


@dataclass(frozen=True, kw_only=True)
class TableOverview(TablePage):
    """The first page of a table; without `page` nothing is indexed."""

    place: Spread[Mapping[str, object]]
    page: Spread[Overview | None]
    gone: GoneVersion | None
    protocol: Annotated[ProtocolVersion | None, As(_protocol)]
    schema_rows: OnPage[Sequence[SchemaColumn]]

    @in_json
    def metadata(self) -> dict[str, object] | None:
        """The metadata of the version, a long schema by its address alone."""
        return _metadata(self.at)

    @in_json
    def partition_columns(self) -> Sequence[str]:
        """What files are partitioned by."""
        return self.at.metadata.partition_columns if self.at.metadata else []

    @in_json
    def clustering_columns(self) -> Sequence[str]:
        """What files of the newest version are laid out by."""
        return self.at.clustering_columns

    @in_json
    def domains(self) -> Mapping[str, str]:
        """What the newest version's metadata says, by its domain."""
        return self.at.domains

    @property
    def shown_domains(self) -> list[Parameter]:
        """The same in words, but for what says nothing."""
        return shown_domains(self.at.domains, self.at.clustering_columns)

    @in_json
    def unreadable(self) -> str | None:
        """Why the rows cannot be read."""
        return self.at.unreadable_reason or None

    @in_json
    def readable_versions(self) -> list[dict[str, object]]:
        """Which versions can be read, in runs."""
        runs = self.head.timeline.runs if self.head.timeline else ()
        return [
            {"first": run.first, "last": run.last, "state": run.state} for run in runs
        ]

    @in_json
    def missing_files(self) -> list[dict[str, object]]:
        """Which versions lack files, in runs."""
        return [
            {"first": row.first_version, "last": row.last_version, **row.describe()}
            for row in lacking_versions(self.table, MAX_LACKING)
        ]


@require_safe
def table_overview(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show what a table holds, how it got there and what it is made of."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    found = overview(at, known_files(at)) if at.is_indexed else None
    page = TableOverview(
        at=at,
        place=_place(at.table),
        page=found,
        gone=gone_version(at),
        protocol=at.protocol,
        schema_rows=found.tree.head(SCHEMA_ROWS) if found else (),
    )
    return respond_page(
        request, fmt, page, template="explorer/overview/table_overview.html"
    )
