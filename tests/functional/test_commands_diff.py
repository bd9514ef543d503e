"""`deltaweb table diff`, as scripts and people use it."""

import csv
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError

from tests.functional.command_line import Ran
from tests.functional.compare_versions.compared_orders import write_orders
from tests.functional.table_command.commands import refusal, run_json
from tests.support.pages.factories import new_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five versions: load, widen and append, merge, compact, delete."""
    folder = tmp_path_factory.mktemp("lake") / "orders"
    write_orders(folder)
    return folder


class TestTheJsonForm:
    def test_tells_what_changed_without_reading_rows(self, folder: Path) -> None:
        answer = run_json("diff", folder, 0, 4)

        assert (answer["from"], answer["to"]) == (0, 4)
        assert answer["schema"]["added"] == [
            {
                "name": "channel",
                "type": "string",
                "nullable": True,
                "comment": "Where",
                "metadata": {},
            }
        ]
        assert answer["properties"]["added"][0]["name"] == "delta.appendOnly"
        assert answer["protocol"] == {"added": [], "removed": [], "changed": []}
        assert "rows" not in answer

    def test_counts_updates_by_a_key(self, folder: Path) -> None:
        rows = run_json("diff", folder, 1, 2, "--rows", "--key", "order_id")["rows"]

        counts = [rows[kind] for kind in ("inserted", "deleted", "updated")]
        assert counts == [0, 2, 5]
        assert rows["changed_cells"] == {"status": 5, "channel": 5}
        assert rows["sample"]["updated"][0]["changed"] == ["status", "channel"]

    def test_a_key_may_have_several_columns(self, folder: Path) -> None:
        together = run_json("diff", folder, 1, 2, "--key", "order_id,amount")["rows"]
        apart = run_json("diff", folder, 1, 2, "--key", "order_id", "--key", "amount")[
            "rows"
        ]

        assert together == apart
        assert together["key"] == ["order_id", "amount"]

    @pytest.mark.parametrize(
        ("versions", "expected"),
        [
            (("1", "latest"), (1, 4)),
            (("latest", "1"), (4, 1)),
            (("latest", "latest"), (4, 4)),
        ],
    )
    def test_names_the_newest_version(self, folder, versions, expected):
        answer = run_json("diff", folder, *versions)

        assert (answer["from"], answer["to"]) == expected

    @pytest.mark.django_db
    def test_a_registered_table_goes_by_its_name(self, folder: Path) -> None:
        new_table("orders", location=str(folder))

        assert run_json("diff", "orders", 0, 1)["name"] == "orders"


class TestTheFormForPeople:
    def test_is_tidy(self, folder: Path) -> None:
        text = Ran("table", "diff", folder, 2, 3).stdout

        assert text.splitlines()[0] == "From version 2 to version 3"
        assert "Schema: no change" in text
        assert "rewritten into 1 file" in text

    def test_names_the_way_back(self, folder: Path) -> None:
        text = Ran("table", "diff", folder, 3, 2).stdout

        assert text.splitlines()[0] == "From version 3 back to version 2"

    def test_shows_rows_and_what_is_not_shown(self, folder: Path) -> None:
        ran = Ran("table", "diff", folder, 0, 2, "--key", "order_id", "--sample", "2")

        assert "~ 5 updated" in ran.stdout
        assert "status: 5" in ran.stdout
        assert "... 18 more" in ran.stdout
        assert "... 3 more" in ran.stdout  # of the updates, which are two lines each
        assert "channel" in ran.stderr  # what the first version lacks


class TestAllRowsToAFile:
    def test_as_parquet_and_csv_alike(self, folder: Path, tmp_path: Path) -> None:
        parquet, text = tmp_path / "all.parquet", tmp_path / "all.csv"
        Ran("table", "diff", folder, 1, 2, "--output", parquet)
        Ran("table", "diff", folder, 1, 2, "--output", text)

        table = pq.read_table(parquet)
        lines = list(csv.reader(text.read_text().splitlines()))
        assert table.num_rows == len(lines) - 1 == 12
        assert lines[0] == table.column_names
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "all.csv",
            "all.parquet",
        ]

    def test_another_ending_is_refused(self, folder: Path, tmp_path: Path) -> None:
        assert "End the name with" in refusal(
            "diff", folder, 1, 2, "--output", tmp_path / "all.xlsx"
        )


class TestRefusals:
    def test_a_version_that_is_not_there_names_the_range(self, folder: Path) -> None:
        assert "Choose a version from 0 to 4" in refusal("diff", folder, 0, 9)

    def test_files_that_are_gone_are_named(self, tmp_path: Path) -> None:
        write_orders(tmp_path / "orders")
        (tmp_path / "orders" / "a-1.parquet").unlink()

        sentence = refusal("diff", tmp_path / "orders", 1, 2, "--rows")

        assert "version 1" in sentence
        assert "a-1.parquet" in sentence

    @pytest.mark.parametrize("version", ["x", "newest", "1.5"])
    def test_what_is_no_version_is_bad_usage(self, folder: Path, version: str) -> None:
        with pytest.raises(CommandError, match="a whole number from 0, nor latest"):
            Ran("table", "diff", folder, version, 1)
