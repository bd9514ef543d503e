"""Rows that deletion vectors delete are no rows to Spark either."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol, remove
from tests.support.logs.local_logs import typed_schema
from tests.support.logs.roaring_bitmaps import inline_vector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMES = ["deletionVectors"]
VECTOR = inline_vector(range(50, 80))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    pq.write_table(pa.table({"n": range(100)}), tmp_path / "t" / "a")
    stats = json.dumps({"numRecords": 100})
    commits = [
        [
            protocol(3, 7, readerFeatures=NAMES, writerFeatures=NAMES),
            metadata(schemaString=typed_schema(n="long")),
            add("a", stats=stats),
        ],
        [remove("a"), add("a", stats=stats, deletionVector=VECTOR)],
    ]
    for version, actions in enumerate(commits):
        (log / f"{version:020d}.json").write_bytes(commit_bytes(*actions))
    return tmp_path / "t"


@pytest.mark.parametrize("num_files", [None, 10**6], ids=["listed", "replayed"])
def test_a_profile_is_of_live_rows(spark, table, num_files):
    from deltaweb.spark.statistics import ProfileRequest, profile_column

    request = ProfileRequest(
        place=TablePlace(str(table)), version=1, column=("n",), num_files=num_files
    )
    found = profile_column(spark, request)

    assert (found.num_rows, found.num_distinct) == (70, 70)


def test_a_changed_vector_is_a_change_of_rows(spark: "SparkSession", table: Path):
    from functools import partial

    from deltaweb.spark.table_changes import diff_rows

    diff = DeltaTable(str(table)).compare(0, 1)
    here = diff.rows()
    there = diff.rows(None, partial(diff_rows, spark, TablePlace(str(table))))

    assert (here.inserted, here.deleted) == (0, 30)
    assert (there.inserted, there.deleted) == (0, 30)
