"""Queries of a version that the server holds, after a clean-up of the table's log."""

from pathlib import Path

import pyarrow as pa
import pytest

from apps.sharing.models import SharedTable
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.calls import Caller, files
from tests.functional.sharing_api.conftest import NewCaller
from tests.support.index.indexed_tables import index_table
from tests.support.pages.factories import (
    new_share,
    new_shared_table,
    new_unindexed_table,
)

pytestmark = pytest.mark.django_db
PATH = "/shares/sales/schemas/crm/tables/visits"


@pytest.fixture
def opened(tmp_path: Path) -> DeltaTable:
    schema = pa.schema([("id", pa.int64())])
    table = DeltaTable.create(str(tmp_path / "visits"), schema)
    table.append(pa.table({"id": [1]}, schema), checkpoint="never")
    return table


@pytest.fixture(params=["indexed", "not indexed"])
def shared(opened: DeltaTable, request: pytest.FixtureRequest) -> SharedTable:
    table = new_unindexed_table("crm.visits", location=opened.root)
    if request.param == "indexed":
        index_table(table)
    return new_shared_table(new_share("Sales"), "crm.visits", table=table)


@pytest.fixture
def acme(shared: SharedTable, new_caller: NewCaller) -> Caller:
    return new_caller("acme", shared.share)


def queried(caller: Caller, **asked: object) -> int:
    answer = caller.query(PATH, asked)
    assert answer.status_code == 200
    return len(files(answer))


def clean_up(table: DeltaTable) -> None:
    """Write a checkpoint and delete the commits before it."""
    version = table.create_checkpoint().version
    log = Path(table.root, "_delta_log")
    for number in range(version):
        (log / f"{number:020d}.json").unlink()


def test_files_are_listed_and_skipped(opened: DeltaTable, acme: Caller) -> None:
    assert queried(acme) == 1
    opened.append(pa.table({"id": [50]}), checkpoint="never")
    opened.append(pa.table({"id": [99]}), checkpoint="never")
    clean_up(opened)

    assert queried(acme) == 3
    assert queried(acme, predicateHints=["id = 50"]) == 1
    opened.append(pa.table({"id": [100]}), checkpoint="never")
    assert queried(acme, predicateHints=["id >= 99"]) == 2


def test_files_are_listed_that_were_held_before(
    opened: DeltaTable, acme: Caller
) -> None:
    opened.append(pa.table({"id": [50]}), checkpoint="never")
    assert queried(acme) == 2
    version = opened.latest_version()
    clean_up(opened)

    assert queried(acme, predicateHints=["id = 50"]) == 1
    assert queried(acme, version=version, predicateHints=["id = 50"]) == 1
