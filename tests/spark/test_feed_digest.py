"""Changes that Spark's tasks read: the same digest as in process."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltaweb.delta.feed import FeedFileMissingError
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedScan
from deltaweb.delta.feed.digest import DigestRequest, FeedDigest
from deltaweb.delta.feed.digest import digest_changes as in_process
from deltaweb.spark.data_files.feed_digest import digest_changes
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from tests.support.tables.fed_table import FedTable, renamed_things, things

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def written(folder: Path) -> Path:
    """Write a table whose updates are in several files, in any order."""
    fed = renamed_things()
    count = 300
    ids: list[int | None] = list(range(count))
    before = things(ids, ["a"] * count, ["update_preimage"] * count)
    after = things(ids[::-1], ["b"] * count, ["update_postimage"] * count)
    alone = things([None], ["?"], ["update_postimage"])
    fed.commit(
        fed.cdc("_change_data/d", before),
        fed.cdc("_change_data/e", after),
        fed.cdc("_change_data/f", alone),
        fed.cdc("_change_data/g", things([7], ["?"], ["insert"])),
    )
    return fed.on_disk(folder)


def facts_of(found: FeedDigest) -> dict[str, Any]:
    return {
        "versions": found.versions.to_pylist(),
        "num_changes": found.num_changes,
        "num_kept": found.num_kept,
        "num_alone": found.num_alone,
        "changed_cells": dict(found.changed_cells),
        "is_sampled": found.is_sampled,
        "rows": sorted(map(str, found.changes.to_pylist())),
    }


def ignored(_done: int, _total: int | None) -> None:
    """Ignore progress."""


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(DigestRequest(key=("id",)), id="by key"),
        pytest.param(DigestRequest(key=("id",), changed="name"), id="changed"),
        pytest.param(DigestRequest(), id="without a key"),
    ],
)
def test_tasks_find_what_one_process_does(spark, tmp_path, wanted):
    folder = written(tmp_path / "things")
    feed = FeedScan(DeltaTable(str(folder)).store, FeedRequest())

    found = digest_changes(
        spark, TablePlace(str(folder)), FeedRequest(), wanted, ignored
    )

    there = in_process(feed, feed.files(with_sizes=True), wanted)
    assert facts_of(found) == facts_of(there)


def test_a_file_that_is_gone_is_named_with_its_version(spark, tmp_path):
    folder = written(tmp_path / "things")
    (folder / "_change_data/e").unlink()
    place, wanted = TablePlace(str(folder)), DigestRequest(key=("id",))

    with pytest.raises(FeedFileMissingError) as caught:
        digest_changes(spark, place, FeedRequest(), wanted, ignored)

    assert (caught.value.version, caught.value.path) == (4, "_change_data/e")


def test_a_range_without_changes_needs_no_task(spark: "SparkSession", tmp_path: Path):
    folder = FedTable({"n": "long"}).on_disk(tmp_path / "nothing")

    found = digest_changes(
        spark, TablePlace(str(folder)), FeedRequest(), DigestRequest(), ignored
    )

    assert found.num_changes == found.versions.num_rows == 0
