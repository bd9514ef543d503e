"""Rows that change, told by the table's change data feed."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.writing.errors import UnsupportedWriteError
from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder, numbers

pytestmark = pytest.mark.slow

FEED = {"delta.enableChangeDataFeed": "true"}
MARKS = {"delta.enableDeletionVectors": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
BY_ID = {"delta.columnMapping.mode": "id"}


@pytest.fixture(
    params=[{}, MARKS, {**MAPPED, **MARKS}, BY_ID],
    ids=["plain", "marks", "mapped", "by-id"],
)
def table(request: pytest.FixtureRequest) -> DeltaTable:
    fed = TableBuilder().partitioned_by("p").properties(FEED | request.param)
    return fed.rows(n=range(6), s=list("abcdef"), p=list("xxxyyz")).build()


def told(table: DeltaTable) -> list[tuple[Any, ...]]:
    """The kind, n, s and p of each change of the newest version."""
    newest = table.latest_version()
    rows = table.changes(newest, newest).read_all().to_pylist()
    return sorted((row["_change_type"], row["n"], row["s"], row["p"]) for row in rows)


def change_files(table: DeltaTable) -> Iterator[dict[str, Any]]:
    for action in table.read_commit(table.latest_version()):
        if "cdc" in action:
            yield action["cdc"]


def test_a_delete_tells_of_all_rows_that_go(table: DeltaTable) -> None:
    table.delete("n IN (1, 5)")

    assert told(table) == [("delete", 1, "b", "x"), ("delete", 5, "f", "z")]
    files = [*change_files(table)]
    assert all(file["path"].startswith("_change_data/") for file in files)
    assert not any(file["dataChange"] for file in files)
    schema = pq.read_schema(table.store.open_data_file(files[0]["path"]))
    assert schema.names[-1] == "_change_type"
    assert numbers(table) == [0, 2, 3, 4]


def test_a_delete_of_whole_files_is_told_by_these(table: DeltaTable) -> None:
    table.delete("p = 'x'")

    assert [*change_files(table)] == []
    assert [row[:2] for row in told(table)] == [("delete", n) for n in range(3)]


def test_files_that_go_beside_others_are_told_too(table: DeltaTable) -> None:
    table.delete("p = 'z' OR n = 0")
    table.merge(pa.table({"n": [3, 4]}), on="t.n = s.n").when_matched_delete().execute()

    assert told(table) == [("delete", 3, "d", "y"), ("delete", 4, "e", "y")]
    assert numbers(table) == [1, 2]


def test_an_update_tells_what_was_and_what_is(table: DeltaTable) -> None:
    table.update({"s": "concat(s, '!')", "p": "'w'"}, "n = 3")

    assert told(table) == [
        ("update_postimage", 3, "d!", "w"),
        ("update_preimage", 3, "d", "y"),
    ]


def test_a_merge_tells_of_every_clause(table: DeltaTable) -> None:
    source = pa.table({"n": [0, 3, 9], "s": ["zero", "three", "nine"]})
    (
        table.merge(source, on="t.n = s.n")
        .when_matched_delete("s.n = 0")
        .when_matched_update({"s": "s.s"})
        .when_not_matched_insert({"n": "s.n", "s": "s.s", "p": "'y'"})
        .execute()
    )

    assert told(table) == [
        ("delete", 0, "a", "x"),
        ("insert", 9, "nine", "y"),
        ("update_postimage", 3, "three", "y"),
        ("update_preimage", 3, "d", "y"),
    ]


def test_rows_that_only_come_need_no_telling(table: DeltaTable) -> None:
    source = pa.table({"n": [9]})
    table.merge(source, on="t.n = s.n").when_not_matched_insert({"n": "s.n"}).execute()

    assert [*change_files(table)] == []
    assert told(table) == [("insert", 9, None, None)]
    table.append(pa.table({"n": [10]}))
    assert [*change_files(table)] == []
    table.optimize()
    assert told(table) == []


def test_rows_in_the_place_of_some_are_told(table: DeltaTable) -> None:
    table.overwrite(pa.table({"n": [1], "s": ["new"], "p": ["x"]}), where="n IN (1, 2)")

    assert told(table) == [
        ("delete", 1, "b", "x"),
        ("delete", 2, "c", "x"),
        ("insert", 1, "new", "x"),
    ]
    table.overwrite(pa.table({"n": [8], "s": ["q"], "p": ["y"]}), where="p = 'y'")
    assert [*change_files(table)] == []
    assert told(table) == [
        ("delete", 3, "d", "y"),
        ("delete", 4, "e", "y"),
        ("insert", 8, "q", "y"),
    ]


def test_a_column_of_the_feed_keeps_it_from_being_turned_on() -> None:
    schema = pa.schema([("n", pa.int64()), ("_change_type", pa.string())])

    with pytest.raises(UnsupportedWriteError, match="changeDataFeed"):
        TableBuilder().columns(schema).properties(FEED).build()


def test_files_of_the_feed_go_when_their_time_is_over(table: DeltaTable) -> None:
    table.delete("n = 1")

    table.vacuum(
        0,
        dry_run=False,
        allow_short_retention=True,
        now=datetime(2999, 1, 1, tzinfo=UTC),
    )

    places = [p for some in table.store.list_data_files() for p in some.to_pylist()]
    assert not any(place.startswith("_change_data/") for place in places)
    assert numbers(table) == [0, 2, 3, 4, 5]
