"""Tables that are indexed as a worker indexes them, without a worker."""

from pathlib import Path

from django.utils import timezone

from apps.tables.index_folders import new_index_folder
from apps.tables.indexing import store_result
from apps.tables.models import Table
from deltaweb.index.build import build_index
from tests.factories import new_unindexed_table


def new_indexed_table(name: str, location: Path) -> Table:
    """Register the table at a location and index its newest version."""
    table = new_unindexed_table(name, location=str(location))
    folder = new_index_folder(table.id, now=timezone.now(), mark="test")
    store_result(table, build_index(str(location), None, folder), now=timezone.now())
    table.refresh_from_db()
    return table
