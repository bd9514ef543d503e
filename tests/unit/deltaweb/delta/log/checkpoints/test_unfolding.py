"""Checkpoints whose few bytes stand for more than memory holds."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.checkpoints import part
from deltaweb.delta.log.checkpoints.part import rows_at_once
from deltaweb.delta.snapshot import Snapshot
from deltaweb.parquet.arrow_footer import parse_arrow_footer
from deltaweb.parquet.errors import FooterCorruptError
from deltaweb.parquet.tail import read_footer
from tests.support import cases
from tests.support.logs.small_checkpoints import (
    SMALL_HEAD,
    schema_with,
    snapshot_of_bytes,
)

MEBIBYTE = 1 << 20
NUM_FILES = 400
SCHEMA = schema_with(("stats", pa.string()))
LONG = '{"numRecords":1,"more":"' + "x" * 10_000 + '"}'


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a read become a mebibyte, and the rows of a part less than a tenth of it."""
    monkeypatch.setattr(part, "UNFOLDED_BYTES", MEBIBYTE)
    monkeypatch.setattr(part, "UNFOLDED_BYTES", MEBIBYTE)
    monkeypatch.setattr(part, "PART_BYTES", MEBIBYTE >> 4)


def checkpoint(stats: list[str | None], **options: Any) -> Snapshot:  # noqa: ANN401  # pyarrow's
    """The snapshot of a checkpoint with a file for each text of statistics."""
    adds = [{"add": {"path": f"f{i}", "stats": text}} for i, text in enumerate(stats)]
    sink = io.BytesIO()
    table = pa.Table.from_pylist([*SMALL_HEAD, *adds], schema=SCHEMA)
    pq.write_table(table, sink, **options)
    assert len(sink.getvalue()) < MEBIBYTE
    return snapshot_of_bytes(sink.getvalue())


@cases(
    "options",
    {
        "codes": {},
        "beginnings": {
            "use_dictionary": False,
            "column_encoding": {"add.stats": "DELTA_BYTE_ARRAY"},
        },
    },
)
def test_texts_that_stand_for_too_much_are_refused_before_all_are_made(options):
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    snapshot = checkpoint([LONG] * NUM_FILES, **options)
    pa.set_memory_pool(counted)
    try:
        with pytest.raises(LogCorruptError, match=r"take .* bytes in memory"):
            snapshot.statistics()
    finally:
        pa.set_memory_pool(usual)

    assert counted.max_memory() < 3 * MEBIBYTE


def test_a_long_text_among_short_ones_is_read_in_parts() -> None:
    stats = ['{"numRecords":2}'] * NUM_FILES
    stats[7] = LONG

    found = checkpoint([*stats]).statistics()

    assert sum(found["num_records"].to_pylist()) == 2 * NUM_FILES - 1


def test_lists_of_more_values_than_can_be_held_are_refused() -> None:
    sink = io.BytesIO()
    pq.write_table(
        pa.table({"a": pa.array([[None] * 200_000], pa.list_(pa.int32()))}), sink
    )
    source = pa.BufferReader(sink.getvalue())

    with pytest.raises(FooterCorruptError, match="more values than memory can hold"):
        rows_at_once(parse_arrow_footer(read_footer(source)), source, [0], [0])


def test_a_file_of_usual_texts_is_not_looked_into(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(part, "longest_values", None)  # it would fail

    found = checkpoint(['{"numRecords":2}'] * 40).statistics()

    assert found["num_records"].to_pylist() == [2] * 40
