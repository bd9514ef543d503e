"""How a checkpoint comes to be in the log: its parts, their order, its hint."""

import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import (
    CheckpointCancelledError,
    LogCorruptError,
    LogGapError,
    VersionNotFoundError,
)
from deltaweb.delta.log.hint import checksum_of
from deltaweb.delta.log.paths import checkpoint_name, checkpoint_part_names, commit_name
from deltaweb.delta.log.store import LogFile
from deltaweb.delta.protocol.schema import schema_json, schema_of_arrow
from deltaweb.delta.writing.checkpoint import plan
from deltaweb.delta.writing.checkpoint.parts import split_rows
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.appendix_log import (
    HINT,
    NOW,
    NotingStore,
    adds_of,
    hint_of,
    read_rows,
)
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    commit_bytes,
    metadata,
    protocol,
    remove,
    txn,
)
from tests.support.stores.memory import MemoryTableStore

UUID_NAME = f"{1:020d}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"


class TestParts:
    def test_are_named_and_counted_as_asked_for(self) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(20)), txn("x", 1))

        written = log.table.create_checkpoint(parts=3, now=NOW)

        assert written.names == checkpoint_part_names(0, 3)
        counts = [read_rows(log, name).num_rows for name in written.names]
        assert sum(counts) == written.num_actions == 23
        assert all(counts)
        assert hint_of(log)["parts"] == 3

    def test_are_all_there_where_the_table_has_no_files(self) -> None:
        log = LogBuilder().start()

        written = log.table.create_checkpoint(parts=3, now=NOW)

        assert [read_rows(log, name).num_rows for name in written.names] == [2, 0, 0]

    @pytest.mark.parametrize(("rows", "parts"), [(1000, 1), (20, 1), (7, 3), (1, 20)])
    def test_hold_about_as_many_actions_as_asked_for(self, rows: int, parts: int):
        log = LogBuilder().start(*(add(f"f{n}") for n in range(20)))

        written = log.table.create_checkpoint(rows_per_part=rows, now=NOW)

        assert written.names == checkpoint_part_names(0, parts)

    def test_hold_the_same_files_whatever_they_are_made_from(self) -> None:
        from_commits, from_checkpoint = LogBuilder(), LogBuilder()
        for log in (from_commits, from_checkpoint):
            log.start(*(add(f"f{n}") for n in range(40)))
            log.commit(1, *(add(f"g{n}") for n in range(9)), remove("f3"))
        from_checkpoint.table.create_checkpoint(0, now=NOW)

        written = [
            log.table.create_checkpoint(parts=4, now=NOW)
            for log in (from_commits, from_checkpoint)
        ]

        for name in written[0].names:
            paths = [
                sorted(adds_of(read_rows(log, name)))
                for log in (from_commits, from_checkpoint)
            ]
            assert paths[0] == paths[1]

    def test_are_chosen_by_the_path_alone(self) -> None:
        rows = pa.array([{"path": "a"}, {"path": "b"}, {"path": "ü"}, {"path": "a"}])

        parts = split_rows(rows, 5)

        assert sum(len(part) for part in parts) == 4
        assert len([part for part in parts if {"path": "a"} in part.to_pylist()]) == 1

    @pytest.mark.parametrize(("parts", "rows"), [(0, None), (None, 0), (-1, 1)])
    def test_are_at_least_one(self, parts: int | None, rows: int | None) -> None:
        table = LogBuilder().start().table

        with pytest.raises(ValueError, match="from 1"):
            table.create_checkpoint(parts=parts, rows_per_part=rows, now=NOW)

    def test_are_not_more_than_can_be_open_at_once(self) -> None:
        with pytest.raises(ValueError, match="at most"):
            LogBuilder().start().table.create_checkpoint(parts=257, now=NOW)


