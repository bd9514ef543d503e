"""Changes of a table of which recipients see a part: by the same rule as its rows."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pytest_django import Settings

from apps.sharing.models import PreparedChanges, PreparedFile
from deltaweb.delta.features.change_feed import CHANGE_DATA_FEED_PROPERTY
from tests.functional.sharing_api.calls import Caller, body_of, error, lines
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_api.ruled import IN_DELTA, Ruled, new_staff, rows
from tests.support.pages.factories import new_share, new_shared_table, new_table

EU = "region = 'EU' AND id >= 0"  # never true for whole partitions alone
PROPERTIES = {CHANGE_DATA_FEED_PROPERTY: "true"}


OTHERS = {
    "partition_by": ["region"],
    "properties": {
        "delta.columnMapping.mode": "name",
        "delta.enableDeletionVectors": "true",
    },
}


@pytest.fixture
def staff(db, tmp_path: Path, settings: Settings, request) -> Ruled:  # noqa: ARG001 (a database)
    facts = getattr(request, "param", {})
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    root = tmp_path / "lake" / "staff"
    table = new_table("hr.staff", location=str(root), version=3)
    shared = new_shared_table(new_share("People"), "hr.staff", table=table)
    properties = PROPERTIES | facts.get("properties", {})
    return Ruled(new_staff(root, **(facts | {"properties": properties})), shared)


@pytest.fixture
def acme(staff: Ruled, new_caller: NewCaller) -> Caller:
    return new_caller("acme", staff.shared.share)


def kinds(found: list[tuple[int, str, dict[str, Any]]]) -> list[tuple[int, str, Any]]:
    return [(version, kind, row["id"]) for version, kind, row in found]


@pytest.mark.parametrize(
    "staff",
    [
        pytest.param({}, id="plain"),
        pytest.param(OTHERS, id="of partitions, vectors and mapped columns"),
    ],
    indirect=True,
)
def test_a_row_that_crosses_the_border_comes_or_goes(staff, acme) -> None:
    staff.rule(EU)
    staff.prepare()
    staff.table.update({"region": "'US'"}, "id = 1")
    staff.table.update({"region": "'EU'"}, "id = 5")
    staff.table.update({"salary": "salary + 1"}, "id IN (2, 6)")
    staff.table.delete("id IN (3, 7)")
    staff.table.append(
        pa.concat_tables([rows(20, 1, "EU"), rows(21, 1, "US", "secret")])
    )
    staff.prepare()

    found = staff.changes(acme, 4)

    assert kinds(found) == [
        (4, "delete", 1),
        (5, "insert", 5),
        (6, "delete", 2),
        (6, "insert", 2),
        (7, "delete", 3),
        (8, "insert", 20),
    ]
    assert kinds(staff.changes(acme, 5, 6)) == kinds(found)[1:4]
    # What was hidden when it was written came into sight with row 5.
    assert staff.has_served("US", "secret-6", "secret-7", "secret-21") == []


def test_of_hidden_columns_are_none(staff: Ruled, acme: Caller) -> None:
    staff.rule("", "id", "region")
    staff.prepare()
    staff.table.update({"salary": "1"}, "id < 5")
    staff.table.update({"region": "'XX'"}, "id = 5")
    staff.prepare()

    assert staff.changes(acme, 4) == [
        (5, "delete", {"id": 5, "region": "US"}),
        (5, "insert", {"id": 5, "region": "XX"}),
    ]
    assert staff.has_served("salary", "note", "secret") == []


def test_come_in_pages_that_are_one_answer(staff: Ruled, acme: Caller) -> None:
    staff.rule(EU, "id")
    staff.prepare()
    for number in range(4):
        staff.table.append(rows(30 + number, 1, "EU"))
    staff.prepare()
    ask = f"{staff.path}/changes?startingVersion=4&endingVersion=7"
    whole = [line["file"]["id"] for line in lines(acme.get(ask, **IN_DELTA))[2:]]
    *first, end = lines(acme.get(f"{ask}&maxFiles=3", **IN_DELTA))
    token = end["endStreamAction"]["nextPageToken"]
    *rest, end = lines(acme.get(f"{ask}&maxFiles=3&pageToken={token}", **IN_DELTA))
    found = [line["file"]["id"] for line in (*first, *rest) if "file" in line]

    assert found == whole
    assert len(found) == 4
    (gone,) = PreparedFile.objects.filter(changes__version=7)
    PreparedChanges.objects.filter(files=gone).update(is_ready=False)
    assert acme.get(ask, **IN_DELTA).status_code == 400


def test_are_those_of_versions_that_are_ready(staff: Ruled, acme: Caller) -> None:
    staff.rule(EU)

    def said(asked: str) -> tuple[int, str]:
        answer = acme.get(f"{staff.path}/changes?{asked}")
        return answer.status_code, error(answer)["message"]

    assert said("startingVersion=0")[0] == 400
    staff.prepare()
    staff.table.append(rows(20, 1, "EU"))
    staff.prepare()
    staff.table.append(rows(21, 1, "EU"))

    code, message = said("startingVersion=0")
    is_said = "before version 4, because only a part" in message
    assert (code, is_said) == (400, True), message
    assert said("startingVersion=5")[0] == 409
    assert said("startingVersion=4&endingVersion=5")[0] == 409
    assert kinds(staff.changes(acme, 4)) == [(4, "insert", 20)]


def test_are_a_stream_of_files_that_were_added_and_removed(staff, acme) -> None:
    staff.rule(EU)
    staff.prepare()
    staff.table.append(
        pa.concat_tables([rows(20, 2, "EU"), rows(22, 1, "US", "secret")])
    )
    staff.table.update({"salary": "salary + 1"}, "id = 6")  # of what nobody sees
    staff.table.overwrite(pa.concat_tables([rows(0, 5, "EU"), rows(20, 1, "EU")]))
    staff.prepare()
    staff.table.append(rows(30, 1, "EU"))

    assert kinds(staff.stream(acme, 4)) == [
        (4, "add", 20),
        (4, "add", 21),
        *[(6, "remove", number) for number in (10, 11, 12, 21)],
    ]
    assert staff.has_served("secret-22", "US") == []

    staff.table.update({"salary": "salary + 1"}, "id = 30")
    staff.table.update({"region": "'US'"}, "id = 0")
    staff.prepare()

    assert kinds(staff.stream(acme, 8)) == [
        (8, "add", 30),
        (8, "remove", 30),
        (9, "remove", 0),
    ]

    # As one was rewritten before it was known whether its rows come or go.
    PreparedFile.objects.filter(changes__version=8).update(kind="")
    refused = staff.query(acme, {"startingVersion": 8})
    assert refused.status_code == 400
    assert "before version 9, because only a part" in error(refused)["message"]
    assert kinds(staff.stream(acme, 9)) == [(9, "remove", 0)]


def test_are_erased_with_their_source(staff, acme, tmp_path) -> None:
    staff.rule(EU)
    staff.prepare()
    staff.table.update({"salary": "salary + 1"}, "id = 2")
    staff.prepare()
    changes = PreparedFile.objects.exclude(changes=None)
    files = [next((tmp_path / "prepared").rglob(f"{one.key}*")) for one in changes]
    for path in {one.source_path for one in changes}:
        (Path(staff.table.root) / path).unlink()
    staff.prepare()

    assert not any(file.exists() for file in files)
    assert acme.get(f"{staff.path}/changes?startingVersion=4").status_code == 400
    assert body_of(acme.get(f"{staff.path}/version")) == b""
