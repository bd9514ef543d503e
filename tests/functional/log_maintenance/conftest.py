"""A table of weekly commits in the catalogue, and an editor who looks after its log."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from apps.tables.models import Table
from tests.support.tables.weekly_table import (
    copy_log,
    new_weekly_table,
    write_weekly_log,
)

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings


@pytest.fixture(autouse=True)
def home(settings: "Settings", tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    return tmp_path / "home"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_weekly_log(tmp_path_factory.mktemp("lake") / "orders")


@pytest.fixture
def folder(log: Path, tmp_path: Path) -> Path:
    return copy_log(log, tmp_path / "orders")


@pytest.fixture
def orders(folder: Path) -> Table:
    return new_weekly_table(folder)
