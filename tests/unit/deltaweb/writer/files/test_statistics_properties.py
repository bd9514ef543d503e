"""Properties that say which statistics a table has, and of how long texts."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.index.query import classification
from deltaweb.table import DeltaTable
from deltaweb.writer.files.statistics import cut_maximum
from tests.support import cases
from tests.support.tables.table_builder import TableBuilder

COLUMNS = "delta.dataSkippingStatsColumns"
PREFIX = "delta.dataSkippingStringPrefixLength"
ITEM = pa.struct([("a", pa.int64()), ("b.c", pa.string())])
SCHEMA = pa.schema(
    [
        ("x", pa.int64()),
        ("z.z", pa.int64()),
        ("net,gross", pa.int64()),
        ("a`b", pa.int64()),
        ("s", ITEM),
        ("items", pa.list_(ITEM)),
        ("bin", pa.binary()),
        ("flag", pa.bool_()),
        ("one", pa.struct([("bin", pa.binary())])),
        ("p", pa.string()),
    ]
)
WRONG = {
    "an unknown name": ("x,nosuch", "nosuch is not a column"),
    "a name twice": ("x,x", "x is named twice"),
    "a name twice, in another case": ("x,X", "X is named twice"),
    "a name twice, in backticks": ("x,`x`", "named twice"),
    "a struct and a field": ("s,s.a", "s.a is named twice"),
    "a field and its struct": ("s.a,s", "s is named twice"),
    "a pattern": ("s.*", r"s\.\* is not a column"),
    "every column": ("*", "is not a column"),
    "a dot without backticks": ("z.z", "z.z is not a column"),
    "a comma without backticks": ("net,gross", "net is not a column"),
    "a field of a list": ("items.element.a", "is not a column"),
    "an unknown field": ("s.q", "s.q is not a column"),
    "a list": ("items", "items is of type array"),
    "bytes": ("bin", "bin is of type binary"),
    "a boolean": ("x,flag", "flag is of type boolean"),
    "nested bytes": ("one.bin", "one.bin is of type binary"),
    "a partition column": ("P", "P is a partition column"),
    "a path in one pair of backticks": ("`s.a`", "is not a column"),
}
RIGHT = {
    "nothing": "",
    "a column": "x",
    "another case": "X, S.A",
    "a quoted dot": "x,`z.z`",
    "a quoted comma": "`net,gross`",
    "a quoted backtick": "`a``b`",
    "a struct": "s",
    "a quoted field": "s.`b.c`,`s`.a",
    "a struct of a type without bounds": "one",
    "no column": " , ",
}


@cases("value, reason", WRONG)
def test_a_list_that_does_not_fit_is_refused(value: str, reason: str) -> None:
    table = TableBuilder().columns(SCHEMA).partitioned_by("p").build()

    with pytest.raises(PropertyError, match=reason):
        TableBuilder().columns(SCHEMA).partitioned_by("p").property(
            COLUMNS, value
        ).build()
    with pytest.raises(PropertyError, match=reason):
        table.set_properties({COLUMNS: value})
    assert table.latest_version() == 0


@cases("value", RIGHT)
def test_a_list_that_fits_is_set(value: str) -> None:
    table = TableBuilder().columns(SCHEMA).property(COLUMNS, value).build()
    other = TableBuilder().columns(SCHEMA).build()
    other.set_properties({COLUMNS: value})

    for one in (table, other):
        assert one.definition().metadata.configuration[COLUMNS] == value


@pytest.mark.parametrize("value", ["-1", "abc", "", "1.5", "+8", "٣", "9999999999"])
def test_a_length_that_is_no_number_is_refused(value: str) -> None:
    table = TableBuilder().columns(SCHEMA).build()

    with pytest.raises(PropertyError, match="a number from 0"):
        TableBuilder().columns(SCHEMA).property(PREFIX, value).build()
    with pytest.raises(PropertyError, match="a number from 0"):
        table.set_properties({PREFIX: value})


def bounds(table: DeltaTable) -> list[tuple[str | None, str | None]]:
    found = table.snapshot().statistics()
    lows, highs = (found[name].to_pylist() for name in ("min", "max"))
    return [(low["t"], high["t"]) for low, high in zip(lows, highs, strict=True)]


TEXTS = {
    "0": ("", None),
    "1": ("l", "z\x7f"),
    "4": ("long", "zebr\x7f"),
    "8": ("long tex", "zebra cr\x7f"),
    "14": ("long text here", "zebra crossing"),
    "100": ("long text here", "zebra crossing"),
}


@pytest.mark.parametrize("length", TEXTS)
def test_texts_are_cut_at_the_length(length: str) -> None:
    schema = pa.schema([("t", pa.string())])
    builder = TableBuilder().columns(schema).property(PREFIX, length)
    table = builder.rows(t=["long text here", "zebra crossing"]).build()

    assert bounds(table) == [TEXTS[length]]
    assert table.snapshot().read(predicate="t > 'zebra cross'").num_rows == 1


def test_an_empty_list_is_of_no_column() -> None:
    table = TableBuilder().columns(SCHEMA).property(COLUMNS, "x").build()
    table.set_properties({COLUMNS: ""})
    table.append(pa.table({"x": [1]}))

    (raw,) = table.snapshot().raw_statistics()
    texts = [] if raw.json_text is None else raw.json_text.to_pylist()
    assert [*map(json.loads, texts)] == [
        {
            "numRecords": 1,
            "minValues": {},
            "maxValues": {},
            "nullCount": {},
        }
    ]


def test_texts_of_a_converted_folder_are_cut_at_the_length(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": ["abcdef", "uvwxyz"]}), tmp_path / "a.parquet")

    table = DeltaTable.convert(str(tmp_path), properties={PREFIX: "3"})

    assert bounds(table) == [("abc", "uvw\x7f")]


@given(st.text(max_size=12), st.integers(1, 8))
def test_a_cut_maximum_is_above(text: str, length: int) -> None:
    cut = cut_maximum(text, length)

    assert cut is None or json.loads(cut) >= text
    assert cut is None or len(json.loads(cut)) <= max(2 * length + 1, length + 1)


@cases(
    "configuration, expected",
    {
        "without it": ({}, 32),
        "shorter": ({PREFIX: "8"}, 8),
        "longer": ({PREFIX: "80"}, 32),
        "broken": ({PREFIX: "eight"}, 0),
        "nothing": ({PREFIX: "0"}, 0),
    },
)
def test_files_of_a_share_may_have_texts_as_short(
    configuration: dict[str, str], expected: int
) -> None:
    metadata = Metadata(id="t", schema_string="", configuration=configuration)

    assert classification._cut_bytes(metadata) == expected  # noqa: SLF001 (a bound that grants access)
