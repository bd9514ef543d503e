"""The pages over one table, and the dashboard."""

from django.urls import URLPattern

from apps.explorer.changes.view import change_list
from apps.explorer.column.view import column_detail, column_profile
from apps.explorer.column_history.view import column_history
from apps.explorer.commit.view import commit_detail, commit_raw
from apps.explorer.compare.addresses import compare_latest, compare_named
from apps.explorer.compare.view import (
    compare_detail,
    compare_download,
    compare_start,
)
from apps.explorer.dashboard import dashboard
from apps.explorer.files.view import file_list
from apps.explorer.history.view import commit_list
from apps.explorer.overview.view import table_overview
from apps.explorer.parquet_file.place import (
    place_again,
    place_detail,
    place_text,
)
from apps.explorer.parquet_file.view import file_detail, file_text
from apps.explorer.parquet_table import parquet_detail
from apps.explorer.partitions.view import partition_list
from apps.explorer.readers.view import table_readers
from apps.explorer.record.view import row_by_key, row_detail, row_value
from apps.explorer.rows.download import row_file
from apps.explorer.rows.view import row_list
from apps.explorer.schema.view import schema_code, schema_detail, schema_profile
from apps.explorer.skipping.view import skipping_detail
from apps.explorer.use.view import UseForm, table_use
from apps.explorer.version.table_version import at_version
from apps.explorer.what_changed.view import CHANGED, what_changed
from apps.pages.request.parameters import Takes
from apps.pages.urls import View, action, answer, page
from apps.tables.work.export_rows import FORMS

app_name = "explorer"

TABLE = "t/<str:namespace>/<str:name>"
COMPARE = f"{TABLE}/compare/<int:before>...<int:after>"
NAMED = (compare_named, "compare-named")
# The parameters of addresses that several pages take.
AT = ("v",)
ROWS = "col f sort cols"
FILE = "q page as group cols column groups bars op a b rows folder unlisted"
COMPARED = "view key page kind"


def of_table(
    route: str, view: View, name: str, *, takes: Takes = (), csv: bool = False
) -> list[URLPattern]:
    """Return the patterns of a page over a table, at a version."""
    takes = [*AT, *takes]
    return page(f"{TABLE}{route}", at_version(view), name, csv=csv, takes=takes)


urlpatterns = [
    *page("", dashboard, "dashboard", json_route="dashboard", takes=["seen"]),
    *page(
        "what-changed/", what_changed, "what-changed", csv=True, takes=[CHANGED.form]
    ),
    *of_table("/", table_overview, "table-overview"),
    *page(f"{TABLE}/use", table_use, "table-use", takes=[*AT, UseForm, ROWS]),
    *of_table(
        "/data",
        row_list,
        "row-list",
        csv=True,
        takes=[ROWS, "page limit count facet suggest find fc fo fv vc vp vt"],
    ),
    *(
        answer(
            f"{TABLE}/data.{form}", at_version(row_file), f"row-file-{form}", form=form
        )
        for form in FORMS
    ),
    *of_table("/data/<int:row>", row_detail, "row-detail", takes=[ROWS]),
    answer(f"{TABLE}/data/<int:row>/value", at_version(row_value), "row-value"),
    *reversed(of_table("/rows/<path:key>", row_by_key, "row-by-key", takes=[ROWS])),
    *of_table(
        "/schema", schema_detail, "schema-detail", csv=True, takes=["q page names"]
    ),
    *of_table(
        "/schema-lanes",
        column_history,
        "column-history",
        csv=True,
        takes=["q only page"],
    ),
    answer(
        f"{TABLE}/schema-code/<str:language>", at_version(schema_code), "schema-code"
    ),
    # The machine form comes first: a column may have any name.
    *reversed(of_table("/schema/<path:column>", column_detail, "column-detail")),
    action(f"{TABLE}/profile", column_profile, "column-profile"),
    action(f"{TABLE}/profiles", schema_profile, "schema-profile"),
    *of_table(
        "/history",
        commit_list,
        "commit-list",
        csv=True,
        takes=["op user from to q before"],
    ),
    *page(
        f"{TABLE}/history/<int:version>",
        commit_detail,
        "commit-detail",
        takes=[*AT, "page"],
    ),
    answer(f"{TABLE}/history/<int:version>/actions", commit_raw, "commit-raw"),
    *of_table(
        "/changes",
        change_list,
        "change-list",
        csv=True,
        takes=["from to kind by is changed columns page"],
    ),
    *page(
        f"{TABLE}/compare",
        compare_latest,
        "compare-latest",
        csv=True,
        takes=[*AT, COMPARED, "from to pick by"],
    ),
    *page(COMPARE, compare_detail, "compare-detail", csv=True, takes=[COMPARED]),
    action(f"{COMPARE}/rows", compare_start, "compare-start"),
    answer(f"{COMPARE}/rows.parquet", compare_download, "compare-download"),
    *reversed(
        page(f"{TABLE}/compare/<str:versions>", *NAMED, csv=True, takes=[COMPARED])
    ),
    *page("parquet", place_detail, "place-detail", takes=[FILE, "location"]),
    action("parquet/again", place_again, "place-again"),
    answer("parquet/text/<str:text>", place_text, "place-text"),
    *of_table(
        "/files",
        file_list,
        "file-list",
        csv=True,
        takes=["partition min max stats dv sort page"],
    ),
    answer(
        f"{TABLE}/files/<str:file>/text/<str:text>", at_version(file_text), "file-text"
    ),
    *reversed(of_table("/files/<str:file>", file_detail, "file-detail", takes=[FILE])),
    *of_table("/readers", table_readers, "table-readers"),
    *of_table("/parquet", parquet_detail, "parquet-detail", csv=True, takes=["page"]),
    *of_table(
        "/partitions",
        partition_list,
        "partition-list",
        csv=True,
        takes=["partition q sort page picture"],
    ),
    *of_table(
        "/skipping",
        skipping_detail,
        "skipping-detail",
        csv=True,
        takes=["where show group page row_groups"],
    ),
]
