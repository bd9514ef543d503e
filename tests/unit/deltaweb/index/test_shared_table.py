"""A version is the same whether its index or its log is read, and always the newest."""

import json
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import (
    LocationNotFoundError,
    LogCorruptError,
    PartitionValueError,
    PredicateError,
    UnsupportedFeatureError,
    VersionNotFoundError,
)
from deltaweb.delta.predicate import Predicate
from deltaweb.delta.schema import parse_schema
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.file_index import FILES
from deltaweb.index.index_source import SOURCE
from deltaweb.index.shared_table import SharedTableReader
from deltaweb.index.shared_version import SharedVersion
from deltaweb.sharing.predicates import parse_predicate
from deltaweb.table import DeltaTable
from tests.delta_logs import (
    add,
    commit_bytes,
    deletion_vector,
    metadata,
    protocol,
    remove,
)
from tests.local_logs import COLUMNS, LocalLog, RandomLog, stats_of, typed_schema

CONDITIONS = [
    "id = 500",
    "id < 100",
    "name >= 'n0900'",
    "price > 200 AND id < 900",
    "day = DATE '2026-01-05'",
    "p = 1",
    "p IS NULL",
    "p = 2 OR id > 700",
    "NOT (p = 0)",
    "id IS NULL",
]


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    """A table of three files in two partitions."""
    return LocalLog(tmp_path).start(
        add("p=1/a", size=1, partitionValues={"p": "1"}, stats=_stats(10, 0, 9)),
        add("p=1/b", size=2, partitionValues={"p": "1"}, stats=_stats(10, 10, 19)),
        add("p=2/c", size=4, partitionValues={"p": "2"}),
        partitionColumns=["p"],
    )


def _stats(rows: int, low: int, high: int) -> str:
    return stats_of(rows, {"id": low}, {"id": high})


def listed(
    version: SharedVersion,
    predicates: Sequence[Predicate] = (),
    partition_filter: Predicate | None = None,
) -> list[dict[str, Any]]:
    chosen = version.select(predicates=predicates, partition_filter=partition_filter)
    rows = [row for batch in chosen.batches() for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: str(row["path"]))


def paths(
    version: SharedVersion,
    predicates: Sequence[Predicate] = (),
    partition_filter: Predicate | None = None,
) -> list[str]:
    return [row["path"] for row in listed(version, predicates, partition_filter)]


def is_mapped(version: SharedVersion) -> bool:
    """Whether files come from the index, but for those of later commits."""
    return version.num_files_in_memory < version.num_files


def read_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Snapshot:
        message = "the log was replayed"
        raise AssertionError(message)

    monkeypatch.setattr("deltaweb.table.load_state", refuse)


class TestParity:
    @pytest.mark.parametrize("seed", range(12))
    def test_an_older_index_answers_as_the_log_does(
        self, tmp_path: Path, seed: int
    ) -> None:
        log = RandomLog(tmp_path, seed)
        log.grow(seed % 5)
        index = log.index()
        log.grow(seed % 4)

        replayed = SharedTableReader().open_version(log.table, index_folder=None)
        indexed = SharedTableReader().open_version(log.table, index_folder=index)

        assert is_mapped(indexed)
        assert not is_mapped(replayed)
        assert indexed.version == replayed.version == log.version
        assert indexed.metadata == replayed.metadata
        assert indexed.protocol == replayed.protocol
        assert indexed.num_files == replayed.num_files == len(log.live)
        assert indexed.size_bytes == replayed.size_bytes
        assert indexed.timestamp == replayed.timestamp
        assert listed(indexed) == listed(replayed)
        for text in CONDITIONS:
            condition = parse_predicate(text, indexed.schema)
            assert listed(indexed, predicates=[condition]) == listed(
                replayed, predicates=[condition]
            ), text

    @pytest.mark.parametrize("seed", range(6))
    def test_going_on_commit_by_commit_ends_where_reading_anew_does(
        self, tmp_path: Path, seed: int
    ) -> None:
        log, reader = RandomLog(tmp_path, seed), SharedTableReader()
        index = log.index()
        for _ in range(8):
            log.grow(1)
            opened = reader.open_version(log.table, index_folder=index)

        fresh = SharedTableReader().open_version(log.table, index_folder=None)
        assert listed(opened) == listed(fresh)

    def test_lists_what_the_log_has(self, log: LocalLog) -> None:
        opened = SharedTableReader().open_version(log.table, index_folder=log.index())

        assert listed(opened)[0] == {
            "path": "p=1/a",
            "relative_path": "p=1/a",
            "size": 1,
            "partition_values": [("p", "1")],
            "stats": _stats(10, 0, 9),
            "num_records": 10,
        }
        assert listed(opened)[2]["stats"] is None


