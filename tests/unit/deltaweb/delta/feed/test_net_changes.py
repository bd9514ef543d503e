"""Changes as somebody sees them who sees a part: what comes, and what goes."""

import math

import pyarrow as pa

from deltaweb.delta.changes import RowLimits
from deltaweb.delta.feed.net_changes import (
    PLACES,
    NetChanges,
    as_going_and_coming,
    by_file,
)
from tests.support import cases

KINDS = {
    "+": "insert",
    "-": "delete",
    "<": "update_preimage",
    ">": "update_postimage",
}


def _net(values, kinds, limits=None):
    """What is left of rows, every other one of another file."""
    numbers = [row % 2 for row in range(len(values))]
    rows = pa.record_batch(
        {
            "value": values,
            "_change_type": pa.array([KINDS[kind] for kind in kinds], pa.string()),
            PLACES.names[0]: pa.array(numbers, pa.int64()),
            PLACES.names[1]: pa.array(range(len(values)), pa.int64()),
        }
    )
    table = pa.Table.from_batches([as_going_and_coming(rows)])
    with NetChanges(table.select(["value"]).schema, limits) as net:
        for row in range(table.num_rows):
            net.add(table.slice(row, 1))
        kept = by_file(net.places())
    assert all(row % 2 == number for number, found in kept.items() for row in found)
    left = sorted(row for found in kept.values() for row in found)
    kinds_left = table["_change_type"].take(pa.array(left, pa.int64())).to_pylist()
    return [(values[row], kind) for row, kind in zip(left, kinds_left, strict=True)]


@cases(
    "values, kinds, left",
    {
        "as they are": ([1, 2], "+-", [(1, "insert"), (2, "delete")]),
        "an update": ([1, 2], "<>", [(1, "delete"), (2, "insert")]),
        "moved out": ([1], "<", [(1, "delete")]),
        "moved in": ([1], ">", [(1, "insert")]),
        "an update of what is hidden": ([1, 1], "<>", []),
        "one more of the same": ([1, 1, 1], "-++", [(1, "insert")]),
        "nulls": ([None, None, 0], "<>+", [(0, "insert")]),
        "NaN": ([math.nan, math.nan], "<>", []),
        "nested values": (
            [{"a": [1]}, {"a": [1]}, {"a": [2]}],
            "<>+",
            [({"a": [2]}, "insert")],
        ),
        "nothing": ([], "", []),
    },
)
def test_rows_that_go_and_come_again_are_no_changes(values, kinds, left) -> None:
    assert _net(values, kinds) == left


def test_rows_that_do_not_fit_in_memory_are_held_in_files() -> None:
    values, kinds = [1, 2, 3, 2, 1, 5], "-+-<+>"

    assert _net(values, kinds, RowLimits(memory_bytes=1)) == _net(values, kinds)
    assert _net(values, kinds) == [(3, "delete"), (5, "insert")]
