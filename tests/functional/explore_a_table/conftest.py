"""The sample table of orders."""

from pathlib import Path

import pytest

from apps.tables.models import Table
from tests.support.index.indexed_tables import new_sample_table


@pytest.fixture
def orders(lake: Path) -> Table:
    return new_sample_table("orders", lake / "orders")
