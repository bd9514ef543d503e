"""A variant is shown as text among other rows, and as a tree of typed values alone."""

import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client

from deltaweb.delta.log.paths import commit_name
from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol
from tests.support.logs.local_logs import typed_schema
from tests.support.pages.answers import json_of, text_of
from tests.support.pages.shown_words import words
from tests.unit.deltaweb.delta.values.test_variants import (
    members,
    names,
    primitive,
    text,
)

pytestmark = pytest.mark.django_db
DATA = f"{TABLE}variants/data"
DAY = primitive(11, struct.pack("<i", 1))
PRICE = primitive(8, b"\x02" + struct.pack("<i", 1099))
PLAIN = '{"day":"1970-01-02","note":"1970-01-02","price":10.99}'


@pytest.fixture(autouse=True)
def variants(tmp_path: Path) -> None:
    """A table of two variants, the second of them missing."""
    folder = tmp_path / "variants"
    (folder / "_delta_log").mkdir(parents=True)
    value = members(day=(0, DAY), note=(1, text("1970-01-02")), price=(2, PRICE))
    rows = [{"metadata": names("day", "note", "price"), "value": value}, None]
    kind = pa.struct({"metadata": pa.binary(), "value": pa.binary()})
    pq.write_table(
        pa.table({"id": [1, 2], "v": pa.array(rows, kind)}), folder / "1.parquet"
    )
    features = ["variantType"]
    (folder / "_delta_log" / commit_name(0)).write_bytes(
        commit_bytes(
            protocol(3, 7, readerFeatures=features, writerFeatures=features),
            metadata(schemaString=typed_schema(id="long", v="variant")),
            add("1.parquet", size=(folder / "1.parquet").stat().st_size),
        )
    )
    new_indexed_table("variants", folder)


def test_a_record_shows_the_types_of_its_values(viewer: Client) -> None:
    text_of(viewer, f"{DATA}/1")
    work()

    page = text_of(viewer, f"{DATA}/1")

    assert "day 1970-01-02 date" in words(page)
    assert '<b>note</b> &quot;1970-01-02&quot; <span class="dw-3">string</span>' in (
        page.replace('"1970-01-02"', "&quot;1970-01-02&quot;")
    )
    assert "price 10.99 decimal" in words(page)
    assert json_of(viewer, f"{DATA}/1.json")["values"] == {"id": "1", "v": PLAIN}
    assert viewer.get(f"{DATA}/1/value?column=v").getvalue().decode() == PLAIN
    assert 'aria-label="no value"' in text_of(viewer, f"{DATA}/2")


def test_rows_show_it_as_text(viewer: Client) -> None:
    text_of(viewer, DATA)
    work()

    found = json_of(viewer, f"{DATA}.json")["rows"]

    assert found == [{"id": "1", "v": PLAIN}, {"id": "2", "v": None}]
