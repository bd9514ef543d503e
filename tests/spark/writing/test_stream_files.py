"""What a stream reads of a table, and how far a batch goes."""

import pyarrow as pa
import pytest

from deltaweb.delta.errors import VersionNotFoundError
from deltaweb.delta.log.paths import commit_name
from deltaweb.spark.writing.source.stream_files import (
    StreamBounds,
    StreamChangeError,
    StreamFiles,
    StreamOffset,
    StreamRules,
)
from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import SCHEMA, TableBuilder

NO_BOUNDS = StreamBounds()


def row(n: int, p: str = "x") -> pa.Table:
    return pa.table({"n": [n], "s": ["s"], "p": [p]}, schema=SCHEMA)


# Versions 1 to 4 add a file each, 5 adds two.
APPENDS = (*map(row, range(4)), pa.concat_tables([row(4), row(5, "y")]))
TABLE = TableBuilder().partitioned_by("p").rows(*APPENDS)


def stream(table: DeltaTable, **rules: bool) -> StreamFiles:
    return StreamFiles(table.store, StreamRules(**rules))


def paths(found: StreamFiles, start: StreamOffset, end: StreamOffset) -> list[str]:
    return [
        path
        for _, files in found.between(start, end)
        for path in files["path"].to_pylist()
    ]


def walked(found: StreamFiles, start: StreamOffset, bounds: StreamBounds):
    """The files of each batch until nothing is new."""
    batches = []
    while (end := found.advance(start, bounds)) != start:
        assert StreamOffset.from_json(end.to_json()) == end
        batches.append(paths(found, start, end))
        start = end
    return batches


@pytest.mark.parametrize("start", [StreamOffset(5, is_snapshot=True), StreamOffset(1)])
def test_every_file_is_in_one_batch_whatever_the_bounds(table, start):
    every = sorted(table.snapshot().files["path"].to_pylist())
    size = table.snapshot().files["size"][0].as_py()

    for bounds, most in (
        (NO_BOUNDS, 6),
        (StreamBounds(max_files=1), 1),
        (StreamBounds(max_files=4), 4),
        (StreamBounds(max_bytes=1), 1),
        (StreamBounds(max_bytes=int(2.5 * size)), 2),
    ):
        batches = walked(stream(table), start, bounds)
        assert max(map(len, batches)) == most
        assert sorted(path for batch in batches for path in batch) == every


def test_a_version_read_whole_is_followed_by_what_comes(table: DeltaTable) -> None:
    found = stream(table)
    end = found.advance(StreamOffset(5, is_snapshot=True), NO_BOUNDS)
    assert end == found.advance(end, NO_BOUNDS) == StreamOffset(6)

    table.append(row(9))

    assert len(paths(found, end, found.advance(end, NO_BOUNDS))) == 1


def test_a_stream_that_takes_what_there_is_ends_with_a_version(table: DeltaTable):
    end = stream(table).advance(StreamOffset(2), StreamBounds(last_version=3))

    assert end == StreamOffset(4)


def test_rows_that_only_moved_are_not_read_again(table: DeltaTable) -> None:
    table.optimize()

    assert stream(table).advance(StreamOffset(6), NO_BOUNDS) == StreamOffset(7)
    assert paths(stream(table), StreamOffset(6), StreamOffset(7)) == []


def test_removed_rows_stop_a_stream_unless_they_are_passed_over(table: DeltaTable):
    table.delete("p = 'y'")  # version 6 removes a file
    table.update({"s": "'t'"}, "n = 1")  # version 7 writes one again

    with pytest.raises(StreamChangeError, match="version 6"):
        stream(table).advance(StreamOffset(6), NO_BOUNDS)
    with pytest.raises(StreamChangeError, match="version 7"):
        stream(table, ignore_deletes=True).advance(StreamOffset(6), NO_BOUNDS)
    start, end = StreamOffset(6), StreamOffset(8)
    assert len(paths(stream(table, ignore_changes=True), start, end)) == 1
    assert paths(stream(table, skip_changes=True), start, end) == []


def test_a_version_that_is_cleaned_up_is_named(table: DeltaTable) -> None:
    table.create_checkpoint()
    table.store.delete(commit_name(2))

    with pytest.raises(VersionNotFoundError, match="2"):
        stream(table).advance(StreamOffset(2), NO_BOUNDS)
