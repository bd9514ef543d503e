"""`table show`, `history` and `rows` read a table by its name or its location."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.functional.command_line import Ran
from tests.functional.table_command.commands import refusal, run, run_json
from tests.support import cases
from tests.support.logs.delta_logs import commit_bytes, metadata, own_time, protocol
from tests.support.pages.factories import new_table
from tests.support.tables.span_table import SPAN, write_span_table


class TestReaders:
    def test_show_reads_a_location_without_a_database(self, lake: Path) -> None:
        shown = run_json("show", lake / "orders")

        assert shown["name"] is None
        assert shown["location"] == str(lake / "orders")
        assert shown["timestamp"].endswith("Z")
        assert shown["protocol"]["min_reader_version"] == 1
        assert shown["protocol"]["min_writer_version"] == 2
        assert shown["metadata"]["partition_columns"] == shown["partition_columns"]
        assert shown["num_files"] > 0
        assert shown["size_bytes"] > 0

    def test_show_lists_the_files(self, lake: Path) -> None:
        shown = run_json("show", lake / "orders", "--files")

        assert len(shown["files"]) == shown["num_files"]
        assert sum(file["size"] for file in shown["files"]) == shown["size_bytes"]
        assert set(shown["files"][0]["partition_values"]) == set(
            shown["partition_columns"]
        )
        assert shown["files"][0]["path"] in run("show", lake / "orders", "--files")

    def test_show_travels_in_time(self, lake: Path) -> None:
        first = run_json("show", lake / "customers", "--version", 0)
        at = run_json("show", lake / "customers", "--timestamp", first["timestamp"])

        assert first["version"] == at["version"] == 0

    @pytest.mark.django_db
    def test_show_knows_a_table_by_its_name(self, lake: Path) -> None:
        new_table("sales.orders", location=str(lake / "orders"))

        assert run_json("show", "sales.orders")["name"] == "sales.orders"

    def test_history_is_newest_first(self, lake: Path) -> None:
        commits = run_json("history", lake / "customers")
        newest = run_json("history", lake / "customers", "--limit", 2)

        versions = [commit["version"] for commit in commits]
        assert versions == sorted(versions, reverse=True)
        assert newest == commits[:2]
        assert commits[-1]["operation"] == "CREATE TABLE"
        assert "CREATE TABLE" in run("history", lake / "customers")

    def test_history_says_whose_times_it_shows(self, lake: Path, tmp_path: Path):
        log = tmp_path / "_delta_log"
        log.mkdir()
        own = commit_bytes(
            own_time(2_000_000_000_000),
            protocol(1, 7, writerFeatures=["inCommitTimestamp"]),
            metadata(configuration={"delta.enableInCommitTimestamps": "true"}),
        )
        (log / f"{0:020}.json").write_bytes(own)
        plain = "Times are those of the commit files."

        assert run("history", lake / "customers").endswith(f"\n{plain}\n")
        assert "Times are those that the commits carry" in run("history", tmp_path)
        (commit,) = run_json("history", tmp_path)
        assert commit["timestamp_of"] == "commits"
        assert commit["timestamp"].startswith("2033-05-18T03:33:20")

    def test_rows_leave_out_columns_of_a_type_that_is_not_known(self, tmp_path: Path):
        folder = write_span_table(tmp_path / "spans")

        ran = Ran("table", "rows", folder, "--format", "csv")

        assert ran.stdout == "id,name\n1,a\n2,b\n3,\n"
        assert f"span is left out: its type {SPAN} is not read." in ran.stderr
        assert SPAN in refusal("rows", folder, "--columns", "id,span")
        assert SPAN in refusal("rows", folder, "--where", "span IS NULL")
        assert SPAN in refusal("rows", folder, "--where", "span > '1'")
        assert SPAN in run("show", folder)

    def test_rows_come_as_a_table_as_csv_and_as_json(self, lake: Path) -> None:
        orders = lake / "orders"
        as_json = run_json("rows", orders, "--limit", 3)
        header, *rows = csv.reader(
            io.StringIO(run("rows", orders, "--limit", 3, "--format", "csv"))
        )

        assert json.loads(run("rows", orders, "--limit", 3, "--format", "json")) == (
            as_json
        )
        assert [row[0] for row in rows] == [row[header[0]] for row in as_json]
        assert header == list(as_json[0])
        assert run("rows", orders, "--limit", 3).split("\n")[0].split() == header

    def test_rows_of_two_forms_at_once_are_refused(self, lake: Path) -> None:
        said = refusal("rows", lake / "orders", "--format", "csv", "--json", code=2)

        assert said == "--json and --format csv exclude each other: choose one of them."

    def test_rows_for_a_script_are_all_rows(self, lake: Path) -> None:
        shown = run("rows", lake / "orders").strip().split("\n")

        assert len(shown) == 51
        assert len(run_json("rows", lake / "orders")) > 50

    def test_rows_keep_the_columns_and_the_predicate(self, lake: Path) -> None:
        schema = run_json("show", lake / "customers")["metadata"]["schema_string"]
        column = json.loads(schema)["fields"][0]["name"]

        rows = run_json(
            "rows", lake / "customers", "--columns", column, "--where", f"{column} = 1"
        )

        assert rows == [{column: "1"}]

    @cases(
        "arguments, sentence",
        {
            "version": (("--version", "9999"), "has no version 9999"),
            "too early": (("--timestamp", "1999-01-01T00:00:00Z"), "at or before"),
            "no time": (("--timestamp", "yesterday"), "is not a time"),
        },
    )
    def test_an_unknown_version_or_time_is_one_sentence(
        self, lake: Path, arguments: tuple[str, str], sentence: str
    ) -> None:
        for command in ("show", "rows"):
            assert sentence in refusal(command, lake / "orders", *arguments)

    @cases(
        "arguments, sentence",
        {
            "column": (("--columns", "nope"), "no column 'nope'"),
            "predicate's column": (("--where", "nope = 1"), "nope"),
            "predicate": (("--where", "(("), "is not SQL at"),
        },
    )
    def test_rows_that_cannot_be_asked_for_are_one_sentence(
        self, lake: Path, arguments: tuple[str, str], sentence: str
    ) -> None:
        assert sentence in refusal("rows", lake / "orders", *arguments)

    @pytest.mark.django_db
    def test_what_is_neither_a_name_nor_a_folder_is_said_to_be_neither(self) -> None:
        assert "No table is named 'nothing'" in refusal("show", "nothing")
        assert "does not exist" in refusal("history", "/nothing/here")
        assert "No table is named 'aaa" in refusal("show", "a" * 300)

    def test_a_newer_protocol_shows_its_metadata_with_a_warning(self, tmp_path: Path):
        log = tmp_path / "_delta_log"
        log.mkdir()
        newer = commit_bytes(protocol(99, 99), metadata())
        (log / f"{0:020}.json").write_bytes(newer)

        shown = run_json("show", tmp_path)

        assert shown["protocol"]["min_reader_version"] == 99
        assert shown["num_files"] is None
        assert "99" in shown["warning"]
        assert "99" in refusal("rows", tmp_path)
