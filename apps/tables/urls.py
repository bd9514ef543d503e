"""The pages of the catalogue."""

from django.urls import path

from deltaweb.web.pages.urls import page
from deltaweb.web.tables.catalogue import list_views, register_views, settings_views
from deltaweb.web.tables.catalogue.adding.pages import (
    CONVERT_PAGE,
    CREATE_PAGE,
    IMPORT_PAGE,
)
from deltaweb.web.tables.catalogue.forms import (
    CatalogueForm,
    RegisterQueryForm,
    SearchForm,
)
from deltaweb.web.tables.catalogue.lakes import views as lake_views
from deltaweb.web.tables.catalogue.lakes.forms import LakeListForm
from deltaweb.web.tables.head import views as head_views
from deltaweb.web.tables.maintenance import views as maintenance_views
from deltaweb.web.tables.maintenance.editing.column_pages import (
    COLUMN_PAGE,
    COMMENT_PAGE,
)
from deltaweb.web.tables.maintenance.editing.property_page import PROPERTY_PAGE
from deltaweb.web.tables.maintenance.editing.row_pages import (
    DELETE_ROWS_PAGE,
    UPDATE_ROWS_PAGE,
)
from deltaweb.web.tables.maintenance.editing.rule_pages import (
    CONSTRAINT_PAGE,
    PROTOCOL_PAGE,
)
from deltaweb.web.tables.maintenance.optimize_page import OPTIMIZE_PAGE
from deltaweb.web.tables.maintenance.restore_page import RESTORE_PAGE
from deltaweb.web.tables.maintenance.upkeep_page import table_upkeep
from deltaweb.web.tables.maintenance.vacuum_page import VACUUM_PAGE

app_name = "tables"

urlpatterns = [
    *page(
        "tables/", list_views.table_list, "table-list", csv=True, takes=[CatalogueForm]
    ),
    *page(
        "tables/new",
        register_views.table_register,
        "table-register",
        takes=[RegisterQueryForm],
    ),
    *page(
        "tables/new/create",
        CREATE_PAGE.view,
        "table-new-create",
        takes=CREATE_PAGE.takes,
    ),
    *page(
        "tables/new/convert",
        CONVERT_PAGE.view,
        "table-new-convert",
        takes=CONVERT_PAGE.takes,
    ),
    *page(
        "tables/new/import",
        IMPORT_PAGE.view,
        "table-new-import",
        takes=IMPORT_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/import",
        IMPORT_PAGE.view,
        "table-import",
        takes=IMPORT_PAGE.takes,
    ),
    path("tables/check", register_views.location_check, name="location-check"),
    *page("tables/new/scan", lake_views.lake_new, "lake-new"),
    path("tables/scan", lake_views.table_scan, name="table-scan"),
    *page(
        "tables/lakes/", lake_views.lakes, "lake-list", csv=True, takes=[LakeListForm]
    ),
    *page("tables/lakes/<uuid:lake_id>", lake_views.lake_detail, "lake-detail"),
    path("tables/lakes/<uuid:lake_id>/scan", lake_views.lake_scan, name="lake-scan"),
    path(
        "tables/lakes/<uuid:lake_id>/remove",
        lake_views.lake_remove,
        name="lake-remove",
    ),
    path("tables/load-samples", register_views.load_samples, name="load-samples"),
    *page("search", list_views.search, "search", csv=True, takes=[SearchForm]),
    *page(
        "t/<str:namespace>/<str:name>/settings",
        settings_views.table_settings,
        "table-settings",
        takes=["v"],
    ),
    *page(
        "t/<str:namespace>/<str:name>/checkpoint",
        maintenance_views.table_checkpoint,
        "table-checkpoint",
        takes=["v"],
    ),
    *page(
        "t/<str:namespace>/<str:name>/cleanup",
        maintenance_views.table_cleanup,
        "table-cleanup",
        takes=["v"],
    ),
    *page(
        "t/<str:namespace>/<str:name>/optimize",
        OPTIMIZE_PAGE.view,
        "table-optimize",
        takes=OPTIMIZE_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/delete-rows",
        DELETE_ROWS_PAGE.view,
        "table-delete-rows",
        takes=DELETE_ROWS_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/update-rows",
        UPDATE_ROWS_PAGE.view,
        "table-update-rows",
        takes=UPDATE_ROWS_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/properties",
        PROPERTY_PAGE.view,
        "table-properties",
        takes=PROPERTY_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/columns",
        COLUMN_PAGE.view,
        "table-columns",
        takes=COLUMN_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/comments",
        COMMENT_PAGE.view,
        "table-comments",
        takes=COMMENT_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/constraints",
        CONSTRAINT_PAGE.view,
        "table-constraints",
        takes=CONSTRAINT_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/protocol",
        PROTOCOL_PAGE.view,
        "table-protocol",
        takes=PROTOCOL_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/restore",
        RESTORE_PAGE.view,
        "table-restore",
        takes=RESTORE_PAGE.takes,
    ),
    *page(
        "t/<str:namespace>/<str:name>/maintenance",
        table_upkeep,
        "table-upkeep",
        takes=["v"],
    ),
    *page(
        "t/<str:namespace>/<str:name>/vacuum",
        VACUUM_PAGE.view,
        "table-vacuum",
        takes=VACUUM_PAGE.takes,
    ),
    path(
        "t/<str:namespace>/<str:name>/refresh",
        head_views.table_refresh,
        name="table-refresh",
    ),
    path(
        "t/<str:namespace>/<str:name>/check-files",
        head_views.table_check_files,
        name="table-check-files",
    ),
    path(
        "t/<str:namespace>/<str:name>/remove",
        settings_views.table_remove,
        name="table-remove",
    ),
    path(
        "t/<str:namespace>/<str:name>/versions/<str:version>.json",
        head_views.version_tip,
        name="version-tip",
    ),
    path(
        "t/<str:namespace>/<str:name>/state", head_views.table_state, name="table-state"
    ),
]
