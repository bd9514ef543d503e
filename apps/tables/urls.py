"""The pages of the catalogue."""

from django.urls import path

from apps.pages.urls import page
from apps.tables import views

app_name = "tables"

urlpatterns = [
    *page("tables/", views.table_list, "table-list", csv=True),
    *page("tables/new", views.table_register, "table-register"),
    path("tables/check", views.location_check, name="location-check"),
    path("tables/scan", views.table_scan, name="table-scan"),
    path("tables/load-samples", views.load_samples, name="load-samples"),
    *page("search", views.search, "search", csv=True),
    *page(
        "t/<str:namespace>/<str:name>/settings", views.table_settings, "table-settings"
    ),
    *page(
        "t/<str:namespace>/<str:name>/checkpoint",
        views.table_checkpoint,
        "table-checkpoint",
    ),
    *page("t/<str:namespace>/<str:name>/cleanup", views.table_cleanup, "table-cleanup"),
    path(
        "t/<str:namespace>/<str:name>/refresh",
        views.table_refresh,
        name="table-refresh",
    ),
    path(
        "t/<str:namespace>/<str:name>/check-files",
        views.table_check_files,
        name="table-check-files",
    ),
    path(
        "t/<str:namespace>/<str:name>/remove", views.table_remove, name="table-remove"
    ),
    path(
        "t/<str:namespace>/<str:name>/versions/<str:version>.json",
        views.version_tip,
        name="version-tip",
    ),
    path("t/<str:namespace>/<str:name>/state", views.table_state, name="table-state"),
]
