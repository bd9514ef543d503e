"""Partition values that are spelled in several ways get one text, in the log alone."""

import threading
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.writing.errors import CommitConflictError
from deltaweb.table import DeltaTable
from deltaweb.writer.respelling import (
    carry_out_respell,
    plan_respell,
    spelled_columns,
)
from tests.support.logs.spelled_partitions import append_spelled, spelled
from tests.support.tables.table_builder import TableBuilder, numbers

OURS = "2024-03-10T07:00:00.000000Z"
ZONELESS = "2024-03-10 07:00:00"
HOUR = pa.timestamp("us", "UTC")
MICROS = 1_710_054_000_000_000
TRACKED = {"delta.enableRowTracking": "true"}
MARKED = {"delta.enableDeletionVectors": "true"}


def rows(number: int, k: int = 7) -> pa.Table:
    """Two rows of a partition."""
    return pa.table(
        {
            "n": [number, number + 1],
            "ts": pa.array([MICROS, MICROS], pa.int64()).cast(HOUR),
            "k": pa.array([k, k], pa.int32()),
        }
    )


def made(*texts: dict[str, str | None], **properties: str) -> DeltaTable:
    """A table with a file for each spelling."""
    builder = TableBuilder().columns(rows(0).schema).partitioned_by("ts", "k")
    table = builder.properties(properties).build()
    for place, some in enumerate(texts):
        append_spelled(table, rows(10 * place), **some)
    return table


class TestColumns:
    def test_of_one_spelling_are_not_told(self) -> None:
        table = made({"ts": OURS, "k": "07"}, {"ts": OURS, "k": "07"})

        assert spelled_columns(table.snapshot()) == []

    def test_tell_times_without_a_zone(self) -> None:
        table = made({"ts": ZONELESS}, {"ts": OURS}, {"ts": ZONELESS}, {"ts": None})

        (told,) = spelled_columns(table.snapshot())

        assert told.describe() == {
            "column": "ts",
            "num_utc": 1,
            "num_zoneless": 2,
            "example": ZONELESS,
        }
        assert told.sentence.startswith("ts: 2 files without a zone")

    def test_tell_values_of_two_texts(self) -> None:
        table = made({"k": "7"}, {"k": "07"}, {"k": "+7"})

        (told,) = spelled_columns(table.snapshot())

        assert (told.column, told.num_ours, told.num_others) == ("k", 1, 2)
        assert "2 files spell a value as '07', and 1 as" in told.sentence


class TestRespelling:
    @pytest.mark.parametrize(
        "properties", [{}, TRACKED, MARKED, TRACKED | MARKED], ids=str
    )
    def test_changes_texts_and_nothing_else(self, properties: dict[str, str]) -> None:
        table = made({"ts": ZONELESS, "k": "07"}, {"ts": OURS, "k": "7"}, **properties)
        table.delete("n = 1")
        before, files = table.snapshot().read().sort_by("n"), table.snapshot().files

        result = table.optimize(respell=True)

        actions = table.read_commit(result.version or 0)
        (add,) = [action["add"] for action in actions if "add" in action]
        assert not [action for action in actions if "remove" in action]
        assert add["dataChange"] is False
        assert spelled(table) == [{"ts": OURS, "k": "7"}] * 2
        after = table.snapshot()
        assert after.read().sort_by("n") == before
        same = ["path", "size", "modification_time", "deletion_vector"]
        assert after.files.select(same).sort_by("path") == (
            files.select(same).sort_by("path")
        )
        assert logged(table, add["path"], ZONELESS) == logged(table, add["path"], OURS)
        assert table.optimize(respell=True).version == result.version

    def test_is_of_the_partitions_that_are_asked_for(self) -> None:
        table = made({"ts": ZONELESS})
        append_spelled(table, rows(10, k=8), ts=ZONELESS)

        table.optimize("k = 8", respell=True)

        assert [said["ts"] for said in spelled(table)] == [ZONELESS, OURS]
        with pytest.raises(PredicateError, match="whole partitions"):
            table.optimize("n = 1", respell=True)
        with pytest.raises(ValueError, match="or respelling"):
            table.optimize(cluster_by=["n"], respell=True)

    @pytest.mark.parametrize("properties", [{}, MARKED], ids=["", "vectors"])
    def test_gives_way_to_who_takes_a_file_away(self, properties: dict[str, str]):
        table = made({"ts": ZONELESS}, **properties)
        plan = plan_respell(table.store)
        table.delete("n = 1")

        with pytest.raises(CommitConflictError, match="adds again"):
            carry_out_respell(table.store, plan)

        assert numbers(table) == [0]

    def test_follows_who_adds_others(self) -> None:
        table = made({"ts": ZONELESS})
        plan = plan_respell(table.store)
        table.append(rows(10))

        carry_out_respell(table.store, plan)

        assert spelled(table) == [{"ts": OURS, "k": "7"}] * 2
        assert numbers(table) == [0, 1, 10, 11]

    def test_lets_a_change_of_the_old_texts_follow(self) -> None:
        table = made({"ts": ZONELESS}, **MARKED)
        merged = threading.Event()

        class Late(type(table.store)):  # type: ignore[misc] # of the store at hand
            """Lets others commit before its first put."""

            def put_if_absent(self, name: str, data: bytes) -> None:
                if not merged.is_set():
                    merged.set()
                    DeltaTable.from_store(table.store).optimize(respell=True)
                super().put_if_absent(name, data)

        late = Late()
        late.__dict__.update(table.store.__dict__)
        DeltaTable.from_store(late).delete("n = 1")

        assert numbers(table) == [0]


def logged(table: DeltaTable, path: str, text: str) -> dict[str, Any]:
    """Return what the last add of a file says of it, but for its partition values."""
    found: dict[str, Any] = {}
    for version in range(table.latest_version() + 1):
        for action in table.read_commit(version):
            add = action.get("add", {})
            if add.get("path") == path and add["partitionValues"]["ts"] == text:
                found = add
    return {**found, "partitionValues": {}, "dataChange": None}
