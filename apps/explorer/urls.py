"""The pages over one table, and the dashboard."""

from django.urls import path

from apps.explorer import views
from apps.explorer.views import partitions
from apps.explorer.views.column import column_detail, column_profile
from apps.explorer.views.use import table_use
from apps.pages.urls import page

app_name = "explorer"

TABLE = "t/<str:namespace>/<str:name>"
COMPARE = f"{TABLE}/compare/<int:before>...<int:after>"
NAMED = (views.compare_named, "compare-named")

urlpatterns = [
    *page("", views.dashboard, "dashboard", json_route="dashboard"),
    *page(f"{TABLE}/", views.table_overview, "table-overview"),
    *page(f"{TABLE}/use", table_use, "table-use"),
    *page(f"{TABLE}/data", views.row_list, "row-list", csv=True),
    *page(f"{TABLE}/data/<int:row>", views.row_detail, "row-detail"),
    path(f"{TABLE}/data/<int:row>/value", views.row_value, name="row-value"),
    *page(f"{TABLE}/schema", views.schema_detail, "schema-detail", csv=True),
    path(
        f"{TABLE}/schema-code/<str:language>",
        views.schema_code,
        name="schema-code",
    ),
    # The machine form comes first: a column may have any name.
    *reversed(page(f"{TABLE}/schema/<path:column>", column_detail, "column-detail")),
    path(f"{TABLE}/profile", column_profile, name="column-profile"),
    *page(f"{TABLE}/history", views.commit_list, "commit-list", csv=True),
    *page(f"{TABLE}/history/<int:version>", views.commit_detail, "commit-detail"),
    path(
        f"{TABLE}/history/<int:version>/actions",
        views.commit_raw,
        name="commit-raw",
    ),
    *page(f"{TABLE}/compare", views.compare_latest, "compare-latest", csv=True),
    *page(COMPARE, views.compare_detail, "compare-detail", csv=True),
    path(f"{COMPARE}/rows", views.compare_start, name="compare-start"),
    path(f"{COMPARE}/rows.parquet", views.compare_download, name="compare-download"),
    *reversed(page(f"{TABLE}/compare/<str:versions>", *NAMED, csv=True)),
    *page(f"{TABLE}/files", views.file_list, "file-list", csv=True),
    *page(
        f"{TABLE}/partitions",
        partitions.partition_list,
        "partition-list",
        csv=True,
    ),
]
