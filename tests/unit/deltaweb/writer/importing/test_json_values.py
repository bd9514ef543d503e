"""What is wrong with JSON is said in our words, and its numbers keep their digits."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.protocol.schema_ddl import parse_type_ddl
from deltaweb.delta.values.exact_json import ExactNumber
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.json_rows import parse_row
from deltaweb.writer.importing.json_values import json_text, misfit
from deltaweb.writer.importing.options import ImportColumn
from deltaweb.writer.importing.plan import Import, begin_import
from deltaweb.writer.importing.source_file import SourceFiles
from tests.support import cases


@cases(
    "line, said",
    {
        "no comma": ('{"a": 1 "b": 2}', "a comma, or the end"),
        "no colon": ('{"a" 1}', "a colon is missing"),
        "a bare name": ("{a: 1}", "a name in double quotes"),
        "a comma too many": ('{"a": 1,}', ""),
        "no value": ('{"a": }', "a value is missing"),
        "two rows": ('{"a": 1} {"b": 2}', "something follows"),
        "an escape": (r'{"a": "\x"}', "an escape that JSON has not"),
        "half of one": (r'{"a": "\u12"}', "an escape that JSON has not"),
        "no end": ('{"a": "b', "a text does not end"),
        "a control character": ('{"a": "b\x01"}', "a control character"),
        "too deep": ("[" * 100_000, ""),
        "no text": ('{"a": "\udce9"}', "not UTF-8"),
    },
)
def test_a_line_that_is_no_json_is_told_in_our_words(line: str, said: str) -> None:
    row, fault = parse_row(line.encode("utf-8", "surrogateescape"))

    assert row is None
    assert said in fault
    for theirs in ("Expecting", "delimiter", "char ", "codec", "recursion", "Invalid"):
        assert theirs not in fault


def test_the_place_is_a_character_of_the_line() -> None:
    assert parse_row(b'{"a": 1 "b": 2}')[1].endswith("is missing, at character 9")


@cases(
    "value, kind, said",
    {
        "in": ('{"a": "x"}', "struct<a: bigint>", 'a: "x" is not a valid bigint'),
        "1.5": ('{"a": 1.5}', "struct<a: bigint>", "a: 1.5 is not a whole number"),
        "another field": ('{"b": 1}', "struct<a: bigint>", "has no field 'b'"),
        "array": ('["x", {}]', "array<string>", "[1]: {} is not a valid string"),
        "m": ('{"k": "x"}', "map<string, int>", "['k']: \"x\" is not a valid int"),
        "no struct": ("[1]", "struct<a: int>", "[1] is not a valid struct"),
        "long": ('{"a": 3000000000}', "struct<a: int>", "outside of what int holds"),
        "fits": ('{"a": 1, "b": null}', "struct<a: int, b: date>", ""),
    },
)
def test_the_part_that_does_not_fit_is_named(value: str, kind: str, said: str) -> None:
    row = json.loads(value, parse_int=ExactNumber, parse_float=ExactNumber)

    found = misfit(row, parse_type_ddl(kind))

    assert said in found
    assert bool(found) == bool(said)


def test_numbers_keep_their_digits_in_json() -> None:
    text = '{"a": 1.50, "b": [1e400, null, true], "c": "é"}'

    value = json.loads(text, parse_int=ExactNumber, parse_float=ExactNumber)

    assert json_text(value) == text


def test_an_object_in_a_column_of_texts_is_stored_as_json(tmp_path: Path) -> None:
    lines, parquet = tmp_path / "a.jsonl", tmp_path / "a.parquet"
    lines.write_text('{"v": {"a": 1.50}}\n{"v": "text"}\n')
    pq.write_table(pa.table({"v": [{"a": "x" * 150}]}), parquet)
    columns = [ImportColumn(source="v", name="v", type_name="string")]
    table = DeltaTable(str(tmp_path / "t"))
    for path in (lines, parquet):
        files = SourceFiles(paths=[str(path)], names=[path.name])
        begin_import(table.store, Import(files=files, columns=columns)).carry_out()

    stored = sorted(table.snapshot().read()["v"].to_pylist())
    assert stored == sorted(['{"a": 1.50}', "text", json.dumps({"a": "x" * 150})])
