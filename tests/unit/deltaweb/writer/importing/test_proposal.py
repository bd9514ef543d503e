"""Which columns files seem to have, and what most values of a column of texts are."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deltaweb.delta.protocol.schema import StructType, arrow_schema
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.writer.importing.narrower import NarrowerType
from deltaweb.writer.importing.options import TextForm
from deltaweb.writer.importing.plan import open_import
from deltaweb.writer.importing.proposal import ProposedColumn, propose_columns
from deltaweb.writer.importing.source_file import SourceFiles
from tests.support import cases
from tests.support.tables.table_builder import TableBuilder

Write = Callable[[list[str]], str]
MISSING = ["1.5", "2", "n/a", "4", "5"]


def proposed(folder: Path, *texts: str, ending: str = "csv") -> ProposedColumn:
    """Propose the only column of files."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.{ending}")
        paths[-1].write_text(text)
    names = [path.name for path in paths]
    (column,) = propose_columns(SourceFiles(paths=[*map(str, paths)], names=names))
    return column


def csv(values: list[str]) -> str:
    return "\n".join(["v", *values, ""])


def json(values: list[str]) -> str:
    return "".join(f'{{"v": {value}}}\n' for value in values)


def told(narrower: NarrowerType | None) -> tuple[str, int, int] | None:
    if narrower is None:
        return None
    return narrower.type_name, narrower.num_fitting, narrower.num_values


def test_a_column_is_text_by_one_value_and_says_what_the_others_are(tmp_path: Path):
    column = proposed(tmp_path, csv(["1.5", "2", '"a\nbreak"', "n/a", "4", "5", "6"]))

    assert column.column.type_name == "string"
    assert told(column.narrower) == ("double", 5, 7)
    assert column.narrower is not None
    assert [(one.file, one.line, one.value) for one in column.narrower.misfits] == [
        ("0.csv", 4, "a\nbreak"),
        ("0.csv", 6, "n/a"),
    ]
    assert column.narrower.misfits[1].reason == "not a number"
    assert column.narrower.sentence == (
        "5 of 7 values are numbers; not 'a\\nbreak' (0.csv, line 4), "
        "'n/a' (0.csv, line 6)"
    )


@cases(
    "values, found",
    {
        "numbers": (MISSING, ("double", 4, 5)),
        "whole numbers": (["1", "2", "x"], ("bigint", 2, 3)),
        "a null is no value": (["1", "x", "3", ""], ("bigint", 2, 3)),
        "dates": (["2026-01-31", "soon", "2026-02-01"], ("date", 2, 3)),
        "true or false": (["yes", "no", "maybe"], ("boolean", 2, 3)),
        "half of them": (["1", "x"], None),
        "codes, not numbers": (["01234", "90210", "x", "90211"], None),
        "texts": (["a", "b", "c"], None),
        "all fit a wider type": (["1", "2.5"], None),
    },
)
def test_most_of_the_values_decide(tmp_path, values, found):
    assert told(proposed(tmp_path, csv(values)).narrower) == found


def test_only_the_first_of_the_others_are_named(tmp_path: Path) -> None:
    values = [*map(str, range(20)), *"abcde"]

    narrower = proposed(tmp_path, csv(values)).narrower

    assert narrower is not None
    assert [one.value for one in narrower.misfits] == ["a", "b", "c"]
    assert narrower.sentence.endswith("'c' (0.csv, line 24), ...")


@pytest.mark.parametrize(("write", "ending"), [(csv, "csv"), (json, "jsonl")])
def test_of_a_long_file_it_says_that_the_first_values_were_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Write, ending: str
) -> None:
    monkeypatch.setattr("deltaweb.writer.importing.proposal.SAMPLE_ROWS", 4)
    values = ["1", "2", '"n/a"', "4", "5"]

    narrower = proposed(tmp_path, write(values), ending=ending).narrower

    assert narrower is not None
    assert narrower.sentence.startswith("3 of the first 4 values are whole numbers")
    shorter = proposed(tmp_path, write(values[:3]), ending=ending).narrower
    assert shorter is not None
    assert shorter.sentence.startswith("2 of 3 values are whole numbers")


