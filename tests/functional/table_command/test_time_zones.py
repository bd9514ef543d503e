"""Commands read times without a zone by the clocks that `--time-zone` names."""

from pathlib import Path

import pytest

from tests.functional.table_command.commands import refusal, run, run_json
from tests.support.tables.zoned_tables import MIDNIGHT, NEW_YORK, ids, write_zoned_table

pytestmark = pytest.mark.django_db
IN_NEW_YORK = ("--time-zone", NEW_YORK)
BOTH = pytest.mark.parametrize(
    ("zone", "found"), [((), [1, 2]), (IN_NEW_YORK, [2])], ids=["UTC", NEW_YORK]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_zoned_table(tmp_path / "events")
    return tmp_path / "events"


@BOTH
def test_rows_are_those_of_the_zone(folder, zone, found):
    rows = run_json("rows", folder, "--where", MIDNIGHT, *zone)

    assert [int(row["id"]) for row in rows] == found


@BOTH
def test_rows_are_deleted_by_the_zone(folder, zone, found):
    run("delete", folder, "--where", MIDNIGHT, "--yes", *zone)

    assert ids(folder) == sorted({1, 2} - {*found})


def test_new_values_are_of_the_zone(folder: Path) -> None:
    asked = ("--set", "ts = TIMESTAMP '2024-03-10 12:00:00'", "--where", MIDNIGHT)
    run("update", folder, *asked, "--yes", *IN_NEW_YORK)

    rows = run_json("rows", folder)
    assert {int(row["id"]): row["ts"] for row in rows} == {
        1: "2024-03-10T02:00:00Z",
        2: "2024-03-10T16:00:00Z",
    }


def test_rows_are_merged_by_the_zone(folder: Path, tmp_path: Path) -> None:
    write_zoned_table(tmp_path / "more")

    asked = ("--on", "t.id = s.id", "--delete-where", f"t.{MIDNIGHT}")
    run("merge", folder, tmp_path / "more", *asked, "--yes", *IN_NEW_YORK)

    assert ids(folder) == [1]


def test_a_constraint_is_of_the_zone_as_rows_are_looked_at(folder: Path) -> None:
    asked = ("constraint", folder, "add", "--upgrade", "--dry-run", "late", MIDNIGHT)

    assert "1 of 2" not in run(*asked)
    assert run_json(*asked)["checked"]["num_violating"] == 0
    assert run_json(*asked, *IN_NEW_YORK)["checked"]["num_violating"] == 1


def test_a_version_is_asked_for_by_the_clocks_of_the_zone(folder: Path) -> None:
    late = ("--timestamp", "2999-01-01 12:00:00")

    assert "is not a time with a zone" in refusal("show", folder, *late)
    assert "--time-zone" in refusal("show", folder, *late)
    assert run_json("show", folder, *late, *IN_NEW_YORK)["version"] == 1


@pytest.mark.parametrize(
    ("verb", "more"),
    [("rows", ()), ("import", ("a.csv",)), ("create", ()), ("convert", ("folder",))],
)
def test_a_zone_that_is_not_known_is_refused_with_what_may_be_meant(folder, verb, more):
    asked = (verb, folder, *more, "--time-zone", "New York")

    assert "Did you mean America/New_York?" in refusal(*asked)
