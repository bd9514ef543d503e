"""The catalogue: a view reads its query, asks a selector and answers in three forms."""

from apps.tables.views.catalogue import search, table_list
from apps.tables.views.register import (
    load_samples,
    location_check,
    table_register,
    table_scan,
)
from apps.tables.views.settings import table_remove, table_settings
from apps.tables.views.table_state import (
    table_check_files,
    table_refresh,
    table_state,
    version_tip,
)
from apps.tables.views.upkeep import table_checkpoint, table_cleanup

__all__ = [
    "load_samples",
    "location_check",
    "search",
    "table_check_files",
    "table_checkpoint",
    "table_cleanup",
    "table_list",
    "table_refresh",
    "table_register",
    "table_remove",
    "table_scan",
    "table_settings",
    "table_state",
    "version_tip",
]