class TestLastCheckpoint:
    def test_tells_all_that_it_may(self) -> None:
        log = LogBuilder().start(add("a"), add("b"))

        written = log.table.create_checkpoint(now=NOW)

        hint = hint_of(log)
        assert hint.pop("checksum") == checksum_of(json.dumps(hint).encode())
        data = log.store.log_files[checkpoint_name(0)]
        columns = schema_of_arrow(pq.read_schema(pa.BufferReader(data)))
        schema = hint.pop("checkpointSchema")
        assert schema == schema_json(columns)
        assert {field["name"] for field in schema["fields"]} >= {"add", "metaData"}
        assert hint == {
            "version": 0,
            "size": 4,
            "sizeInBytes": written.size_bytes,
            "numOfAddFiles": 2,
        }
        size_bytes = len(log.store.log_files[checkpoint_name(0)])
        assert written.size_bytes == size_bytes

    def test_leaves_out_a_schema_that_is_long(self) -> None:
        fields = [
            {"name": f"column {n}", "type": "long", "nullable": True, "metadata": {}}
            for n in range(99)
        ]
        schema = json.dumps({"type": "struct", "fields": fields})
        struct = {"delta.checkpoint.writeStatsAsStruct": "true"}
        log = LogBuilder().commit(
            0, protocol(1, 2), metadata(schemaString=schema, configuration=struct)
        )

        log.table.create_checkpoint(now=NOW)

        assert "checkpointSchema" not in hint_of(log)

    def test_never_moves_backwards(self) -> None:
        log = LogBuilder().start().commit(1, add("a")).commit(2, add("b"))
        log.table.create_checkpoint(now=NOW)
        before = hint_of(log)

        written = log.table.create_checkpoint(1, now=NOW)

        assert not written.is_last
        assert hint_of(log) == before
        assert log.table.snapshot(1).state.checkpoint is not None

    def test_of_someone_faster_stays(self) -> None:
        log = LogBuilder().start().commit(1, add("a"))

        def commit_more(_done: int, _total: int) -> None:
            log.commit(2, add("b"))
            log.checkpoint(2, protocol(), metadata(), add("a"), add("b"))
            log.hint(b'{"version":2,"size":9}')

        written = log.table.create_checkpoint(on_progress=commit_more, now=NOW)

        assert (written.version, written.is_last) == (1, False)
        assert hint_of(log)["version"] == 2
        assert log.table.snapshot().num_files == 2

    @cases(
        "hint",
        {
            "beyond the log": {"version": 9, "size": 1},
            "of other parts": {"version": 1, "size": 4, "parts": 2},
            "of parts that are gone": {"version": 2, "size": 5},
        },
    )
    def test_of_what_is_not_there_is_replaced(self, hint: dict[str, int]) -> None:
        log = LogBuilder().start().commit(1, add("a")).commit(2, add("b"))
        log.table.create_checkpoint(1, now=NOW)
        log.table.create_checkpoint(2, parts=2, now=NOW)
        log.delete(checkpoint_part_names(2, 2)[1]).hint(json.dumps(hint).encode())

        written = log.table.create_checkpoint(0, now=NOW)

        assert written.is_last
        assert hint_of(log)["version"] == 0

    @cases(
        "name, parts",
        {
            "in parts": (checkpoint_part_names(1, 2), {"parts": 2}),
            "of the later kind": ([UUID_NAME], {}),
        },
    )
    def test_of_any_kind_that_is_there_stays(self, name, parts):
        log = LogBuilder().start().commit(1, add("a"))
        hint = json.dumps({"version": 1, "size": 1, **parts}).encode()
        log.hint(hint)
        for one in name:
            log.store.put(one, b"PAR1")

        written = log.table.create_checkpoint(0, now=NOW)

        assert not written.is_last
        assert log.store.log_files["_last_checkpoint"] == hint

    @pytest.mark.parametrize("torn", [b"", b"{", b"[]", b'{"version":"9"}', b"\xff"])
    def test_that_is_broken_is_replaced(self, torn: bytes) -> None:
        log = LogBuilder().start().hint(torn)

        log.table.create_checkpoint(now=NOW)

        assert hint_of(log)["version"] == 0


