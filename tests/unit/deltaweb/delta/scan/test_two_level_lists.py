"""Lists and maps that are the repeated group of a list, as old writers nest them.

Spark writes them with `writeLegacyFormat`, and parquet-avro with its old lists.
"""

import json
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.scan.data_file import DataFile
from deltaweb.parquet.conversion.arrow import arrow_schema
from deltaweb.parquet.conversion.stored import convert_file
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.nesting import Part, parts_of
from deltaweb.parquet.values.reading import read_rows
from tests.support.files.changed_schemas import elements_of, two_level, with_schema
from tests.support.files.lossy_files import written

INTS = pa.list_(pa.int32())
PAIRS = pa.map_(pa.string(), pa.int32())
RECORD = pa.struct([("n", pa.int32()), ("l", INTS)])


def required(element: pa.DataType) -> pa.DataType:
    """Return a list whose elements are not null."""
    return pa.list_(pa.field("element", element, nullable=False))


COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "lists": (required(INTS), [[[1, None], []], None, [], [[3]]]),
    "lists of required": (required(required(pa.int32())), [[[1], []], None, []]),
    "maps": (required(PAIRS), [[[("x", 1), ("y", None)], []], None, []]),
    "three deep": (required(required(INTS)), [[[[1, None], []], []], None, [[[2]]]]),
    "four deep": (
        required(required(required(PAIRS))),
        [[[[[("x", 1)], []], []], []], None, [[[[("y", None)]]]]],
    ),
    "lists of maps in lists": (required(required(PAIRS)), [[[[("x", 1)], []]], []]),
    "maps of lists in lists": (
        required(pa.map_(pa.string(), required(INTS))),
        [[[("x", [[1], []]), ("y", None)]], None],
    ),
    "in a struct": (
        pa.struct([("a", required(INTS)), ("b", required(PAIRS))]),
        [{"a": [[1]], "b": [[("x", 2)]]}, None, {"a": None, "b": []}],
    ),
    "structs in lists": (
        required(pa.list_(RECORD)),
        [[[{"n": 1, "l": [2, None]}, None]], [[]], None],
    ),
    "the values of a map": (
        pa.map_(pa.string(), required(required(PAIRS))),
        [[("k", [[[("x", 1)]], []]), ("l", None)], None, []],
    ),
}


def file_of(name: str) -> bytes:
    kind, values = COLUMNS[name]
    data = written(pa.table({"n": range(len(values)), "a": pa.array(values, kind)}))
    return with_schema(data, two_level(elements_of(data)))


def rows_of(data: bytes) -> list[object]:
    footer = load_footer(pa.BufferReader(data))
    conversion = convert_file(footer)
    assert conversion.problems == ()
    schema = parse_schema(json.dumps(conversion.nullable))
    with DataFile("a.parquet", lambda _: pa.BufferReader(data)) as file:
        return [
            value
            for _, columns in file.batches(schema, 0)
            for value in columns["a"].to_pylist()
        ]


def as_json(value: Any, kind: pa.DataType) -> Any:  # noqa: ANN401 (of any type)
    """Return a value as the preview has it: a pair of a map is a list."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return [[key, as_json(item, kind.item_type)] for key, item in value]
    if pa.types.is_list(kind):
        return [as_json(each, kind.value_type) for each in value]
    if pa.types.is_struct(kind):
        return {f.name: as_json(value[f.name], f.type) for f in kind}
    return value


@pytest.mark.parametrize("name", COLUMNS)
class TestEveryDepth:
    def test_rows_are_read(self, name: str) -> None:
        assert rows_of(file_of(name)) == COLUMNS[name][1]

    def test_the_preview_shows_the_same(self, name: str) -> None:
        kind, values = COLUMNS[name]
        rows = read_rows(pa.BufferReader(file_of(name)), 10)

        assert [row["a"] for row in rows] == [as_json(one, kind) for one in values]

    def test_arrows_schema_is_that_of_three_levels(self, name: str) -> None:
        kind, _ = COLUMNS[name]
        data = written(pa.table({"a": pa.array([], kind)}))
        legacy = with_schema(data, two_level(elements_of(data)))

        old, new = (
            arrow_schema(load_footer(pa.BufferReader(f)).root) for f in (legacy, data)
        )

        assert old == new

    def test_the_schema_tree_has_the_parts_of_each(self, name: str) -> None:
        root = load_footer(pa.BufferReader(file_of(name))).root

        assert all(map(has_parts, map(Part, root.children or ())))


def has_parts(part: Part) -> bool:
    """Whether every group has parts, down to the leaves."""
    inner = parts_of(part)
    return part.node.children is None or (bool(inner) and all(map(has_parts, inner)))
