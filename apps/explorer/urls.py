"""The pages over one table, and the dashboard."""

from deltaweb.web.explorer.changes.view import change_list
from deltaweb.web.explorer.column.view import column_detail, column_profile
from deltaweb.web.explorer.commit.view import commit_detail, commit_raw
from deltaweb.web.explorer.compare.addresses import compare_latest, compare_named
from deltaweb.web.explorer.compare.view import (
    compare_detail,
    compare_download,
    compare_start,
)
from deltaweb.web.explorer.dashboard.view import dashboard
from deltaweb.web.explorer.files.view import file_list
from deltaweb.web.explorer.history.view import commit_list
from deltaweb.web.explorer.lanes.view import lanes_detail
from deltaweb.web.explorer.overview.view import table_overview
from deltaweb.web.explorer.parquet_file.place import (
    place_again,
    place_detail,
    place_text,
)
from deltaweb.web.explorer.parquet_file.view import file_detail, file_text
from deltaweb.web.explorer.parquet_table.view import parquet_detail
from deltaweb.web.explorer.partitions.view import partition_list
from deltaweb.web.explorer.readers.view import table_readers
from deltaweb.web.explorer.record.view import row_detail, row_value
from deltaweb.web.explorer.rows.view import row_list
from deltaweb.web.explorer.schema.view import schema_code, schema_detail
from deltaweb.web.explorer.use.view import UseForm, table_use
from deltaweb.web.pages.urls import action, answer, page

app_name = "explorer"

TABLE = "t/<str:namespace>/<str:name>"
COMPARE = f"{TABLE}/compare/<int:before>...<int:after>"
NAMED = (compare_named, "compare-named")
# The parameters of addresses that several pages take.
AT = ("v",)
ROWS = "col f sort cols"
FILE = "q page as group cols column groups bars op a b rows folder unlisted"
COMPARED = "view key page kind"

urlpatterns = [
    *page("", dashboard, "dashboard", json_route="dashboard", takes=["seen"]),
    *page(f"{TABLE}/", table_overview, "table-overview", takes=AT),
    *page(f"{TABLE}/use", table_use, "table-use", takes=[*AT, UseForm, ROWS]),
    *page(
        f"{TABLE}/data",
        row_list,
        "row-list",
        csv=True,
        takes=[*AT, ROWS, "page find fc fo fv vc vp vt"],
    ),
    *page(f"{TABLE}/data/<int:row>", row_detail, "row-detail", takes=[*AT, ROWS]),
    answer(f"{TABLE}/data/<int:row>/value", row_value, "row-value"),
    *page(
        f"{TABLE}/schema",
        schema_detail,
        "schema-detail",
        csv=True,
        takes=[*AT, "q page names"],
    ),
    *page(
        f"{TABLE}/schema-lanes",
        lanes_detail,
        "lanes-detail",
        csv=True,
        takes=[*AT, "q only page"],
    ),
    answer(f"{TABLE}/schema-code/<str:language>", schema_code, "schema-code"),
    # The machine form comes first: a column may have any name.
    *reversed(
        page(f"{TABLE}/schema/<path:column>", column_detail, "column-detail", takes=AT)
    ),
    action(f"{TABLE}/profile", column_profile, "column-profile"),
    *page(
        f"{TABLE}/history",
        commit_list,
        "commit-list",
        csv=True,
        takes=[*AT, "op user from to q before"],
    ),
    *page(
        f"{TABLE}/history/<int:version>",
        commit_detail,
        "commit-detail",
        takes=[*AT, "page"],
    ),
    answer(f"{TABLE}/history/<int:version>/actions", commit_raw, "commit-raw"),
    *page(
        f"{TABLE}/changes",
        change_list,
        "change-list",
        csv=True,
        takes=[*AT, "from to kind by is changed columns page"],
    ),
    *page(
        f"{TABLE}/compare",
        compare_latest,
        "compare-latest",
        csv=True,
        takes=[*AT, COMPARED, "from to pick"],
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
    *page(
        f"{TABLE}/files",
        file_list,
        "file-list",
        csv=True,
        takes=[*AT, "partition min max stats dv sort page"],
    ),
    answer(f"{TABLE}/files/<str:file>/text/<str:text>", file_text, "file-text"),
    *reversed(
        page(f"{TABLE}/files/<str:file>", file_detail, "file-detail", takes=[*AT, FILE])
    ),
    *page(f"{TABLE}/readers", table_readers, "table-readers", takes=AT),
    *page(
        f"{TABLE}/parquet",
        parquet_detail,
        "parquet-detail",
        csv=True,
        takes=[*AT, "page"],
    ),
    *page(
        f"{TABLE}/partitions",
        partition_list,
        "partition-list",
        csv=True,
        takes=[*AT, "partition q sort page picture"],
    ),
]