class TestOrder:
    def test_parts_come_before_the_hint_and_after_the_commit(self) -> None:
        store = NotingStore()
        log = LogBuilder(store).start(add("a"))

        written = log.table.create_checkpoint(parts=3, now=NOW)

        assert store.put_names == [commit_name(0), *written.names, HINT]

    @pytest.mark.parametrize("version", [1, 7])
    def test_a_version_that_does_not_exist_gets_none(self, version: int) -> None:
        log = LogBuilder().start()

        with pytest.raises(VersionNotFoundError):
            log.table.create_checkpoint(version, now=NOW)

        assert list(log.store.log_files) == [commit_name(0)]

    def test_a_version_behind_a_gap_gets_none(self) -> None:
        log = LogBuilder().start().commit(2, add("a"))

        with pytest.raises(LogGapError):
            log.table.create_checkpoint(2, now=NOW)

    def test_a_torn_commit_is_named_and_leaves_nothing(self) -> None:
        log = LogBuilder().start(add("a")).raw_commit(1, b'{"add":{"pa')
        names = set(log.store.log_files)

        with pytest.raises(LogCorruptError) as caught:
            log.table.create_checkpoint(now=NOW)

        assert commit_name(1) in caught.value.path
        assert set(log.store.log_files) == names

    @pytest.mark.parametrize("pieces", [0, 1, 2])
    def test_work_that_is_cancelled_leaves_nothing(self, pieces: int) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        names = set(log.store.log_files)
        answers = iter([*[False] * pieces, True])

        with pytest.raises(CheckpointCancelledError):
            log.table.create_checkpoint(is_cancelled=lambda: next(answers), now=NOW)

        assert set(log.store.log_files) == names

    def test_work_whose_progress_raises_leaves_nothing(self) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        names = set(log.store.log_files)

        def fail(_done: int, _total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            log.table.create_checkpoint(on_progress=fail, now=NOW)

        assert set(log.store.log_files) == names

    def test_progress_counts_files_up_to_about_the_total(self) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))
        log.table.create_checkpoint(now=NOW)
        log.commit(1, remove("f1"), add("g"))
        told: list[tuple[int, int]] = []

        log.table.create_checkpoint(
            on_progress=lambda *pair: told.append(pair), now=NOW
        )

        assert told == sorted(told)
        assert {total for _, total in told} == {11 + 2}
        assert told[-1][0] == 8 + 2

    def test_a_version_of_which_only_a_checkpoint_is_left_can_have_another(self):
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        log.table.create_checkpoint(now=NOW)
        log.delete(commit_name(0)).delete(commit_name(1))

        written = log.table.create_checkpoint(parts=2, now=NOW)

        assert written.num_files == 2
        log.delete(checkpoint_name(1))
        assert log.table.snapshot().num_files == 2


class TestTwoBuilders:
    @pytest.mark.parametrize("parts", [(None, None), (2, 2), (None, 3), (3, 2)])
    def test_of_one_version_do_no_harm(self, parts: Sequence[int | None]) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))
        table = DeltaTable.from_store(log.store)

        def build_other(_done: int, _total: int) -> None:
            table.create_checkpoint(parts=parts[1], now=NOW)

        log.table.create_checkpoint(parts=parts[0], on_progress=build_other, now=NOW)

        log.delete(commit_name(0))
        assert log.table.snapshot().num_files == 9
        assert hint_of(log).get("parts") == parts[0]


def test_a_file_whose_action_is_gone_between_the_two_passes_is_noticed() -> None:
    log = LogBuilder().start(add("a"))

    class Swapped(MemoryTableStore):
        reads = 0

        def read_many(self, names: Sequence[str]) -> list[LogFile]:
            self.reads += 1
            if self.reads > 1:
                data = commit_bytes(*([txn("x", 1)] * 3))
                return [LogFile(data, None) for _ in names]
            return super().read_many(names)

    store = Swapped()
    store.log_files = log.store.log_files

    with pytest.raises(LogCorruptError, match="changed"):
        DeltaTable.from_store(store).create_checkpoint(now=NOW)


def test_no_more_parts_than_a_log_should_hold_are_made(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plan, "MAX_PARTS", 2)
    log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))

    assert len(log.table.create_checkpoint(rows_per_part=1, now=NOW).names) == 2
