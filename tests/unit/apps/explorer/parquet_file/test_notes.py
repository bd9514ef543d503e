"""What is worth knowing of a file before its numbers are read."""

from dataclasses import replace

import pyarrow as pa
import pytest

from apps.explorer.parquet_file.notes import notes_of
from deltaweb.parquet.inspection.facts import FileFacts, KeyValue
from deltaweb.parquet.inspection.nodes import NODE_SCHEMA

VERSION = "org.apache.spark.version"
ZONE = "org.apache.spark.timeZone"
INT96 = {"delta_type": "timestamp", "physical_type": "INT96"}
DAY = {"delta_type": "date", "physical_type": "INT32"}
NUMBER = {"delta_type": "integer", "physical_type": "INT32"}

FACTS = FileFacts(
    size_bytes=100,
    footer_bytes=50,
    format_version=1,
    created_by=None,
    encryption=None,
    num_rows=1,
    num_row_groups=1,
    num_columns=1,
    num_nodes=1,
    num_chunks=1,
    compressed_bytes=10,
    uncompressed_bytes=10,
    codecs=(),
    encodings=(),
    column_orders=None,
    warnings=(),
    has_more_warnings=False,
    key_values=(),
    num_key_values=0,
    delta_features=(),
    delta_reasons=(),
    num_delta_reasons=0,
)


def old_calendar_notes(keys: dict[str, str], leaf: dict[str, str]) -> list[str]:
    rows = [{"path": ["a"], "num_ranges": 1, "num_chunks": 1, "num_ignored": 0, **leaf}]
    pairs = tuple(
        KeyValue(key=key, length=len(value), value=value) for key, value in keys.items()
    )
    notes = notes_of(
        replace(FACTS, key_values=pairs), pa.Table.from_pylist(rows, NODE_SCHEMA), []
    )
    return [note.finding for note in notes if "calendar" in note.finding]


@pytest.mark.parametrize(
    ("keys", "leaf", "zone"),
    [
        ({VERSION: "2.4.8"}, DAY, "UTC"),
        ({VERSION: "2.4.8"}, NUMBER, None),
        (
            {
                VERSION: "4.2.0",
                "org.apache.spark.legacyINT96": "",
                ZONE: "Asia/Kolkata",
            },
            INT96,
            "Asia/Kolkata",
        ),
        ({VERSION: "4.2.0"}, INT96, None),
        ({}, DAY, None),
    ],
)
def test_a_file_of_the_old_calendar_says_so_and_whose_clocks_it_has(keys, leaf, zone):
    expected = (
        "Days and times before 1900 are in Spark's old calendar, in the time zone {}."
    )

    found = old_calendar_notes(keys, leaf)

    assert found == ([] if zone is None else [expected.format(zone)])
