"""Statistics that come some rows at a time are those that come at once."""

import io
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.blocks import SelectedBlock, StatisticsPart
from deltaweb.delta.log.paths import checkpoint_name, checkpoint_part_names
from deltaweb.delta.log.replay import compact_blocks
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    checkpoint_bytes,
    metadata,
    protocol,
    txn,
)

TYPED = pa.struct([("numRecords", pa.int64())])
FIELDS = {
    "as text": [("stats", pa.string())],
    "typed": [("stats_parsed", TYPED)],
    "both": [("stats", pa.string()), ("stats_parsed", TYPED)],
    "none": [("size", pa.int64())],
}


def statistics_fields(number: int) -> dict[str, object]:
    """Every third file has no statistics."""
    if number % 3 == 0:
        return {}
    text = f'{{"numRecords":{number}}}'
    return {"stats": text, "stats_parsed": {"numRecords": number}}


def log(fields: Sequence[tuple[str, pa.DataType]], row_group_rows: int) -> LogBuilder:
    """A checkpoint of twenty files among other actions, and two commits."""
    files = [{"path": str(n), **statistics_fields(n)} for n in range(20)]
    rows = [{"add": None}, *({"add": file} for file in files[:9]), {"add": None}]
    rows += [{"add": file} for file in files[9:]]
    schema = pa.schema([("add", pa.struct([("path", pa.string()), *fields]))])
    table = pa.Table.from_pylist(rows, schema=schema)
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=row_group_rows)
    builder = LogBuilder()
    head = checkpoint_bytes([protocol(), metadata(), txn("a", 1)])
    for name, data in zip(
        checkpoint_part_names(5, 2), [head, sink.getvalue()], strict=True
    ):
        builder.store.put(name, data)
    builder.commit(6, {"remove": {"path": "3"}}, add("21", stats='{"numRecords":21}'))
    return builder.commit(7, {"remove": {"path": "11"}}, add("22"))


def joined(parts: Sequence[StatisticsPart]) -> list[list[object] | None]:
    """The text and the typed ones, row for row."""
    columns = zip(*(part.raw for part in parts), strict=True)
    return [
        None
        if column[0] is None
        else [value for one in column if one is not None for value in one.to_pylist()]
        for column in columns
    ]


def whole(block: SelectedBlock) -> list[list[object] | None]:
    raw = block.statistics()
    text = block.text() if raw.json_text is None else raw.json_text
    return [None if one is None else one.to_pylist() for one in (text, raw.parsed)]


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
@pytest.mark.parametrize("row_group_rows", [4, 100])
@pytest.mark.parametrize("max_rows", [1, 3, 100])
def test_parts_are_the_whole_and_of_few_rows(fields, row_group_rows, max_rows):
    masked = log(fields, row_group_rows).table.snapshot().state.blocks
    for blocks in (masked, compact_blocks(masked)):
        for block in blocks:
            parts = [*block.statistics_parts(max_rows)]

            assert max(part.num_files for part in parts) <= max_rows
            assert sum(part.num_files for part in parts) == block.num_files
            assert joined(parts) == whole(block)


def test_statistics_that_do_not_read_are_a_fault_of_the_checkpoint() -> None:
    builder = LogBuilder().checkpoint(
        5, protocol(), metadata(), *(add(str(n), stats="{}") for n in range(9))
    )
    (block, *_) = builder.table.snapshot().state.blocks
    builder.store.put(checkpoint_name(5), b"spoilt meanwhile")

    with pytest.raises(LogCorruptError, match="checkpoint"):
        next(block.statistics_parts(4))
