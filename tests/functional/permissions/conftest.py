"""A lake with a private table; and the option that writes down who is answered what."""

from pathlib import Path

import pyarrow as pa
import pytest
from pytest_django.fixtures import Settings

from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.functional.permissions.outer_tables import SECRET
from tests.support.pages.factories import new_unindexed_table


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-access", action="store_true", help="write access.txt")


@pytest.fixture
def lake(tmp_path: Path, settings: Settings) -> Path:
    settings.ALLOWED_ROOTS = [str(tmp_path)]
    settings.HOME = tmp_path / "home"
    return tmp_path / "lake"


@pytest.fixture
def staff(lake: Path) -> Table:
    """A private table of one file."""
    made = DeltaTable.create(str(lake / "staff"), pa.schema({"salary": pa.int64()}))
    made.append(pa.table({"salary": [SECRET]}))
    return new_unindexed_table(
        "hr.staff", location=str(lake / "staff"), is_private=True
    )
