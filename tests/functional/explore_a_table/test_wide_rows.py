"""Rows of wide tables, and of texts that are hard to see or long."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.index.indexed_tables import new_sample_table
from tests.support.logs.delta_logs import LogBuilder, add
from tests.support.logs.local_logs import typed_schema
from tests.support.pages.answers import json_of, text_of

pytestmark = pytest.mark.django_db

LONG = "x" * 300_000
WIDE = pa.table({f"c{number}": [number, -number] for number in range(400)})
ODD = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
        "note": ["", None, "  two", "a\nb", "null", LONG],
        "price": pa.array([Decimal("0.0000000001")] * 6, pa.decimal128(38, 10)),
    }
)


TYPES = {"int64": "long", "string": "string", "decimal128(38, 10)": "decimal(38,10)"}


def write_table(location: Path, rows: pa.Table) -> Path:
    """Write a table of one file."""
    columns = {field.name: TYPES[str(field.type)] for field in rows.schema}
    location.mkdir()
    pq.write_table(rows, file := location / "0.parquet")
    log = LogBuilder().start(
        add(file.name, size=file.stat().st_size), schemaString=typed_schema(**columns)
    )
    return log.on_disk(location)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of both tables."""
    folder = tmp_path_factory.mktemp("wide")
    write_table(folder / "wide", WIDE)
    write_table(folder / "odd", ODD)
    return folder


@pytest.fixture
def wide(written: Path) -> None:
    new_sample_table("wide", written / "wide")


@pytest.fixture
def odd(written: Path) -> None:
    new_sample_table("odd", written / "odd")


def read(client: Client, path: str) -> str:
    client.get(path)
    work()
    return text_of(client, path)


@pytest.mark.usefixtures("wide")
class TestAWideTable:
    def test_gives_scripts_every_column_page_by_page(self, viewer: Client) -> None:
        found: dict[str, object] = {}
        url = f"{TABLE}wide/data.json?col=*"
        while url:
            read(viewer, url.replace("data.json", "data"))
            page = json_of(viewer, url)
            found |= page["rows"][1]
            url = str(page["next_columns"] or "")

        assert found == {f"c{number}": str(-number) for number in range(400)}

    def test_a_filter_names_the_page(self, viewer: Client) -> None:
        page = read(viewer, f"{TABLE}wide/data?f=c1:ge:0&f=c2:lt:9")

        assert "<title>c1 ≥ 0 and c2 &lt; 9 · wide · data" in page
        assert "Rows where c1 ≥ 0 and c2 &lt; 9, version 0</h2>" in page

    def test_a_row_opens_as_a_record_of_every_column(self, viewer: Client) -> None:
        page = read(viewer, f"{TABLE}wide/data/2?f=c1:ne:7")
        more = read(viewer, f"{TABLE}wide/data/2?f=c1:ne:7&cols=3")

        assert '<th scope="row" class="dw-mono x-wrap">c149</th>' in page
        assert '<th scope="row" class="dw-mono x-wrap">c399</th>' in more
        assert "-399" in more

    def test_the_grid_leads_to_the_record_of_the_row_that_is_meant(self, viewer):
        page = read(viewer, f"{TABLE}wide/data?sort=c5&f=c1:ne:7")

        first, second = page.split("<tr data-row>")[1:3]
        assert f'href="{TABLE}wide/data/2?f=c1%3Ane%3A7"' in first
        assert f'href="{TABLE}wide/data/1?f=c1%3Ane%3A7"' in second


@pytest.mark.usefixtures("odd")
class TestOddTexts:
    def test_they_differ_in_csv(self, viewer: Client) -> None:
        viewer.get(f"{TABLE}odd/data")
        work()
        answer = viewer.get(f"{TABLE}odd/data.csv")
        lines = b"".join(answer).decode().split("\r\n")

        assert lines[1:4] == [
            '1,"",0.0000000001',
            "2,,0.0000000001",
            '3,"  two",0.0000000001',
        ]
        assert lines[5] == "5,null,0.0000000001"

    def test_a_long_value_is_cut_in_the_pages_and_whole_behind_a_link(self, viewer):
        grid = read(viewer, f"{TABLE}odd/data")
        record = read(viewer, f"{TABLE}odd/data/6")
        whole = viewer.get(f"{TABLE}odd/data/6/value?column=note")

        assert len(grid) < 60_000
        assert len(record) < 60_000
        assert f"{TABLE}odd/data/6/value?column=note" in record
        assert b"".join(whole).decode() == LONG

    def test_a_cut_value_is_named_to_scripts(self, viewer: Client) -> None:
        read(viewer, f"{TABLE}odd/data")
        found = json_of(viewer, f"{TABLE}odd/data.json")
        record = json_of(viewer, f"{TABLE}odd/data/6.json")

        assert found["cut"] == [{"index": 5, "column": "note", "row": 6}]
        assert len(found["rows"][5]["note"]) < len(LONG)
        assert record["values"] == {"id": "6", "note": LONG, "price": "0.0000000001"}

    def test_a_record_can_be_copied_and_walked(self, viewer: Client) -> None:
        page = read(viewer, f"{TABLE}odd/data/4")

        assert '"note": "a\\nb"' in page.replace("&quot;", '"')
        assert f'rel="prev" href="{TABLE}odd/data/3"' in page
        assert f'rel="next" href="{TABLE}odd/data/5"' in page

    @pytest.mark.parametrize("row", [0, 7, 501])
    def test_a_row_that_is_none_is_not_found(self, viewer: Client, row: int) -> None:
        viewer.get(f"{TABLE}odd/data/{row}")
        work()

        assert viewer.get(f"{TABLE}odd/data/{row}").status_code == 404
