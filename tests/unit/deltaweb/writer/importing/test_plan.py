"""Rows of files are looked at, held to their types, and imported in one commit."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.writing.errors import AppendOnlyError
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.checked_rows import RowsNotImportedError
from deltaweb.writer.importing.options import (
    BadRows,
    ImportColumn,
    ImportFileError,
    TextForm,
)
from deltaweb.writer.importing.plan import (
    Import,
    ImportMode,
    begin_import,
)
from deltaweb.writer.importing.source_file import SourceFiles
from tests.support import cases

GERMAN = TextForm(decimal_sign=",", day_order="dmy", time_zone="Europe/Berlin")


def asked(*paths: Path, form: TextForm | None = None) -> Import:
    names = [path.name for path in paths]
    files = SourceFiles(paths=[*map(str, paths)], names=names, form=form or TextForm())
    return Import(files=files)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def types(plan_of: Import, place: Path) -> dict[str, str]:
    plan = begin_import(DeltaTable(str(place)).store, plan_of).look()
    return {column.source: column.type_name for column in plan.begun.columns}


def imported(place: Path, of: Import) -> list[dict[str, Any]]:
    table = DeltaTable(str(place))
    begin_import(table.store, of).carry_out()
    rows: list[dict[str, Any]] = table.snapshot().read().to_pylist()
    return rows


def bad(place: Path, of: Import) -> list[tuple[int, str, str, str]]:
    plan = begin_import(DeltaTable(str(place)).store, of).look()
    return [(one.line, one.column, one.value, one.reason) for one in plan.rows.bad]


def test_types_are_proposed_by_all_first_values(tmp_path: Path) -> None:
    csv = written(
        tmp_path / "a.csv",
        "id;amount;on;at;zip;flag;note;none\n"
        "1;1,5;31.01.2026;31.01.2026 09:14:02;01234;true;a;\n"
        "2;2;01.02.2026;01.02.2026 09:14:02;99999;false;;\n",
    )
    of = asked(csv, form=GERMAN)

    assert types(of, tmp_path / "t") == {
        "id": "bigint",
        "amount": "double",
        "on": "date",
        "at": "timestamp",
        "zip": "string",
        "flag": "boolean",
        "note": "string",
        "none": "string",
    }
    assert imported(tmp_path / "t", of)[0] == {
        "id": 1,
        "amount": 1.5,
        "on": date(2026, 1, 31),
        "at": datetime(2026, 1, 31, 8, 14, 2, tzinfo=UTC),
        "zip": "01234",
        "flag": True,
        "note": "a",
        "none": None,
    }


def test_rows_that_do_not_fit_are_named_by_line_and_value(tmp_path: Path) -> None:
    csv = written(
        tmp_path / "a.csv", 'n,s\n1,"two\nlines"\n\nx,c\n3\n4,d,e\n99999999999,f\n6,g\n'
    )
    columns = [
        ImportColumn(source="n", name="n", type_name="int"),
        ImportColumn(source="s", name="s", type_name="string"),
    ]
    of = replace(asked(csv), columns=columns)
    place = tmp_path / "t"

    assert bad(place, of) == [
        (5, "n", "x", "not a whole number"),
        (6, "", "3", "it has 1 fields, where 2 belong"),
        (7, "", "4,d,e", "it has 3 fields, where 2 belong"),
        (8, "n", "99999999999", "outside of what int holds"),
    ]
    with pytest.raises(RowsNotImportedError, match="line 5, column 'n': 'x'"):
        imported(place, of)
    assert not place.exists()
    assert imported(place, replace(of, bad_rows=BadRows.LEAVE_OUT)) == [
        {"n": 1, "s": "two\nlines"},
        {"n": 6, "s": "g"},
    ]


def test_a_value_that_does_not_fit_may_be_stored_as_null(tmp_path: Path) -> None:
    csv = written(tmp_path / "a.csv", "k,n\n1,x\n,2\n3,3\n")
    columns = [
        ImportColumn(source="k", name="k", type_name="int", is_nullable=False),
        ImportColumn(source="n", name="n", type_name="int"),
    ]
    of = replace(asked(csv), columns=columns, bad_rows=BadRows.STORE_NULL)

    assert bad(tmp_path / "t", of)[1] == (3, "k", "", "null, and may not be")
    assert imported(tmp_path / "t", of) == [{"k": 1, "n": None}, {"k": 3, "n": 3}]


def test_lines_and_arrays_of_json_are_read(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"n": 1, "s": "a", "at": "2026-01-31T08:00:00Z", "in": {"x": 1, "y": [1.5]}},
        {"n": 2, "s": None, "at": None, "in": None},
    ]
    lines = written(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    array = written(tmp_path / "b.json", json.dumps(rows, indent=2))
    place = tmp_path / "t"

    assert types(asked(lines, array), place) == {
        "n": "bigint",
        "s": "string",
        "at": "timestamp",
        "in": "struct<x: bigint, y: array<double>>",
    }
    found = imported(place, asked(lines, array))
    assert found[0] == found[2]
    assert found[0] == dict(rows[0]) | {"at": datetime(2026, 1, 31, 8, tzinfo=UTC)}


def test_json_rows_that_do_not_fit_are_named(tmp_path: Path) -> None:
    text = '{"n": 1}\n{"n": "x"}\n{"n": 2, "more": 1}\n{nothing\n[1]\n{"n": 1.5}\n'
    lines = written(tmp_path / "a.jsonl", text)
    columns = [ImportColumn(source="n", name="n", type_name="bigint")]
    of = replace(asked(lines), columns=columns)

    found = bad(tmp_path / "t", of)
    plan = begin_import(DeltaTable(str(tmp_path / "t")).store, of).look()

    assert plan.rows.bad_by_column["n"] == 2
    assert [one[:3] for one in found] == [
        (2, "n", "x"),
        (3, "more", "1"),
        (4, "", "{nothing"),
        (5, "", "[1]"),
        (6, "n", "1.5"),
    ]
    left = replace(of, bad_rows=BadRows.LEAVE_OUT)
    assert imported(tmp_path / "t", left) == [{"n": 1}]


def test_an_array_that_never_ends_is_named(tmp_path: Path) -> None:
    broken = written(tmp_path / "a.json", '[{"n": 1}, {"n": ')

    with pytest.raises(ImportFileError, match="does not end"):
        begin_import(DeltaTable(str(tmp_path / "t")).store, asked(broken)).look()


def test_parquet_keeps_its_types_unless_others_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    amounts = pa.array([Decimal("1.50"), None], pa.decimal128(9, 2))
    pq.write_table(pa.table({"n": [1, 2**40], "amount": amounts}), path)
    columns = [
        ImportColumn(source="n", name="id", type_name="int"),
        ImportColumn(source="amount", name="amount", type_name=""),
    ]

    assert types(asked(path), tmp_path / "t") == {
        "n": "bigint",
        "amount": "decimal(9,2)",
    }
    assert bad(tmp_path / "t", replace(asked(path), columns=columns)) == [
        (2, "n", str(2**40), "outside of what int holds")
    ]
    assert len(imported(tmp_path / "t", asked(path))) == 2


def test_a_table_keeps_its_types_and_gets_new_columns(tmp_path: Path) -> None:
    place = tmp_path / "t"
    imported(place, asked(written(tmp_path / "a.csv", "n,s\n1,007\n")))
    more = asked(written(tmp_path / "b.csv", "N,s,x\n2,8,1.5\n"))
    store = DeltaTable(str(place)).store

    with pytest.raises(DeltaError, match="not a column of the table"):
        begin_import(store, more).look()
    plan = begin_import(store, replace(more, merge_schema=True)).look()

    assert plan.new_columns == ["x"]
    assert plan.describe()["num_rows"] == 1
    assert plan.first.to_pylist() == [{"n": 2, "s": "8", "x": 1.5}]
    assert imported(place, replace(more, mode=ImportMode.OVERWRITE, merge_schema=True))


def test_a_new_table_and_its_rows_are_one_commit(tmp_path: Path) -> None:
    csv = written(tmp_path / "a.csv", "p,n\nx,1\ny,2\n")

    imported(tmp_path / "t", replace(asked(csv), partition_by=["p"]))

    table = DeltaTable(str(tmp_path / "t"))
    assert table.latest_version() == 0
    assert [info.operation for info in table.history()] == ["CREATE TABLE AS SELECT"]
    assert sorted(path.name for path in (tmp_path / "t").glob("p=*")) == ["p=x", "p=y"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.csv", b"", "no first row"),
        ("a.csv", b"a,a\n1,2\n", "is twice"),
        ("a.csv", b"a,\n1,2\n", "column 2 has no name"),
        ("a.csv", b"a,b\n", "it has no row"),
        ("a.parquet", b"no", "not a Parquet file"),
        ("a.txt", b"a,b\n1,2\n", "does not show its format"),
        ("a.jsonl", b"", "it has no row"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path, name, data, reason):
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(ImportFileError, match=reason):
        begin_import(DeltaTable(str(tmp_path / "t")).store, asked(path)).look()


@pytest.mark.parametrize(
    ("name", "data", "hint"),
    [
        ("a.csv", b"\xff\xfe\n", "Save it as UTF-8"),
        ("a.xlsx", b"PK", "Save its sheet as CSV"),
        ("a.csv.gz", b"\x1f\x8b", "Unpack it first"),
        ("a.txt", b"", "say its format"),
    ],
)
def test_who_brings_what_is_not_read_is_told_what_to_do(tmp_path, name, data, hint):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(ImportFileError) as raised:
        begin_import(
            DeltaTable(str(tmp_path / "t")).store, asked(tmp_path / name)
        ).look()

    assert hint in raised.value.hint
    assert "--" not in raised.value.hint  # pages show it, too


def test_who_stops_it_leaves_nothing(tmp_path: Path) -> None:
    csv = written(tmp_path / "a.csv", "n\n1\n")

    def stop(_count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        imported(tmp_path / "t", replace(asked(csv), on_rows=stop))
    assert not list((tmp_path / "t").rglob("*.*"))


class TestRowsThatBreakAConstraint:
    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        """A table whose rows have a rule, and numbers of their own."""
        properties = {"delta.feature.checkConstraints": "supported"}
        columns = pa.schema([("n", pa.int64()), ("x", pa.float64())])
        table = DeltaTable.create(str(tmp_path / "t"), columns, properties=properties)
        table.add_constraint("positive", "n > 0")
        table.add_constraint("low", "N < 100")
        return tmp_path / "t"

    @pytest.fixture
    def of(self, tmp_path: Path) -> Import:
        text = "n,x\n1,0.5\n-2,1e16\n3,x\n400,1\n-5,1\n,1\n"
        return asked(written(tmp_path / "a.csv", text))

    def test_are_counted_and_named_by_line(self, place: Path, of: Import) -> None:
        plan = begin_import(DeltaTable(str(place)).store, of).look()

        found = {one["name"]: one["num_rows"] for one in plan.describe()["rules"]}
        assert found == {"positive": 3, "low": 2}
        assert (plan.rows.num_rows, plan.rows.num_bad) == (1, 5)
        assert bad(place, of) == [
            (3, "", "n=-2", "breaks the constraint 'positive': n > 0"),
            (4, "x", "x", "not a number"),
            (5, "", "n=400", "breaks the constraint 'low': N < 100"),
            (6, "", "n=-5", "breaks the constraint 'positive': n > 0"),
            (7, "", "n=NULL", "breaks the constraint 'low': N < 100"),
        ]

    @cases(
        "what, rows",
        {
            "left out": (BadRows.LEAVE_OUT, [{"n": 1, "x": 0.5}]),
            "null does not mend them": (
                BadRows.STORE_NULL,
                [{"n": 1, "x": 0.5}, {"n": 3, "x": None}],
            ),
        },
    )
    def test_are_left_out_by_choice(self, place, of, what, rows):
        assert imported(place, replace(of, bad_rows=what)) == rows

    def test_are_refused_unless_somebody_says_otherwise(self, place: Path, of: Import):
        with pytest.raises(RowsNotImportedError, match=r"a\.csv, line 3: 'n=-2'"):
            imported(place, of)

        assert DeltaTable(str(place)).snapshot().num_files == 0


def test_a_plan_says_what_most_values_of_a_column_are(tmp_path: Path) -> None:
    of = asked(written(tmp_path / "a.csv", "n,t\n1,a\n2,b\n-,c\n"))
    place = tmp_path / "t"

    plan = begin_import(DeltaTable(str(place)).store, of).look()
    told = {one["source"]: one["narrower"] for one in plan.describe()["columns"]}
    typed = [
        ImportColumn(source="n", name="n", type_name="bigint"),
        ImportColumn(source="t", name="t", type_name="string"),
    ]
    imported(place, replace(of, columns=typed, bad_rows=BadRows.LEAVE_OUT))
    again = begin_import(DeltaTable(str(place)).store, of).look()

    assert told == {
        "n": {
            "type": "bigint",
            "words": "whole numbers",
            "num_fitting": 2,
            "num_values": 3,
            "is_of_first": False,
            "readings": [],
            "misfits": [{"file": "a.csv", "line": 4, "value": "-"}],
        },
        "t": None,
    }
    assert again.narrower == {}
    assert (again.rows.num_rows, again.rows.num_bad) == (2, 1)


def test_a_table_that_keeps_its_rows_is_refused_before_files_are_read(tmp_path) -> None:
    place = tmp_path / "t"
    columns = pa.schema([("n", pa.int64())])
    kept = {"delta.appendOnly": "true"}
    table = DeltaTable.create(str(place), columns, properties=kept)
    gone = asked(tmp_path / "gone.csv")

    with pytest.raises(AppendOnlyError):
        begin_import(table.store, replace(gone, mode=ImportMode.OVERWRITE))
    with pytest.raises(ImportFileError):
        begin_import(table.store, gone)


def test_nulls_where_none_may_be_are_bad_rows(tmp_path: Path) -> None:
    code = pa.struct([pa.field("code", pa.string(), nullable=False)])
    tags = pa.list_(pa.field("element", pa.int64(), nullable=False))
    place = tmp_path / "t"
    DeltaTable.create(str(place), pa.schema([("tags", tags), ("m", pa.list_(code))]))
    lines = [
        '{"tags": [1, 2], "m": [{"code": "a"}]}',
        '{"tags": [1, null], "m": null}',
        '{"tags": null, "m": [null]}',
        '{"tags": [], "m": [{"code": null}]}',
    ]
    of = asked(written(tmp_path / "a.json", "\n".join(lines)))
    of = replace(of, mode=ImportMode.APPEND, bad_rows=BadRows.LEAVE_OUT)

    assert [
        (line, reason.partition("'")[2]) for line, *_, reason in bad(place, of)
    ] == [
        (2, "NOT NULL tags.element': tags.element IS NOT NULL"),
        (4, "NOT NULL m.element.code': m.element.code IS NOT NULL"),
    ]
    assert imported(place, of) == [
        {"tags": [1, 2], "m": [{"code": "a"}]},
        {"tags": None, "m": [None]},
    ]
