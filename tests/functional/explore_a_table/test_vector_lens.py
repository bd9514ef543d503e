"""What deletion vectors hide, beside the files that they belong to."""

from pathlib import Path

import pytest
from django.test import Client

from tests.functional.explore_a_table.pages import TABLE
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.logs.delta_logs import LogBuilder, add, metadata, protocol
from tests.support.pages.answers import json_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _orders(tmp_path: Path) -> None:
    """Two files of 100 rows, of the first of which a vector hides 25."""
    vector = {
        "storageType": "u",
        "pathOrInlineDv": "vBn[lx{q8@P<9BNH/isA",
        "offset": 1,
        "sizeInBytes": 36,
        "cardinality": 25,
    }
    builder = LogBuilder()
    features = {
        "readerFeatures": ["deletionVectors"],
        "writerFeatures": ["deletionVectors"],
    }
    builder.commit(0, protocol(3, 7, **features), metadata())
    builder.commit(
        1,
        add("a.parquet", size=1000, stats='{"numRecords": 100}', deletionVector=vector),
        add("b.parquet", size=1000, stats='{"numRecords": 100}'),
    )
    builder.on_disk(tmp_path / "orders")
    new_indexed_table("orders", tmp_path / "orders")


def test_tells_dead_rows_and_what_a_purge_would_save(viewer: Client) -> None:
    lens = json_of(viewer, f"{TABLE}orders/files.json")["vectors"]

    assert lens == {
        "files": 1,
        "dead_rows": 25,
        "rows_of_files_with_vectors": 100,
        "rows_of_all_files": 200,
        "purge_rewrites_bytes": 1000,
        "purge_saves_bytes_estimated": 250,
        "files_without_row_counts": 0,
        "percent_dead": 12.5,
        "percent_dead_of_files_with_vectors": 25.0,
    }


def test_refuses_another_word(viewer: Client) -> None:
    assert viewer.get(f"{TABLE}orders/files?dv=maybe").status_code == 400
