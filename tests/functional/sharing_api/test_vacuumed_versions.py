"""Versions that a real VACUUM has hurt: told of, and never offered file by file."""

import shutil
import time
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from django.test import Client

from apps.accounts.models import User
from apps.sharing.models import SharedTable
from tests.functional.sharing_api.calls import Answer, Caller, body_of, days, error
from tests.functional.sharing_api.conftest import NewCaller
from tests.support import cases
from tests.support.index.indexed_tables import index_table
from tests.support.pages.factories import (
    new_share,
    new_shared_table,
    new_unindexed_table,
    new_user,
)

pytestmark = pytest.mark.django_db
NEWEST = 6  # a creation, three writes, a deletion, and both commits of the VACUUM
HURT = range(1, 4)  # the versions that need the file which is gone


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with a file a day, of which monday's was removed and vacuumed."""
    root = tmp_path_factory.mktemp("written") / "visits"
    schema = pa.schema([("id", pa.int64()), ("day", pa.string())])
    deltalake.DeltaTable.create(str(root), schema, partition_by=["day"])
    for number, day in enumerate(("monday", "tuesday", "friday")):
        rows = pa.table({"id": [number], "day": [day]}, schema=schema)
        deltalake.write_deltalake(str(root), rows, mode="append")
    table = deltalake.DeltaTable(str(root))
    table.delete("day = 'monday'")
    time.sleep(0.05)  # what is removed in the millisecond of a VACUUM stays
    gone = table.vacuum(
        retention_hours=0, dry_run=False, enforce_retention_duration=False
    )
    assert len(gone) == 1
    return root


@pytest.fixture
def root(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "lake" / "visits"))


@pytest.fixture
def shared(root: Path) -> SharedTable:
    """The table in a share, indexed."""
    table = new_unindexed_table("crm.visits", location=str(root))
    index_table(table)
    return new_shared_table(new_share("Sales"), "crm.visits", table=table)


@pytest.fixture
def acme(shared: SharedTable, new_caller: NewCaller) -> Caller:
    return new_caller("acme", shared.share)


def query(caller: Caller, **asked: Any) -> Answer:  # noqa: ANN401 (JSON)
    return caller.query("/shares/sales/schemas/crm/tables/visits", asked)


class TestAQuery:
    def test_of_a_version_that_lacks_files_is_refused(self, acme: Caller) -> None:
        for version in HURT:
            answer = query(acme, version=version)

            assert answer.status_code == 400
            assert error(answer)["errorCode"] == "RESOURCE_DOES_NOT_EXIST"
            assert f"Version {version} " in error(answer)["message"]
            assert "files of it were deleted" in error(answer)["message"]

    def test_of_another_version_is_answered(self, acme: Caller) -> None:
        for version in (0, 4, 5, NEWEST):
            answer = query(acme, version=version)

            assert answer.status_code == 200
            assert days(answer) == (["friday", "tuesday"] if version else [])
        assert days(query(acme)) == ["friday", "tuesday"]

    def test_of_files_that_are_there_still_is_answered(self, acme: Caller) -> None:
        answer = query(acme, version=3, predicateHints=["day = 'tuesday'"])

        assert days(answer) == ["tuesday"]

    def test_of_a_version_that_was_mended_is_answered(self, acme: Caller, root: Path):
        first = deltalake.DeltaTable(str(root), version=1)
        (monday,) = first.file_uris()
        Path(monday).write_bytes(b"restored from a backup")

        assert days(query(acme, version=1)) == ["monday"]

    def test_of_the_newest_version_is_never_refused_for_what_an_old_index_says(
        self, acme: Caller, shared: SharedTable
    ) -> None:
        shared.table.summary = {"readable_runs": [[0, 99, "PARTLY", "a mistake"]]}
        shared.table.save()

        assert days(query(acme)) == ["friday", "tuesday"]


def test_metadata_of_such_a_version_is_told(acme: Caller) -> None:
    answer = acme.get("/shares/sales/schemas/crm/tables/visits/metadata?version=1")

    assert answer.status_code == 200
    assert b"schemaString" in body_of(answer)


class TestThePageOfTheShare:
    @pytest.fixture
    def admin(self, client: Client) -> Client:
        client.force_login(new_user("ada", role=User.Role.ADMIN))
        return client

    @cases(
        "offer, told, lost",
        {
            "all": ({}, "v1 to v3 cannot be read any more", [[1, 3]]),
            "some": ({"start_version": 3}, "v3 cannot be read any more", [[3, 3]]),
            "none": ({"start_version": 4}, "", []),
            "the newest alone": ({"with_history": False}, "", []),
        },
    )
    @pytest.mark.usefixtures("acme")
    def test_lists_the_versions_that_cannot_be_read(
        self,
        admin: Client,
        shared: SharedTable,
        offer: dict[str, object],
        told: str,
        lost: list[list[int]],
    ) -> None:
        SharedTable.objects.filter(id=shared.id).update(**offer)

        page = admin.get("/shares/sales/").content.decode()
        (table,) = admin.get("/shares/sales.json").json()["tables"]

        assert told in page
        assert ("cannot be read any more" in page) == bool(told)
        assert table["lost_versions"] == lost
