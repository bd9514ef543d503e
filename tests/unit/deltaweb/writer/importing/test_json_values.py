"""What is wrong with JSON is said in our words, and its numbers keep their digits."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.protocol.schema_ddl import parse_type_ddl
from deltaweb.delta.values.exact_json import ExactNumber
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.json_rows import parse_row
from deltaweb.writer.importing.json_values import json_text, misfit
from deltaweb.writer.importing.options import ImportColumn
from deltaweb.writer.importing.plan import Import, carry_out_import
from deltaweb.writer.importing.source_file import SourceFiles


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param('{"a": 1 "b": 2}', "a comma, or the end", id="no comma"),
        pytest.param('{"a" 1}', "a colon is missing", id="no colon"),
        pytest.param("{a: 1}", "a name in double quotes", id="a bare name"),
        pytest.param('{"a": 1,}', "", id="a comma too many"),
        pytest.param('{"a": }', "a value is missing", id="no value"),
        pytest.param('{"a": 1} {"b": 2}', "something follows", id="two rows"),
        pytest.param(r'{"a": "\x"}', "an escape that JSON has not", id="an escape"),
        pytest.param(r'{"a": "\u12"}', "an escape that JSON has not", id="half of one"),
        pytest.param('{"a": "b', "a text does not end", id="no end"),
        pytest.param('{"a": "b\x01"}', "a control character", id="a control character"),
        pytest.param("[" * 100_000, "", id="too deep"),
        pytest.param('{"a": "\udce9"}', "not UTF-8", id="no text"),
    ],
)
def test_a_line_that_is_no_json_is_told_in_our_words(line: str, said: str) -> None:
    row, fault = parse_row(line.encode("utf-8", "surrogateescape"))

    assert row is None
    assert said in fault
    for theirs in ("Expecting", "delimiter", "char ", "codec", "recursion", "Invalid"):
        assert theirs not in fault


def test_the_place_is_a_character_of_the_line() -> None:
    assert parse_row(b'{"a": 1 "b": 2}')[1].endswith("is missing, at character 9")


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        pytest.param(
            '{"a": "x"}', "struct<a: bigint>", 'a: "x" is not a valid bigint', id="in"
        ),
        pytest.param(
            '{"a": 1.5}', "struct<a: bigint>", "a: 1.5 is not a whole number", id="1.5"
        ),
        pytest.param(
            '{"b": 1}', "struct<a: bigint>", "has no field 'b'", id="another field"
        ),
        pytest.param(
            '["x", {}]', "array<string>", "[1]: {} is not a valid string", id="array"
        ),
        pytest.param(
            '{"k": "x"}', "map<string, int>", "['k']: \"x\" is not a valid int", id="m"
        ),
        pytest.param(
            "[1]", "struct<a: int>", "[1] is not a valid struct", id="no struct"
        ),
        pytest.param(
            '{"a": 3000000000}',
            "struct<a: int>",
            "outside of what int holds",
            id="long",
        ),
        pytest.param('{"a": 1, "b": null}', "struct<a: int, b: date>", "", id="fits"),
    ],
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
        carry_out_import(table.store, Import(files=files, columns=columns))

    stored = sorted(table.snapshot().read()["v"].to_pylist())
    assert stored == sorted(['{"a": 1.50}', "text", json.dumps({"a": "x" * 150})])
