"""The pages of the catalogue."""

from django.urls import URLPattern

from apps.pages.changes.html import change_patterns
from apps.pages.urls import action, answer, page
from apps.tables.access import pages as access_pages
from apps.tables.access.listed import LISTED
from apps.tables.access.pages import AccessForm
from apps.tables.access.requested import REQUESTS
from apps.tables.catalogue import list_views, register_views, settings_views
from apps.tables.catalogue.adding.pages import (
    CONVERT_PAGE,
    CREATE_PAGE,
    IMPORT_PAGE,
)
from apps.tables.catalogue.forms import SearchForm
from apps.tables.catalogue.lakes import views as lake_views
from apps.tables.catalogue.lakes.views import LakeListForm
from apps.tables.catalogue.listing import TABLES
from apps.tables.catalogue.organizing import tree
from apps.tables.head import views as head_views
from apps.tables.health.listing import FINDINGS
from apps.tables.health.maintenance import table_maintenance
from apps.tables.health.thresholds import rules_page
from apps.tables.health.views import finding_list, finding_refused, finding_saved
from apps.tables.operations.checkpoint.page import CHECKPOINT_PAGE
from apps.tables.operations.clean_up.page import CLEAN_UP_PAGE
from apps.tables.operations.definition.column_pages import (
    COLUMN_PAGE,
    COMMENT_PAGE,
)
from apps.tables.operations.definition.property_page import PROPERTY_PAGE
from apps.tables.operations.definition.rule_pages import (
    CONSTRAINT_PAGE,
    PROTOCOL_PAGE,
)
from apps.tables.operations.optimize.page import OPTIMIZE_PAGE
from apps.tables.operations.pages.page import AnyPage
from apps.tables.operations.pages.visit import view_of
from apps.tables.operations.restore.page import RESTORE_PAGE
from apps.tables.operations.rows.page import DELETE_ROWS_PAGE, UPDATE_ROWS_PAGE
from apps.tables.operations.undo.page import UNDO_PAGE
from apps.tables.operations.vacuum.page import VACUUM_PAGE

app_name = "tables"

TABLE = "t/<str:namespace>/<str:name>"

PAGES: tuple[AnyPage, ...] = (
    CHECKPOINT_PAGE,
    CLEAN_UP_PAGE,
    COLUMN_PAGE,
    COMMENT_PAGE,
    CONSTRAINT_PAGE,
    DELETE_ROWS_PAGE,
    IMPORT_PAGE,
    OPTIMIZE_PAGE,
    PROPERTY_PAGE,
    PROTOCOL_PAGE,
    RESTORE_PAGE,
    UNDO_PAGE,
    UPDATE_ROWS_PAGE,
    VACUUM_PAGE,
)
NEW_TABLE_PAGES: tuple[AnyPage, ...] = (
    CREATE_PAGE,
    CONVERT_PAGE,
    IMPORT_PAGE,
)


def asks(on: AnyPage, folder: str, name: str) -> list[URLPattern]:
    """Return the addresses of the page of an operation, below a folder."""
    return page(
        f"{folder}{on.slug}",
        view_of(on),
        f"{name}{on.slug}",
        takes=on.takes,
        posts=True,
    )


urlpatterns = [
    *page(
        "tables/", list_views.table_list, "table-list", csv=True, takes=[TABLES.form]
    ),
    *change_patterns("pin"),
    *page("tables/tree", tree.table_tree, "table-tree", takes=[tree.TreeForm]),
    *change_patterns(
        "new-table",
        shown={"table-register": register_views.table_register},
        before={"table-register": register_views.unless_checked},
        answered={"table-register": register_views.registered},
    ),
    action("tables/check", register_views.location_check, "location-check"),
    *page(
        "health/", finding_list, "finding-list", csv=True, takes=[FINDINGS.form, "open"]
    ),
    *page("health/rules", rules_page, "rule-list"),
    *change_patterns(
        "health",
        answered={"finding-update": finding_saved},
        failed={"finding-update": finding_refused},
    ),
    *page("tables/new/scan", lake_views.lake_new, "lake-new"),
    *page(
        "tables/lakes/", lake_views.lakes, "lake-list", csv=True, takes=[LakeListForm]
    ),
    *change_patterns(
        "lake",
        shown={"lake-detail": lake_views.lake_detail},
        failed={
            "lake-connect": lake_views.lake_new_again,
            "table-scan": lake_views.lake_new_again,
        },
    ),
    action("tables/load-samples", register_views.load_samples, "load-samples"),
    *(one for on in NEW_TABLE_PAGES for one in asks(on, "tables/new/", "table-new-")),
    *(one for on in PAGES for one in asks(on, f"{TABLE}/", "table-")),
    *page(
        f"{TABLE}/access",
        access_pages.table_access,
        "table-access",
        csv=True,
        takes=["v", AccessForm],
    ),
    *page(
        "n/<str:namespace>/access",
        access_pages.namespace_access,
        "namespace-access",
        csv=True,
        takes=[AccessForm],
    ),
    *page(
        "requests/",
        access_pages.request_list,
        "request-list",
        csv=True,
        takes=[REQUESTS.form],
    ),
    answer("requests/<int:number>", access_pages.request_shown, "request-shown"),
    *page(
        "requests/listed",
        access_pages.listed_list,
        "listed-list",
        csv=True,
        takes=[LISTED.form],
    ),
    *change_patterns(
        "access",
        shown={
            "request-table": access_pages.request_page,
            "request-namespace": access_pages.request_page,
        },
    ),
    *change_patterns("namespace"),
    *page("search", list_views.search, "search", csv=True, takes=[SearchForm]),
    *change_patterns(
        "table",
        shown={"table-settings": settings_views.table_settings},
        failed={"table-remove": settings_views.removal_again},
    ),
    *page(
        f"{TABLE}/maintenance",
        table_maintenance,
        "table-maintenance",
        takes=["v"],
        posts=True,
    ),
    action(f"{TABLE}/refresh", head_views.table_refresh, "table-refresh"),
    action(f"{TABLE}/check-files", head_views.table_check_files, "table-check-files"),
    answer(
        f"{TABLE}/versions/<str:version>.json", head_views.version_tip, "version-tip"
    ),
    answer(f"{TABLE}/state", head_views.table_state, "table-state"),
]
