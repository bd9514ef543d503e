"""The decimal sign and the order of dates of CSV columns are found out, or asked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb import DeltaTable
from deltaweb.delta.protocol.schema import PrimitiveType
from deltaweb.writer.importing.options import (
    BadRows,
    ImportColumn,
    ImportFileError,
    TextForm,
)
from deltaweb.writer.importing.plan import BegunImport, Import, begin_import
from deltaweb.writer.importing.proposal import propose_columns
from deltaweb.writer.importing.readings import UnclearReadingError
from deltaweb.writer.importing.source_file import SourceFiles
from deltaweb.writer.importing.text_values import parse_texts
from tests.support import cases

ASK: list[str] = []


def files(place: Path, *texts: str, form: TextForm | None = None) -> SourceFiles:
    names = [f"{number}.csv" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (place / name).write_text(text)
    paths = [str(place / name) for name in names]
    return SourceFiles(paths=paths, names=names, form=form or TextForm())


def begun(
    place: Path,
    text: str,
    form: TextForm | None = None,
    columns: Sequence[ImportColumn] = (),
    types: str = "",
) -> BegunImport:
    wanted = Import(
        files=files(place, text, form=form),
        columns=columns,
        types=types,
        bad_rows=BadRows.LEAVE_OUT,
    )
    return begin_import(DeltaTable(str(place / "table")).store, wanted)


def rows(place: Path) -> list[Any]:
    found = DeltaTable(str(place / "table")).snapshot().read()
    return found["v"].to_pylist()


@cases(
    "values, expected",
    {
        "decimal comma": (["12,50", "3"], ("double", ",")),
        "points between thousands": (["1.234,56", "1"], ("double", ",")),
        "spaces between thousands": (["1 234,56"], ("double", ",")),
        "no-break spaces": (["1\u202f234,56"], ("double", ",")),
        "apostrophes": (["1'234.56"], ("double", ".")),
        "negative, many thousands": (["-1.234.567"], ("bigint", ",")),
        "commas between thousands": (["1,234.5", "7"], ("double", ".")),
        "an exponent": (["1,5e3"], ("double", ",")),
        "no group of thousands": (["0,123"], ("double", ",")),
        "a fraction beside thousands": (["1.234", "1.5"], ("double", "")),
        "whole numbers": (["1", "-2"], ("bigint", "")),
        "leading zeros": (["01234", "99999"], ("string", "")),
        "percent": (["5%", "7,5%"], ("string", "")),
        "years of two digits": (["13.02.26"], ("string", "")),
        "two signs": (["1,5", "1.5"], ("string", "")),
        "days first": (["01.02.2026", "31.01.2026"], ("date", "dmy")),
        "months first": (["01/02/2026", "01/31/2026"], ("date", "mdy")),
        "ISO": (["2026-01-02", "2026-12-01"], ("date", "")),
        "ISO and days first": (["2026-01-02", "31.01.2026"], ("date", "dmy")),
        "times": (["31.01.2026 12:30", "01.02.2026 00:00:01"], ("timestamp", "dmy")),
        "no day": (["31.31.2026"], ("string", "")),
        "one day in both orders": (["02.02.2026"], ("date", "dmy")),
        "empty": (["", "12,5"], ("double", ",")),
    },
)
def test_one_way_is_found(
    tmp_path: Path, values: list[str], expected: tuple[str, str]
) -> None:
    text = "id;v\n" + "".join(f"x;{value}\n" for value in values)
    (_, proposed) = propose_columns(files(tmp_path, text))
    column = proposed.column
    assert (column.type_name, column.decimal_sign or column.day_order) == expected
    assert len(proposed.readings) <= 1


@cases(
    "values, delimiter, expected",
    {
        "a comma": (["1,234"], ";", ["1.234", "1234"]),
        "a comma in quotes": (['"1,234"'], ",", ["1.234", "1234"]),
        "a point": (["1.234", "2.000"], ";", ["1.234", "1234"]),
        "a date": (["01.02.2026"], ";", ["2026-02-01", "2026-01-02"]),
        "a date in English": (["3/4/2026", ""], ",", ["2026-04-03", "2026-03-04"]),
    },
)
def test_two_ways_are_asked(
    tmp_path: Path, values: list[str], delimiter: str, expected: list[str]
) -> None:
    text = f"id{delimiter}v\n" + "".join(f"x{delimiter}{v}\n" for v in values)
    begin = begun(tmp_path, text)
    with pytest.raises(UnclearReadingError, match="'v' is") as error:
        begin.carry_out()
    assert error.value.code == "import-reading-unclear"
    assert not (tmp_path / "table" / "_delta_log").exists()
    looked = begin.look().describe()
    assert looked["is_unclear"]
    assert [one["value"] for one in looked["columns"][1]["readings"]] == expected


@cases(
    "value, form, expected",
    {
        "comma": ("1,234", TextForm(decimal_sign=","), [1.234]),
        "point": ("1,234", TextForm(decimal_sign="."), [1234]),
    },
)
def test_an_option_chooses(
    tmp_path: Path, value: str, form: TextForm, expected: list[Any]
) -> None:
    begun(tmp_path, f"id;v\nx;{value}\n", form=form).carry_out()
    assert rows(tmp_path) == expected


def test_a_column_chooses_or_stays_text(tmp_path: Path) -> None:
    text = "v;w\n01.02.2026;1,234\n"
    columns = [
        ImportColumn(source="v", name="v", type_name="date", day_order="mdy"),
        ImportColumn(source="w", name="w", type_name="string"),
    ]
    begun(tmp_path, text, columns=columns).carry_out()
    (row,) = DeltaTable(str(tmp_path / "table")).snapshot().read().to_pylist()
    assert (str(row["v"]), row["w"]) == ("2026-01-02", "1,234")


def test_the_type_of_a_table_is_no_choice(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.string()), ("v", pa.decimal128(9, 3))])
    DeltaTable.create(str(tmp_path / "table"), schema)
    with pytest.raises(UnclearReadingError, match="--decimal"):
        begun(tmp_path, "id;v\nx;1,234\n").carry_out()
    begun(tmp_path, "id;v\nx;12,50\n").carry_out()
    assert [str(value) for value in rows(tmp_path)] == ["12.500"]


def test_other_files_may_decide(tmp_path: Path) -> None:
    (_, one) = propose_columns(files(tmp_path, "id;v\nx;1,234\n", "id;v\nx;12,5\n"))
    assert (one.column.type_name, one.column.decimal_sign) == ("double", ",")
    (_, two) = propose_columns(files(tmp_path, "id;v\nx;1.5\n", "id;v\nx;1,5\n"))
    assert (two.column.type_name, two.readings) == ("string", ())


def test_few_texts_are_offered_to_be_left_out(tmp_path: Path) -> None:
    text = "id;v\nx;12,50\ny;abc\nz;7,1\n"
    (_, one) = propose_columns(files(tmp_path, text))
    assert one.column.type_name == "string"
    narrower = one.narrower
    assert narrower is not None
    assert (narrower.type_name, narrower.readings[0].decimal_sign) == ("double", ",")
    assert [(bad.line, bad.value) for bad in narrower.misfits] == [(3, "abc")]
    begin = begun(tmp_path, text, types="v DOUBLE")
    begin.carry_out()
    assert rows(tmp_path) == [12.5, 7.1]


@pytest.mark.parametrize("text", ["1.1.20261", "01.02.2026x", "1.1.2026 25:00"])
def test_no_date_is_made_of_other_texts(text: str) -> None:
    form = TextForm(day_order="dmy")
    for kind in ("date", "timestamp"):
        parsed = parse_texts(pa.array([text]), PrimitiveType(kind), form)
        assert parsed.is_none.to_pylist() == [True]


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportFileError, match="no row"):
        propose_columns(files(tmp_path))
