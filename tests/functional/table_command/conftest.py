"""What tests of `deltaweb table` share."""

from pathlib import Path

import pytest

from deltaweb.table import DeltaTable


@pytest.fixture
def table(local_table: DeltaTable) -> Path:
    """The folder of a table, which the constant TABLE of the test's file builds."""
    return Path(local_table.root)
