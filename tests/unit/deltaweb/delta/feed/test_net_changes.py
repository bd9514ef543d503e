"""Changes as somebody sees them who sees a part: what comes, and what goes."""

import math
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.feed.net_changes import as_going_and_coming, net_changes

KINDS = {
    "+": "insert",
    "-": "delete",
    "<": "update_preimage",
    ">": "update_postimage",
}


def _net(values: list[Any], kinds: str, source: list[int]) -> list[tuple[Any, str]]:
    rows = pa.record_batch(
        {
            "value": values,
            "_change_type": pa.array([KINDS[kind] for kind in kinds], pa.string()),
            "_commit_version": [7] * len(values),
            "source": source,
        }
    )
    table = pa.Table.from_batches([as_going_and_coming(rows)])
    left = net_changes(table, frozenset({"source"})).to_pydict()
    return list(zip(left["value"], left["_change_type"], strict=True))


@pytest.mark.parametrize(
    ("values", "kinds", "left"),
    [
        pytest.param([1, 2], "+-", [(1, "insert"), (2, "delete")], id="as they are"),
        pytest.param([1, 2], "<>", [(1, "delete"), (2, "insert")], id="an update"),
        pytest.param([1], "<", [(1, "delete")], id="moved out"),
        pytest.param([1], ">", [(1, "insert")], id="moved in"),
        pytest.param([1, 1], "<>", [], id="an update of what is hidden"),
        pytest.param([1, 1, 1], "-++", [(1, "insert")], id="one more of the same"),
        pytest.param([None, None, 0], "<>+", [(0, "insert")], id="nulls"),
        pytest.param([math.nan, math.nan], "<>", [], id="NaN"),
        pytest.param(
            [{"a": [1]}, {"a": [1]}, {"a": [2]}],
            "<>+",
            [({"a": [2]}, "insert")],
            id="nested values",
        ),
        pytest.param([], "", [], id="nothing"),
    ],
)
def test_rows_that_go_and_come_again_are_no_changes(values, kinds, left) -> None:
    assert _net(values, kinds, [*range(len(values))]) == left
