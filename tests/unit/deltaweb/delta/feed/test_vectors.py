"""Vectors in a feed: the file `a` has the rows 0 to 4, some of which they delete."""

import pytest

from tests.support import cases
from tests.support.logs.roaring_bitmaps import inline_vector
from tests.support.tables.fed_table import FedTable, change, numbers


def vector(rows: list[int]) -> dict[str, object]:
    """Return the field of an action whose vector deletes rows; nothing for none."""
    return {"deletionVector": inline_vector(rows)} if rows else {}


@pytest.fixture
def fed() -> FedTable:
    fed = FedTable({"n": "long"})
    fed.commit(
        {
            "protocol": {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": ["deletionVectors"],
                "writerFeatures": ["deletionVectors", "changeDataFeed"],
            }
        },
        fed.add("a", numbers(*range(5))),
    )
    return fed


@cases(
    "before, after, expected",
    {
        "first": ([], [1, 3], [(1, "delete"), (3, "delete")]),
        "more": ([1], [1, 3], [(3, "delete")]),
        "fewer": ([1, 3], [3], [(1, "insert")]),
        "none left": ([1, 3], [], [(1, "insert"), (3, "insert")]),
        "others": ([1], [2], [(1, "insert"), (2, "delete")]),
        "the same": ([1], [1], []),
    },
)
def test_that_differ_tell_the_rows_that_only_one_deletes(fed, before, after, expected):
    fed.commit(fed.remove("a"), fed.add("a", **vector(before)))
    version = fed.commit(
        fed.remove("a", **vector(before)), fed.add("a", **vector(after))
    )

    found = sorted((row["n"], row["_change_type"]) for row in fed.changes(version))

    assert found == expected


def test_leave_the_live_rows_of_a_file_that_comes_or_goes(fed: FedTable) -> None:
    fed.commit(fed.add("b", numbers(7, 8), **vector([0])))
    fed.commit(fed.remove("b", **vector([0])))

    assert fed.changes(2) == [change(8, "insert", 2), change(8, "delete", 3)]


def test_of_another_file_do_not_touch_one_without(fed: FedTable) -> None:
    version = fed.commit(
        fed.remove("a"),
        fed.add("a", **vector([0])),
        fed.add("c", numbers(9)),
        fed.remove("c"),
    )

    assert [row["_change_type"] for row in fed.changes(version)] == [
        "delete",
        "insert",
        "delete",
    ]
