"""The pages of a table that maps columns: logical names, physical ones on request."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import TABLE, work
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.answers import json_of, text_of
from tests.support.tables.mapped_tables import MappedTable, field

pytestmark = pytest.mark.django_db
DAY = field("day", "string", 2, "col-2")


@pytest.fixture(autouse=True)
def _visits(tmp_path: Path) -> None:
    """A table whose column `cust` was renamed, partitioned by another."""
    written = MappedTable(field("cust", "long", 1, "col-1"), DAY, partitions=["day"])
    stats = json.dumps(
        {
            "numRecords": 2,
            "minValues": {"col-1": 7},
            "maxValues": {"col-1": 8},
            "nullCount": {"col-1": 0},
        }
    )
    rows = pa.table({"col-1": [7, 8]})
    written.add("a.parquet", rows, partitionValues={"col-2": "Monday"}, stats=stats)
    written.evolve(field("customer", "long", 1, "col-1"), DAY)
    new_indexed_table("visits", written.on_disk(tmp_path / "visits"))


class TestTheSchemaPage:
    def test_has_logical_names_and_what_files_tell_of_them(self, viewer: Client):
        page = text_of(viewer, f"{TABLE}visits/schema")

        assert "7 – 8" in page
        assert "customer" in page
        assert "<code>col-1</code>" not in page
        assert "names=physical" in page

    def test_shows_physical_names_where_the_address_asks(self, viewer: Client) -> None:
        page = text_of(viewer, f"{TABLE}visits/schema?names=physical&q=customer")

        assert "<code>col-1</code>" in page
        assert "id 1" in page
        assert "Hide physical names" in page
        assert '<input type="hidden" name="names" value="physical">' in page

    def test_refuses_other_names(self, viewer: Client) -> None:
        assert viewer.get(f"{TABLE}visits/schema?names=odd").status_code == 400


def test_files_are_listed_by_the_names_of_partition_columns(viewer: Client) -> None:
    files = json_of(viewer, f"{TABLE}visits/files.json")["files"]

    assert isinstance(files, list)
    assert [file["partition_values"] for file in files] == [{"day": "Monday"}]
    assert "a.parquet" in text_of(viewer, f"{TABLE}visits/files?partition=day=Monday")


def test_files_of_a_commit_have_the_names_of_partition_columns(viewer: Client) -> None:
    assert "day=Monday" in text_of(viewer, f"{TABLE}visits/history/1")
    added = json_of(viewer, f"{TABLE}visits/history/1.json")["added"]

    assert isinstance(added, list)
    assert [file["partition"] for file in added] == ["day=Monday"]


def test_partitions_are_added_up_by_their_names(viewer: Client) -> None:
    partitions = json_of(viewer, f"{TABLE}visits/partitions.json")["partitions"]

    assert isinstance(partitions, list)
    assert [one["values"] for one in partitions] == [{"day": "Monday"}]


def test_a_comparison_tells_a_rename(viewer: Client) -> None:
    page = text_of(viewer, f"{TABLE}visits/compare/1...2?view=schema")

    assert "renamed from <code>cust</code>" in page


def test_rows_have_the_names_of_their_version(viewer: Client) -> None:
    viewer.get(f"{TABLE}visits/data")
    work()

    page = text_of(viewer, f"{TABLE}visits/data")

    assert "customer" in page
    assert "Monday" in page