@cases(
    "values, found",
    {
        "numbers": (["1", "2.5", '"n/a"', "null"], ("double", 2, 3)),
        "booleans": (["true", '"x"', "false"], ("boolean", 2, 3)),
        "texts that look like numbers": (['"1"', '"2"', '"x"'], None),
        "dates": (['"2026-01-31"', '"x"', '"2026-02-01"'], ("date", 2, 3)),
        "an object": (["1", "2", '{"a": 1}'], None),
    },
)
def test_values_of_json_that_do_not_agree(tmp_path, values, found):
    column = proposed(tmp_path, json(values), ending="jsonl")

    assert column.column.type_name == "string"
    assert told(column.narrower) == found


@cases(
    "files, type_name, found",
    {
        "one is": ([MISSING, ["1", "2"]], "string", ("double", 6, 7)),
        "neither is": ([["1", "x", "2"], MISSING], "string", ("double", 6, 8)),
        "both are": ([["1"], ["2.5"]], "double", None),
        "unlike types": ([["1", "2"], ["2026-01-31"]], "string", None),
        "texts": ([["1", "2"], ["a", "b"]], "string", None),
    },
)
def test_of_several_files_the_values_are_counted_together(
    tmp_path: Path,
    files: list[list[str]],
    type_name: str,
    found: tuple[str, int, int] | None,
) -> None:
    column = proposed(tmp_path, *map(csv, files))

    assert column.column.type_name == type_name
    assert told(column.narrower) == found


def test_examples_of_nested_values_are_json(tmp_path: Path) -> None:
    column = proposed(tmp_path, json(['{"a": 1.50, "b": ["x"]}']), ending="jsonl")

    assert column.examples == ('{"a": 1.50, "b": ["x"]}',)


def test_what_stands_for_null_is_no_value(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(csv(MISSING))
    files = SourceFiles(
        paths=[str(path)], names=["a.csv"], form=TextForm(null_text="n/a")
    )

    (column,) = propose_columns(files)

    assert (column.column.type_name, column.narrower) == ("double", None)


KNOWN = StructType(
    parse_columns_ddl(
        "v STRUCT<a: ARRAY<INT>, b: MAP<STRING, DATE>, c: DECIMAL(9,2)>, w BIGINT"
    )
)
UNSEEN = {
    "a nested column": (
        '{"v": null, "w": 1}\n{"w": 2}\n',
        "struct<a: array<int>, b: map<string,date>, c: decimal(9,2)>",
    ),
    "fields": (
        '{"v": {"A": null, "b": null, "c": 1}, "w": null}\n',
        "struct<A: array<int>, b: map<string,date>, c: bigint>",
    ),
    "elements": ('{"v": {"a": [null]}, "w": null}\n', "struct<a: array<int>>"),
}


@cases("text, wanted", UNSEEN)
def test_what_has_no_value_takes_the_type_that_is_known(tmp_path: Path, text, wanted):
    (tmp_path / "a.json").write_text(text)
    files = SourceFiles(paths=[str(tmp_path / "a.json")], names=["a.json"])

    found = [one.column.type_name for one in propose_columns(files, unseen=KNOWN)]

    assert [kind.replace(" ", "") for kind in found] == [
        wanted.replace(" ", ""),
        "bigint",
    ]


def test_rows_without_a_nested_value_are_merged(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"v": null, "w": 1}\n{"v": {"c": null}, "w": 2}\n'
    )
    files = SourceFiles(paths=[str(tmp_path / "a.json")], names=["a.json"])
    table = TableBuilder(tmp_path / "t").columns(arrow_schema(KNOWN)).build()

    merge = table.merge(open_import(files, unseen=KNOWN), on="t.w = s.w")
    merge.when_matched_update().when_not_matched_insert().execute()

    rows = table.snapshot().read().sort_by("w").to_pylist()
    empty = {"a": None, "b": None, "c": None}
    assert rows == [{"v": None, "w": 1}, {"v": empty, "w": 2}]


def test_a_column_of_texts_without_a_value_does_so_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("w,x\n,\n,\n")
    files = SourceFiles(paths=[str(tmp_path / "a.csv")], names=["a.csv"])

    found = [one.column.type_name for one in propose_columns(files, unseen=KNOWN)]

    assert found == ["bigint", "string"]
