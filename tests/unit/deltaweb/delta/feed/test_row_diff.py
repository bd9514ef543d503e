"""Rows compared by the feed between two versions, and by the files of both."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltaweb.delta.changes import RowChanges, RowDiffRequest, SnapshotDiff
from deltaweb.delta.feed.row_diff import cheaper_engine
from tests.support import cases
from tests.support.conditions.drawn_examples import examples
from tests.support.tables.fed_table import FEED_ON, FedTable, things

Pair = tuple[int | None, str]
LARGE = 1_000

pairs = st.tuples(st.none() | st.integers(0, 4), st.sampled_from(["x", "y"]))
kinds = st.sampled_from(["keep", "keep", "update", "delete", "insert"])
steps = st.lists(
    st.one_of(st.lists(pairs, min_size=1), st.lists(st.tuples(kinds, pairs))),
    min_size=1,
    max_size=6,
)


class EditedTable(FedTable):
    """A table of one large file at a time, which each edit writes anew."""

    def __init__(self) -> None:
        super().__init__({"id": "long", "name": "string"})
        self.rows: list[Pair] = []
        self.path: str | None = None

    def edit(self, edits: list[tuple[str, Pair]]) -> None:
        """Do one thing with each row, or insert one; the feed has it in a file."""
        before = list(self.rows)
        after: list[Pair] = []
        told: list[tuple[str, Pair]] = []
        for kind, pair in edits:
            if kind == "insert" or not before:
                after.append(pair)
                told.append(("insert", pair))
                continue
            row = before.pop(0)
            if kind == "delete":
                told.append(("delete", row))
                continue
            if kind == "update":
                told += [("update_preimage", row), ("update_postimage", pair)]
                row = pair
            after.append(row)
        rest = after + before
        path, number = f"{self.version}", self.version
        actions = [self.cdc(f"_change_data/{number}", table_of(told))]
        if self.path is not None:
            actions.append(self.remove(self.path, size=LARGE))
        actions.append(self.add(path, table_of(("", row) for row in rest)))
        actions[-1]["add"]["size"] = LARGE
        self.rows, self.path = rest, path
        self.commit(*actions)


def table_of(told: Any) -> pa.Table:  # noqa: ANN401 (pairs of a kind and a row)
    told = list(told)
    return things(
        [row[0] for _, row in told],
        [row[1] for _, row in told],
        [kind for kind, _ in told],
    )


def diff_of(fed: FedTable, first: int, second: int) -> SnapshotDiff:
    return fed.table.compare(first, second)


def facts(found: RowChanges) -> dict[str, object]:
    parts = ("inserted", "deleted", "updated_before", "updated_after")
    return {
        "counts": (found.inserted, found.deleted, found.updated),
        "cells": found.changed_cells,
        "keys": (found.unmatched_keys, found.null_key_rows, found.key),
        "columns": found.columns,
        **{
            part: Counter(map(repr, getattr(found.sample, part).to_pylist()))
            for part in parts
        },
    }


@settings(max_examples=examples(40))
@given(drawn=steps, key=st.sampled_from([(), ("id",)]), data=st.data())
def test_both_ways_give_the_same_answer(drawn, key, data):
    fed = EditedTable()
    for step in drawn:
        is_edit = all(isinstance(kind, str) for kind, _ in step)
        fed.edit(step if is_edit else [("insert", pair) for pair in step])
    versions = st.integers(0, fed.version)
    first, second = data.draw(versions), data.draw(versions)
    request = RowDiffRequest(key=key, sample_rows=1_000)
    diff = diff_of(fed, first, second)
    by_files = SnapshotDiff(fed.store, diff.before, diff.after).rows(request)

    assert facts(diff.rows(request)) == facts(by_files)


class TestAChangeOfFewRows:
    @pytest.fixture
    def fed(self) -> EditedTable:
        """1, 2 and 3 are inserted; 2 is renamed, 3 goes, and 2 is 2 again."""
        fed = EditedTable()
        fed.edit([("insert", (n, "x")) for n in (1, 2, 3)])
        fed.edit([("keep", (0, "")), ("update", (2, "y")), ("delete", (0, ""))])
        fed.edit([("keep", (0, "")), ("update", (2, "x"))])
        return fed

    def test_is_told_by_its_files_alone(self, fed: EditedTable) -> None:
        written: list[pa.Table] = []
        request = RowDiffRequest(key=["id"], write=written.append)

        found = diff_of(fed, 1, 2).rows(request)

        assert (found.inserted, found.deleted, found.updated) == (0, 1, 1)
        assert (found.num_files_read, found.num_rows_read) == (1, 3)
        assert sum(rows.num_rows for rows in written) == 3

    def test_that_is_undone_is_none(self, fed: EditedTable) -> None:
        found = diff_of(fed, 1, 3).rows(RowDiffRequest(key=["id"]))

        assert (found.inserted, found.deleted, found.updated) == (0, 1, 0)
        assert found.num_files_read == 2

    def test_is_found_on_the_way_back(self, fed: EditedTable) -> None:
        found = diff_of(fed, 2, 1).rows(RowDiffRequest())

        assert found.sample.inserted.to_pylist() == [
            {"id": 2, "name": "x"},
            {"id": 3, "name": "x"},
        ]
        assert found.num_files_read == 1

    def test_whose_feed_is_gone_is_told_by_the_files_of_both(self, fed: EditedTable):
        fed.lose("_change_data/1")
        begun: list[pa.Schema] = []

        found = diff_of(fed, 1, 2).rows(RowDiffRequest(begin=begun.append))

        assert (found.inserted, found.deleted) == (1, 2)
        assert found.num_files_read == 2
        assert len(begun) == 1


class TestTheFeed:
    @cases(
        "columns, properties",
        {
            "that is off": ({"id": "long", "name": "string"}, {}),
            "of another schema": (
                {"id": "long", "name": "string", "more": "long"},
                FEED_ON,
            ),
        },
    )
    def test_is_not_asked(self, columns: dict[str, str], properties: dict[str, str]):
        fed = EditedTable()
        fed.edit([("insert", (1, "x"))])
        fed.commit(fed.metadata(columns, properties))
        fed.edit([("update", (1, "y"))])

        assert cheaper_engine(fed.store, diff_of(fed, 1, 3)) is None

    def test_that_is_no_cheaper_is_not_asked(self) -> None:
        fed = FedTable({"id": "long", "name": "string"})
        fed.commit(fed.add("a", things([1], ["x"])))

        assert cheaper_engine(fed.store, diff_of(fed, 0, 1)) is None
