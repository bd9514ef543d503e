"""Names with commas and dots, in backticks, in every command that lists columns."""

from pathlib import Path

import pyarrow as pa
import pytest

from apps.sharing.shares.forms import column_names
from apps.tables.operations.optimize.page import OptimizeForm
from deltaweb.delta.protocol.schema import type_text
from deltaweb.table import DeltaTable
from tests.functional.table_command.commands import refusal, run, run_json
from tests.support import cases
from tests.support.tables.table_builder import TableBuilder

pytestmark = pytest.mark.django_db

SCHEMA = pa.schema(
    [
        ("net,gross", pa.int64()),
        ("a.b", pa.int64()),
        ("a", pa.struct([("b", pa.int64()), ("c,d", pa.int64())])),
        ("p", pa.string()),
    ]
)


ROWS = [{"net,gross": n, "a.b": n, "a": {"b": n, "c,d": n}, "p": "x"} for n in (1, 2)]
TABLE = (
    TableBuilder()
    .property("delta.columnMapping.mode", "name")
    .rows(*(pa.Table.from_pylist([row], SCHEMA) for row in ROWS))
)


@cases(
    "columns, names",
    {
        "a comma": ("`net,gross`", ["net,gross"]),
        "two": ("`net,gross`, p", ["net,gross", "p"]),
        "a dot": ("`a.b`", ["a.b"]),
        "a path": ("`a`.`b`", ["a.b"]),
        "a field with a comma": ("a.`c,d`,p", ["a.c,d", "p"]),
    },
)
def test_rows_of_columns(table: Path, columns: str, names: list[str]) -> None:
    rows = run_json("rows", table, "--columns", columns)

    assert [list(row) for row in rows] == [names, names]


def test_columns_without_backticks_are_two(table: Path) -> None:
    assert "no column 'net'" in refusal("rows", table, "--columns", "net,gross")


def test_rows_are_matched_by_a_key(table: Path) -> None:
    for key in ("`net,gross`", "`net,gross`,`a.b`"):
        found = run_json("diff", table, 1, 2, "--key", key)

        assert found["rows"]["inserted"] == 1


def test_files_are_laid_out(table: Path) -> None:
    told = run_json("optimize", table, "--cluster-by", "`net,gross`,`a.b`", "--dry-run")

    assert told["cluster_by"] == ["net,gross", "a.b"]


def test_a_table_is_partitioned(tmp_path: Path) -> None:
    place = tmp_path / "made"
    schema = "`net,gross` BIGINT, id BIGINT"
    by = ("--partition-by", "`net,gross`")
    run("create", "made.t", place, "--schema", schema, *by, "--yes")

    partitions = DeltaTable(str(place)).definition().metadata.partition_columns
    assert partitions == ["net,gross"]


def test_columns_are_changed(table: Path) -> None:
    run("rename-column", table, "a.`c,d`", "e,f", "--yes")
    run("rename-column", table, "`net,gross`", "net", "--yes")
    run("drop-column", table, "`a.b`", "--yes")

    schema = DeltaTable(str(table)).snapshot().schema
    assert [*schema.names] == ["net", "a", "p"]
    struct = type_text(schema.fields[1].data_type)
    assert struct == "struct<b: bigint, `e,f`: bigint>"


def test_forms_read_the_names_that_they_show() -> None:
    form = OptimizeForm({"cluster_by": "`net,gross`, a.b"})

    assert form.is_valid()
    assert form.cleaned_data["cluster_by"] == ("net,gross", "a.b")
    assert column_names("`net,gross`, a\nb") == ["net,gross", "a", "b"]
    assert column_names('"net,gross", a') == ["net,gross", "a"]
    assert column_names(" \n") == []
    assert column_names("a\n\nb\n") == ["a", "b"]
    assert column_names(",") == ["", ""]  # to be refused: empty means all columns
