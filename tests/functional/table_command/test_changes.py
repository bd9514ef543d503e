"""`table changes` prints the change data feed of a table."""

import json
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest

from tests.functional.table_command.commands import refusal, run, run_json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two rows, one of them updated, then a table without its feed."""
    folder = tmp_path / "fed"
    deltalake.write_deltalake(
        str(folder),
        pa.table({"id": pa.array([1, 2], pa.int64()), "name": ["a", None]}),
        configuration={"delta.enableChangeDataFeed": "true"},
    )
    table = deltalake.DeltaTable(str(folder))
    table.update(updates={"name": "'z'"}, predicate="id = 2")
    return folder


def test_changes_come_as_a_table_as_csv_and_as_json(folder: Path) -> None:
    as_json = run_json("changes", folder, "--from", 1, "--to", 1)
    as_csv = run(
        "changes", folder, "--format", "csv", "--columns", "id,name,_change_type"
    )

    assert {(row["_change_type"], row["name"]) for row in as_json} == {
        ("update_preimage", None),
        ("update_postimage", "z"),
    }
    assert json.loads(run("changes", folder, "--from", 1, "--format", "json")) == (
        as_json
    )
    header, *lines = as_csv.splitlines()
    assert header == "id,name,_change_type,_commit_version,_commit_timestamp"
    assert len(lines) == 4
    assert run("changes", folder).splitlines()[0].split()[:3] == [
        "id",
        "name",
        "_change_type",
    ]


def test_changes_are_filtered_and_cut(folder: Path) -> None:
    where = ("--where", "_change_type = 'insert' AND id = 2")

    (row,) = run_json("changes", folder, *where)

    assert row["_commit_version"] == "0"
    assert len(run_json("changes", folder, "--limit", 1)) == 1
    assert run_json("changes", folder, "--limit", 0) == []


def test_changes_go_by_times(folder: Path) -> None:
    first, *_ = run_json("changes", folder, "--to", 0)

    found = run_json("changes", folder, "--from", first["_commit_timestamp"])

    assert len(found) == 4
    assert "no changes" in refusal("changes", folder, "--from", "2100-01-01T00:00:00Z")
    assert "not a time" in refusal("changes", folder, "--from", "yesterday")


def test_a_table_without_a_feed_says_so(lake: Path) -> None:
    assert "has no changes at version 0" in refusal("changes", lake / "orders")
