"""The pages: a view reads its query, asks a selector and answers in three forms."""

from apps.explorer.views.commit import commit_detail, commit_raw
from apps.explorer.views.compare import (
    compare_detail,
    compare_download,
    compare_start,
)
from apps.explorer.views.compare_addresses import compare_latest, compare_named
from apps.explorer.views.dashboard import dashboard
from apps.explorer.views.files import file_list
from apps.explorer.views.history import commit_list
from apps.explorer.views.overview import table_overview
from apps.explorer.views.record import row_detail, row_value
from apps.explorer.views.rows import row_list
from apps.explorer.views.schema import schema_code, schema_detail

__all__ = [
    "commit_detail",
    "commit_list",
    "commit_raw",
    "compare_detail",
    "compare_download",
    "compare_latest",
    "compare_named",
    "compare_start",
    "dashboard",
    "file_list",
    "row_detail",
    "row_list",
    "row_value",
    "schema_code",
    "schema_detail",
    "table_overview",
]
