"""The table of orders in the catalogue, and somebody who looks at it."""

from pathlib import Path

import pytest

from apps.tables.models import Table
from tests.functional.compare_versions.compared_orders import write_orders
from tests.support.index.indexed_tables import new_sample_table
from tests.support.tables.versioned_table import VersionedTable


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> VersionedTable:
    """The table itself, which is as it was after each test."""
    return write_orders(tmp_path_factory.mktemp("compared") / "orders")


@pytest.fixture
def table(written: VersionedTable) -> Table:
    return new_sample_table("orders", Path(written.store.root))
