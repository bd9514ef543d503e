"""The table of orders in the catalogue, and somebody who looks at it."""

from pathlib import Path

import pytest
from django.utils import timezone

from deltaweb.web.tables.index.folders import new_index_folder
from deltaweb.web.tables.index.results import store_result
from deltaweb.web.tables.models import Table
from tests.functional.compare_versions.compared_orders import write_orders
from tests.support.index.index_builds import build_index
from tests.support.pages.factories import new_unindexed_table
from tests.support.tables.versioned_table import VersionedTable


@pytest.fixture
def written(tmp_path: Path) -> VersionedTable:
    return write_orders(tmp_path / "orders")


@pytest.fixture
def table(written: VersionedTable) -> Table:
    found = new_unindexed_table("orders", location=written.store.root)
    folder = new_index_folder(found.id, now=timezone.now(), mark="test")
    result = build_index(found.location, None, folder)
    store_result(found, result, now=timezone.now())
    found.refresh_from_db()
    return found