class TestNewestVersion:
    def test_an_index_is_gone_on_from_without_a_replay(
        self, log: LocalLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index = log.index()
        log.commit(1, add("d", partitionValues={"p": "3"}), remove("p=1/a"))
        read_no_log(monkeypatch)

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert opened.version == 1
        assert paths(opened) == ["d", "p=1/b", "p=2/c"]

    @pytest.mark.parametrize("has_index", [True, False], ids=["indexed", "replayed"])
    def test_is_the_same_object_until_a_commit_comes(
        self, log: LocalLog, *, has_index: bool
    ) -> None:
        index = log.index() if has_index else None
        reader = SharedTableReader()
        first = reader.open_version(log.table, index_folder=index)

        assert reader.open_version(log.table, index_folder=index) is first
        log.commit(1, add("d", partitionValues={"p": "3"}))
        assert reader.open_version(log.table, index_folder=index).version == 1

    def test_a_table_made_anew_in_its_place_is_noticed(
        self, log: LocalLog, tmp_path: Path
    ) -> None:
        reader, index = SharedTableReader(), log.index()
        reader.open_version(log.table, index_folder=index)
        shutil.rmtree(log.log.parent)
        other = LocalLog(tmp_path).start(add("other"), id="another")

        for one in (reader, SharedTableReader()):
            opened = one.open_version(other.table, index_folder=index)
            assert (opened.metadata.id, paths(opened)) == ("another", ["other"])

    def test_a_commit_of_the_same_size_and_time_is_told_by_its_bytes(
        self, log: LocalLog
    ) -> None:
        index = log.index()
        name = log.log / f"{0:020d}.json"
        found = name.stat()
        name.write_bytes(name.read_bytes().replace(b"p=1/a", b"p=1/X"))
        os.utime(name, ns=(found.st_atime_ns, found.st_mtime_ns))

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert "p=1/X" in paths(opened)

    def test_a_log_that_went_on_behind_a_checkpoint_is_followed(
        self, log: LocalLog
    ) -> None:
        reader, index = SharedTableReader(), log.index()
        reader.open_version(log.table, index_folder=index)
        log.checkpoint(9, protocol(), metadata(), add("far"))
        (log.log / "_last_checkpoint").write_text('{"version":9,"size":3}')

        opened = reader.open_version(log.table, index_folder=index)

        assert (opened.version, paths(opened)) == (9, ["far"])

    def test_a_table_that_is_gone_is_an_error(self, log: LocalLog) -> None:
        reader, index = SharedTableReader(), log.index()
        reader.open_version(log.table, index_folder=index)
        shutil.rmtree(log.log.parent)

        with pytest.raises(LocationNotFoundError):
            reader.open_version(log.table, index_folder=index)

    def test_a_commit_that_does_not_read_is_an_error_as_it_is_for_the_log(
        self, log: LocalLog
    ) -> None:
        index = log.index()
        (log.log / f"{1:020d}.json").write_text("{torn")

        for folder in (index, None):
            with pytest.raises(LogCorruptError):
                SharedTableReader().open_version(log.table, index_folder=folder)

    def test_a_checkpoint_leads_around_a_commit_that_does_not_read(
        self, log: LocalLog
    ) -> None:
        index = log.index()
        (log.log / f"{1:020d}.json").write_text("{torn")
        log.commit(2, add("two"))
        log.checkpoint(2, protocol(), metadata(), add("two"))

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert (opened.version, paths(opened)) == (2, ["two"])

    def test_a_newer_index_takes_the_place_of_the_older(self, log: LocalLog) -> None:
        reader, first = SharedTableReader(), log.index("first")
        reader.open_version(log.table, index_folder=first)
        log.commit(1, add("d", partitionValues={"p": "3"}))
        assert reader.open_version(log.table, index_folder=first).version == 1

        opened = reader.open_version(log.table, index_folder=log.index("second"))

        assert opened.num_files_in_memory == 0
        assert opened.num_files == 4

    def test_many_commits_one_by_one_come_back_to_the_index(
        self, log: LocalLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reader, index = SharedTableReader(), log.index()
        read_no_log(monkeypatch)
        for version in range(1, 80):
            log.commit(version, add(f"f{version}", partitionValues={"p": "3"}))
            opened = reader.open_version(log.table, index_folder=index)

        assert opened.num_files == 82


class TestIndexThatIsNotTrusted:
    @pytest.mark.parametrize(
        "harm",
        [
            pytest.param(lambda at: (at / SOURCE).unlink(), id="an older form"),
            pytest.param(shutil.rmtree, id="gone"),
            pytest.param(lambda at: (at / SOURCE).write_text("[]"), id="no object"),
            pytest.param(lambda at: _set(at, form=99), id="a form to come"),
            pytest.param(lambda at: _set(at, protocol={}), id="no protocol"),
            pytest.param(lambda at: _set(at, num_files=7), id="other rows"),
            pytest.param(lambda at: _set(at, version="x"), id="no version"),
            pytest.param(lambda at: (at / FILES).unlink(), id="no files"),
            pytest.param(lambda at: _cut(at / FILES, 100), id="cut at its end"),
            pytest.param(lambda at: _cut(at / FILES, None), id="empty"),
            pytest.param(lambda at: (at / FILES).write_bytes(b"x" * 999), id="noise"),
            pytest.param(lambda at: _drop(at, "stats"), id="a column is missing"),
            pytest.param(lambda at: _drop(at, "min"), id="bounds are missing"),
        ],
    )
    def test_is_passed_over_for_the_log(
        self, log: LocalLog, harm: Callable[[Path], object]
    ) -> None:
        index = log.index()
        harm(index)

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert not is_mapped(opened)
        assert paths(opened) == ["p=1/a", "p=1/b", "p=2/c"]

    def test_is_not_made_of_files_with_deletion_vectors(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).start(add("a", deletionVector=deletion_vector("x")))
        index = log.index()

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert not (index / SOURCE).exists()
        assert opened.has_deletion_vectors

    def test_a_deletion_vector_that_comes_later_is_seen(self, log: LocalLog) -> None:
        index = log.index()
        vector = deletion_vector("x")
        log.commit(1, add("p=1/a", deletionVector=vector), remove("p=1/a"))
        reader = SharedTableReader()

        opened = reader.open_version(log.table, index_folder=index)
        assert opened.has_deletion_vectors

        log.commit(2, remove("p=1/a", deletionVector=vector))
        opened = reader.open_version(log.table, index_folder=index)
        assert not opened.has_deletion_vectors


def _set(folder: Path, **values: object) -> None:
    source = json.loads((folder / SOURCE).read_text())
    (folder / SOURCE).write_text(json.dumps({**source, **values}))


def _cut(path: Path, count: int | None) -> None:
    path.write_bytes(path.read_bytes()[: -count if count else 0])


def _drop(folder: Path, name: str) -> None:
    with pa.OSFile(str(folder / FILES)) as source:
        table = pa.ipc.open_file(source).read_all()
    with pa.ipc.new_file(str(folder / FILES), table.drop([name]).schema) as writer:
        writer.write_table(table.drop([name]))
    _set(folder, files_bytes=(folder / FILES).stat().st_size)


class TestOtherVersions:
    def test_are_read_from_the_log(self, log: LocalLog) -> None:
        log.commit(1, remove("p=1/a"))
        log.commit(2, remove("p=1/b"))
        reader, index = SharedTableReader(), log.index()

        opened = reader.open_version(log.table, index_folder=index, version=1)

        assert (opened.version, paths(opened)) == (1, ["p=1/b", "p=2/c"])
        again = reader.open_version(log.table, index_folder=index, version=1)
        assert again is opened

    def test_the_newest_by_its_number_comes_from_the_index(self, log: LocalLog) -> None:
        opened = SharedTableReader().open_version(
            log.table, index_folder=log.index(), version=0
        )

        assert is_mapped(opened)

    def test_a_version_that_is_not_there_is_an_error(self, log: LocalLog) -> None:
        with pytest.raises(VersionNotFoundError):
            SharedTableReader().open_version(
                log.table, index_folder=log.index(), version=5
            )

    def test_are_found_by_time(self, log: LocalLog) -> None:
        log.commit(1, remove("p=1/a"))
        os.utime(log.log / f"{0:020d}.json", (1_000, 1_000))
        os.utime(log.log / f"{1:020d}.json", (2_000, 2_000))
        reader, times = SharedTableReader(), log.table.commit_times()
        first = log.table.snapshot(0).timestamp
        last = log.table.snapshot(1).timestamp

        opened = [
            reader.open_version(log.table, index_folder=None, timestamp=moment).version
            for moment in (first, last)
        ]

        assert opened == [0, 1] == list(times.versions)

    def test_times_that_are_in_the_commits_are_refused(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path)
        configuration = {"delta.enableInCommitTimestamps": "true"}
        log.commit(
            0,
            protocol(1, 7, writerFeatures=["inCommitTimestamp"]),
            metadata(configuration=configuration),
        )

        with pytest.raises(UnsupportedFeatureError):
            SharedTableReader().open_version(
                log.table,
                index_folder=None,
                timestamp=log.table.snapshot().timestamp,
            )

    def test_a_commit_that_was_made_anew_is_read_again(self, log: LocalLog) -> None:
        log.commit(1, remove("p=1/a"))
        log.commit(2, remove("p=1/b"))
        reader = SharedTableReader()
        reader.open_version(log.table, index_folder=None, version=1)
        log.commit(1, remove("p=1/a"), remove("p=2/c"))

        opened = reader.open_version(log.table, index_folder=None, version=1)

        assert paths(opened) == ["p=1/b"]

    def test_only_a_few_are_held(self, log: LocalLog) -> None:
        for version in range(1, 10):
            log.commit(version, add(f"f{version}", partitionValues={"p": "3"}))
        reader = SharedTableReader()
        first = reader.open_version(log.table, index_folder=None, version=1)
        for version in range(2, 9):
            reader.open_version(log.table, index_folder=None, version=version)

        again = reader.open_version(log.table, index_folder=None, version=1)
        assert again is not first

    def test_are_fewer_where_they_have_many_files(
        self, log: LocalLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("deltaweb.index.shared_table.MAX_OLDER_FILES", 5)
        log.commit(1, remove("p=1/a"))
        log.commit(2, add("d", partitionValues={"p": "3"}))
        reader = SharedTableReader()

        def opened(version: int) -> SharedVersion:
            return reader.open_version(log.table, index_folder=None, version=version)

        first, second = opened(0), opened(1)
        assert opened(1) is second
        assert opened(0) is first
        monkeypatch.setattr("deltaweb.index.shared_table.MAX_OLDER_FILES", 4)
        assert opened(1) is second
        assert opened(0) is not first


class TestRefusals:
    def test_are_told_of_a_protocol_beyond_ours(self, tmp_path: Path) -> None:
        log = LocalLog(tmp_path).commit(0, protocol(4, 7), metadata(), add("a"))

        opened = SharedTableReader().open_version(log.table, index_folder=log.index())

        assert opened.refusal is not None
        assert opened.num_files == 1

    def test_are_told_of_files_that_are_not_parquet(self, tmp_path: Path) -> None:
        other = {"provider": "orc", "options": {}}
        log = LocalLog(tmp_path).start(add("a"), format=other)

        opened = SharedTableReader().open_version(log.table, index_folder=None)

        assert isinstance(opened.refusal, UnsupportedFeatureError)


class TestCommitsThatAreGone:
    @pytest.fixture
    def cleaned(self, log: LocalLog) -> tuple[LocalLog, Path]:
        """A log of a checkpoint alone, and the index of before its clean-up."""
        log.commit(1, remove("p=1/a"))
        index = log.index()
        schema = typed_schema(**COLUMNS)
        log.checkpoint(1, protocol(), metadata(schemaString=schema), add("kept"))
        for version in (0, 1):
            (log.log / f"{version:020d}.json").unlink()
        return log, index

    def test_leave_the_index_without_proof(
        self, cleaned: tuple[LocalLog, Path]
    ) -> None:
        log, index = cleaned

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert paths(opened) == ["kept"]

    def test_have_an_older_version_read_every_time(
        self, cleaned: tuple[LocalLog, Path]
    ) -> None:
        log, _ = cleaned
        log.commit(2, add("newer"))
        reader = SharedTableReader()
        older = [
            reader.open_version(log.table, index_folder=None, version=1)
            for _ in range(2)
        ]

        assert older[0] is not older[1]
        assert paths(older[1]) == ["kept"]

    def test_leave_an_index_of_the_checkpoint_without_a_source(
        self, cleaned: tuple[LocalLog, Path]
    ) -> None:
        log, _ = cleaned

        assert not (log.index("again") / SOURCE).exists()


class TestAccess:
    def test_of_other_credentials_is_another_reading(self) -> None:
        location = "memory://access/table"
        keys = [DeltaTable(location, {"key": key}) for key in ("a", "a", "b")]
        name = f"{0:020d}.json"
        keys[0].store.put(name, commit_bytes(protocol(), metadata(), add("x")))
        reader = SharedTableReader()

        opened = [reader.open_version(table, index_folder=None) for table in keys]

        assert opened[1] is opened[0]
        assert opened[2] is not opened[0]


class TestEviction:
    def test_counts_a_table_that_did_not_open_as_none(
        self, log: LocalLog, tmp_path: Path
    ) -> None:
        reader = SharedTableReader()
        with pytest.raises(LocationNotFoundError):
            reader.open_version(DeltaTable(str(tmp_path / "none")), index_folder=None)

        assert reader.open_version(log.table, index_folder=None).num_files == 3

    def test_forgets_the_table_that_was_asked_for_the_longest_ago(
        self, tmp_path: Path
    ) -> None:
        logs = [LocalLog(tmp_path / str(n)).start(add("a")) for n in range(3)]
        reader = SharedTableReader(max_tables=2)
        opened = [reader.open_version(log.table, index_folder=None) for log in logs]

        again = [
            reader.open_version(log.table, index_folder=None) for log in reversed(logs)
        ]

        assert again[0] is opened[2]
        assert again[1] is opened[1]
        assert again[2] is not opened[0]

    def test_forgets_tables_whose_files_take_too_much_memory(
        self, tmp_path: Path
    ) -> None:
        logs = [
            LocalLog(tmp_path / str(n)).start(*(add(f"f{i}") for i in range(30)))
            for n in range(2)
        ]
        reader = SharedTableReader(max_files=50)
        first = reader.open_version(logs[0].table, index_folder=None)
        reader.open_version(logs[1].table, index_folder=None)

        assert reader.open_version(logs[0].table, index_folder=None) is not first


class TestConcurrency:
    def test_threads_select_while_the_index_is_replaced_and_removed(
        self, tmp_path: Path
    ) -> None:
        log = RandomLog(tmp_path, 7)
        reader, index = SharedTableReader(), log.index()
        condition = parse_predicate("id < 500", log.table.snapshot().schema)
        faults: list[BaseException] = []
        stop = threading.Event()

        def ask() -> None:
            try:
                while not stop.is_set():
                    opened = reader.open_version(log.table, index_folder=index)
                    found = listed(opened)
                    pruned = listed(opened, predicates=[condition])
                    assert len(found) == opened.num_files
                    assert len(pruned) <= len(found)
            except BaseException as error:  # noqa: BLE001 (told after the threads)
                faults.append(error)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(6):
            log.grow(1)
            log.index()
            shutil.rmtree(index)
        stop.set()
        for thread in threads:
            thread.join()

        assert faults == []


class TestSelection:
    @pytest.fixture(params=["indexed", "replayed"])
    def version(self, log: LocalLog, request: pytest.FixtureRequest) -> SharedVersion:
        log.commit(
            1, add("n", size=8, partitionValues={"p": None}, stats=_stats(5, 0, 99))
        )
        index = log.index() if request.param == "indexed" else None
        return SharedTableReader().open_version(log.table, index_folder=index)

    def test_tells_what_it_holds_and_of_how_much(self, version: SharedVersion) -> None:
        chosen = version.select(predicates=[condition("p = 1")])

        assert (chosen.num_files, chosen.total_files, chosen.size_bytes) == (2, 4, 3)
        assert chosen.outside is None

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("p = 1", ["p=1/a", "p=1/b"]),
            ("p <> 1", ["p=2/c"]),
            ("NOT (p = 1)", ["p=2/c"]),
            ("p IS NULL", ["n"]),
            ("p IS NOT NULL", ["p=1/a", "p=1/b", "p=2/c"]),
            ("p = 1 OR p IS NULL", ["n", "p=1/a", "p=1/b"]),
            ("p IN (2, NULL)", ["p=2/c"]),
            ("p NOT IN (2, NULL)", []),
            ("p > 5", []),
        ],
    )
    def test_a_filter_offers_what_it_is_true_for_and_nothing_else(
        self, version: SharedVersion, text: str, expected: list[str]
    ) -> None:
        assert paths(version, partition_filter=condition(text)) == expected

    @pytest.mark.parametrize("text", ["id = 1", "p = 1 AND id > 0"])
    def test_a_filter_of_other_columns_offers_nothing(
        self, version: SharedVersion, text: str
    ) -> None:
        with pytest.raises(PredicateError):
            version.select(partition_filter=condition(text))

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("id = 5", ["n", "p=1/a", "p=2/c"]),
            ("id > 50", ["n", "p=2/c"]),
            ("p = 2 AND id > 50", ["p=2/c"]),
            ("name = 'x'", ["n", "p=1/a", "p=1/b", "p=2/c"]),
        ],
    )
    def test_hints_leave_out_what_cannot_match(
        self, version: SharedVersion, text: str, expected: list[str]
    ) -> None:
        assert paths(version, predicates=[condition(text)]) == expected

    def test_several_hints_all_hold(self, version: SharedVersion) -> None:
        hints = [condition("id < 50"), condition("p = 1"), condition("id > 12")]

        assert paths(version, predicates=hints) == ["p=1/b"]

    def test_a_filter_holds_whatever_the_hints_say(
        self, version: SharedVersion
    ) -> None:
        found = paths(
            version,
            partition_filter=condition("p = 1"),
            predicates=[condition("p = 2 OR id < 5")],
        )

        assert found == ["p=1/a"]

    @pytest.mark.parametrize(
        ("limit", "expected"),
        [(0, 0), (1, 1), (10, 1), (11, 2), (20, 2), (999, 2), (10**15, 2), (10**40, 2)],
    )
    def test_a_limit_stops_after_the_file_that_reaches_it(
        self, version: SharedVersion, limit: int, expected: int
    ) -> None:
        chosen = version.select(predicates=[condition("p = 1")], limit=limit)

        assert chosen.num_files == expected

    def test_a_file_without_a_count_reaches_no_limit(
        self, version: SharedVersion
    ) -> None:
        hints = [condition("p = 2")]

        assert version.select(predicates=hints, limit=1).num_files == 1
        assert version.select(limit=26).num_files == 4


