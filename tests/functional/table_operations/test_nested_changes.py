"""The command that finds what earlier releases may have done to nested values."""

from pathlib import Path

import pytest

from tests.functional.table_command.commands import run, run_json
from tests.support.tables.nested_changes import MAPPED, made_by, make_table

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("orders")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "lake" / "orders"
    table = make_table(folder, **MAPPED)
    for version in (2, 3):
        made_by(table, version, "deltaweb/0.8.3")
    made_by(table, 4, "deltaweb/0.9.0")
    first = table.snapshot(version=1).files["path"][0].as_py()
    (folder / first).unlink()
    return folder


def test_check_files_prints_the_merge_that_takes_them_back(folder: Path):
    told = run_json("check-files", "orders")["nested_changes"]
    said = run("check-files", "orders")

    assert [(one["version"], one["operation"]) for one in told] == [
        (3, "DELETE"),
        (2, "UPDATE"),
    ]
    assert (told[0]["num_files"], told[0]["num_rows"]) == (1, 3)
    assert told[1]["repair"] is None
    assert "v3: DELETE by deltaweb/0.8.3 wrote 1 file of 3 rows." in said
    assert f"MERGE INTO delta.`{folder}` AS t" in told[0]["repair"]
    assert told[0]["repair"] in said
    assert "A vacuum or a clean-up has removed v1." in said
