"""The first page of a table."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from apps.explorer import services
from apps.explorer.selectors.gone_version import gone_version
from apps.explorer.selectors.history import commit_data
from apps.explorer.selectors.overview import SCHEMA_ROWS, Overview, overview
from apps.explorer.selectors.schema_log import inline_schema
from apps.explorer.selectors.version import TableVersion, table_version
from apps.explorer.views.schema import LOG_FORM, code_url
from apps.pages.responses import respond
from apps.tables.missing_files import lacking_versions

MAX_LACKING = 500  # runs of versions that the JSON form tells of


@require_safe
def table_overview(
    request: HttpRequest, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show what a table holds, how it got there and what it is made of."""
    at = table_version(request.user, namespace, name, request.GET.get("v", ""))
    page = overview(at, services.known_files(at)) if at.is_indexed else None
    return respond(
        request,
        fmt,
        template="explorer/table_overview.html",
        context={
            "at": at,
            "gone": gone_version(at),
            "head": at.head,
            "table": at.table,
            "page": page,
            "schema_rows": page.tree.head(SCHEMA_ROWS) if page else (),
        },
        data=_data(at, page) if fmt == "json" else {},
    )


def _data(at: TableVersion, page: Overview | None) -> dict[str, Any]:
    table = at.table
    data: dict[str, Any] = {
        **at.describe(),
        "location": table.location,
        "description": page.description if page else table.description,
        "restricted": table.restricted,
        "error": _error(at),
    }
    if page is None:
        return data
    numbers = page.numbers
    runs = at.head.timeline.runs if at.head.timeline else ()
    return data | {
        "num_files": numbers.num_files,
        "size_bytes": numbers.size_bytes,
        "num_records": numbers.num_records,
        "num_partitions": numbers.num_partitions,
        "num_commits": page.num_commits,
        "num_columns": page.tree.num_columns,
        "partition_columns": at.metadata.partition_columns if at.metadata else [],
        "protocol": _protocol(at),
        "metadata": _metadata(at),
        "unreadable": at.unreadable_reason or None,
        "gone": gone.describe() if (gone := gone_version(at)) else None,
        "readable_versions": [
            {"first": run.first, "last": run.last, "state": run.state} for run in runs
        ],
        "files_checked_at": table.files_checked_at,
        "missing_files": [
            {"first": row.first_version, "last": row.last_version, **row.describe()}
            for row in lacking_versions(table, MAX_LACKING)
        ],
        "latest_commits": [commit_data(commit) for commit in page.latest],
    }


def _error(at: TableVersion) -> dict[str, object] | None:
    table = at.table
    if not table.error_code:
        return None
    return {
        "code": table.error_code,
        "message": table.error,
        "hint": table.error_hint,
        "since": table.error_since,
    }


def _protocol(at: TableVersion) -> dict[str, object] | None:
    if at.protocol is None:
        return None
    return {
        "min_reader_version": at.protocol.min_reader_version,
        "min_writer_version": at.protocol.min_writer_version,
        "reader_features": at.protocol.reader_features,
        "writer_features": at.protocol.writer_features,
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