def condition(text: str) -> Predicate:
    return parse_predicate(text, parse_schema(typed_schema(**COLUMNS)))


class TestBadPartitionValues:
    @pytest.fixture(params=["indexed", "replayed"])
    def version(self, tmp_path: Path, request: pytest.FixtureRequest) -> SharedVersion:
        log = LocalLog(tmp_path).start(
            add("good", partitionValues={"p": "1"}),
            add("bad", partitionValues={"p": "one"}),
            add("none", partitionValues={"p": ""}),
            partitionColumns=["p"],
        )
        index = log.index() if request.param == "indexed" else None
        return SharedTableReader().open_version(log.table, index_folder=index)

    def test_offer_nothing_where_a_filter_looks_at_them(
        self, version: SharedVersion
    ) -> None:
        with pytest.raises(PartitionValueError, match="bad"):
            version.select(partition_filter=condition("p = 1"))

    def test_may_match_every_hint(self, version: SharedVersion) -> None:
        assert paths(version, predicates=[condition("p = 1")]) == ["bad", "good"]
        assert paths(version, predicates=[condition("p IS NULL")]) == ["bad", "none"]
        assert paths(version, predicates=[condition("p IS NOT NULL")]) == [
            "bad",
            "good",
        ]


class TestPathsOutside:
    @pytest.mark.parametrize(
        "path",
        [
            "../x",
            "a/../../x",
            "%2e%2e/x",
            "/etc/passwd",
            "file:///etc/passwd",
            "s3://b/x",
        ],
    )
    @pytest.mark.parametrize("has_index", [True, False], ids=["indexed", "replayed"])
    def test_are_told_before_anything_is_listed(
        self, tmp_path: Path, path: str, *, has_index: bool
    ) -> None:
        log = LocalLog(tmp_path).start(add("a"), add(path))
        index = log.index() if has_index else None

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert opened.select().outside == path

    def test_an_absolute_path_below_the_root_is_made_relative(
        self, tmp_path: Path
    ) -> None:
        log = LocalLog(tmp_path)
        log.start(add(f"file://{log.location}/x%20y"), add(f"{log.location}/z"))

        opened = SharedTableReader().open_version(log.table, index_folder=log.index())

        assert opened.select().outside is None
        assert sorted(row["relative_path"] for row in listed(opened)) == ["x y", "z"]
