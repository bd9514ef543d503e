"""A table of a few versions in the catalogue, and an editor who works on it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from apps.jobs.models import Job
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.support.pages.answers import newest_job_done
from tests.support.pages.factories import (
    new_commit,
    new_metadata,
    new_protocol,
    new_table,
)
from tests.support.tables.table_builder import TableBuilder

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

SCHEMA = pa.schema([("p", pa.string()), ("id", pa.int64())])
NEWEST = 3


@pytest.fixture(autouse=True)
def home(settings: "Settings", tmp_path: Path) -> Path:
    settings.HOME = tmp_path / "home"
    return tmp_path / "home"


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Versions 1 to 3 append a file of two rows each, to partitions a and b."""
    folder = tmp_path_factory.mktemp("written") / "orders"
    builder = TableBuilder(folder).columns(SCHEMA).partitioned_by("p")
    for version, partition in enumerate(["a", "a", "b"], start=1):
        builder = builder.rows(p=[partition] * 2, id=[version * 10, version * 10 + 1])
    builder.build()
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    """The table of those versions, a copy of which a test may change."""
    return Path(shutil.copytree(written, tmp_path / "lake" / "orders"))


@pytest.fixture
def orders(folder: Path) -> Table:
    """The table as its index would have it in the database."""
    table = new_table(
        "orders",
        location=str(folder),
        version=NEWEST,
        latest_version_seen=NEWEST,
        summary={"readable_runs": [[0, NEWEST, "READABLE", ""]]},
    )
    new_protocol(table)
    metadata = DeltaTable(str(folder)).definition().metadata
    new_metadata(table, schema_string=metadata.schema_string, partition_columns=["p"])
    return table


def index_at(table: Table, version: int) -> None:
    """Let the database know a version, whose commit changed a file."""
    Table.objects.filter(id=table.id).update(
        version=version,
        latest_version_seen=version,
        summary={"readable_runs": [[0, version, "READABLE", ""]]},
    )
    new_commit(table, version)


Work = Callable[[], Job]


@pytest.fixture
def work() -> Work:
    """Do the newest job of an operation here, as a worker does."""
    return newest_job_done
