"""`table rows` and `table changes` write a file: CSV, JSON, Parquet or XLSX."""

import csv
import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.tables.management.row_files import write_rows
from deltaweb.delta.errors import LocationUnreachableError
from tests.functional.table_command.commands import refusal, run, run_json
from tests.support.tables.table_builder import TableBuilder

TABLE = TableBuilder().rows(n=[1, 2, 3], s=["a", "=1+1", None]).rows(n=[4], s=[""])
ROWS = [(1, "a"), (2, "=1+1"), (3, None), (4, "")]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    TABLE.at(tmp_path / "table").build()
    return tmp_path / "table"


def of_csv(path: Path) -> list[tuple[Any, ...]]:
    with path.open(encoding="utf-8", newline="") as source:
        names, *rows = csv.reader(source)
    assert names == ["n", "s"]
    return [(int(n), s) for n, s in rows]


def of_json(path: Path) -> list[tuple[Any, ...]]:
    return [(int(row["n"]), row["s"]) for row in json.loads(path.read_text())]


def of_parquet(path: Path) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in pq.read_table(path).to_pylist()]


def of_xlsx(path: Path) -> list[tuple[Any, ...]]:
    names, *rows = openpyxl.load_workbook(path)["Rows"].iter_rows(values_only=True)
    assert names == ("n", "s")
    return rows


@pytest.mark.parametrize("read", [of_csv, of_json, of_parquet, of_xlsx])
def test_rows_are_written_in_the_format_of_the_name(
    table: Path,
    tmp_path: Path,
    read: Any,  # noqa: ANN401 (of one of these)
) -> None:
    path = tmp_path / f"rows.{read.__name__.removeprefix('of_')}"

    said = run("rows", table, "--output", path)

    assert said.startswith("4 rows, ")
    assert str(path) in said
    without_null = [(n, s or "") for n, s in ROWS]
    assert sorted((n, s or "") for n, s in read(path)) == without_null
    assert [one.name for one in tmp_path.iterdir() if one != table] == [path.name]


def test_parquet_tells_null_from_an_empty_text(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.data"

    run("rows", table, "--format", "parquet", "--output", path, "--where", "n > 2")

    assert sorted(of_parquet(path)) == [(3, None), (4, "")]


def test_a_script_learns_what_was_written(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"

    said = run_json("rows", table, "--output", path, "--limit", 2)

    assert said == {
        "output": str(path), "num_rows": 2, "size_bytes": path.stat().st_size
    }  # fmt: skip
    assert len(of_parquet(path)) == 2


def test_changes_are_written_as_well(tmp_path: Path) -> None:
    TABLE.property("delta.enableChangeDataFeed").at(tmp_path / "fed").build()
    path = tmp_path / "changes.parquet"

    run("changes", tmp_path / "fed", "--from", 2, "--output", path)

    (row,) = pq.read_table(path).to_pylist()
    assert (row["n"], row["_change_type"], row["_commit_version"]) == (4, "insert", 2)


@pytest.mark.parametrize("form", ["parquet", "xlsx"])
def test_a_format_that_no_terminal_shows_needs_a_file(table: Path, form: str) -> None:
    said = refusal("rows", table, "--format", form, code=2)

    assert said == f"--format {form} is for files: give --output FILE."


@pytest.mark.parametrize("options", [[], ["--format", "table"]])
def test_a_name_that_says_no_format_is_refused(
    table: Path, tmp_path: Path, options: list[str]
) -> None:
    said = refusal("rows", table, "--output", tmp_path / "rows.txt", *options)

    assert "End the name with .csv or .json or .parquet or .xlsx." in said
    assert not (tmp_path / "rows.txt").exists()


def test_more_rows_than_a_sheet_holds_leave_the_file_that_was_there(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.tables.management.row_files.MAX_SHEET_ROWS", 3)
    path = tmp_path / "rows.xlsx"
    path.write_text("mine")

    said = refusal("rows", table, "--output", path)

    assert "An XLSX sheet holds" in said
    assert path.read_text() == "mine"
    assert len([*tmp_path.iterdir()]) == 2


def test_a_folder_that_does_not_exist_is_named(table: Path, tmp_path: Path) -> None:
    for form in ("csv", "json", "parquet", "xlsx"):
        said = refusal("rows", table, "--output", tmp_path / "no" / f"rows.{form}")

        assert str(tmp_path / "no") in said


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "xlsx"])
def test_a_fault_of_reading_is_not_a_fault_of_the_file(
    tmp_path: Path, form: str
) -> None:
    schema = pa.schema([("n", pa.int64())])

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([[1]], schema)
        raise OSError(errno.EIO, "Input/output error")

    with pytest.raises(LocationUnreachableError) as caught:
        write_rows(tmp_path / f"rows.{form}", form, schema, batches())

    assert "The table cannot be reached: Input/output error." in str(caught.value)
    assert [*tmp_path.iterdir()] == []
