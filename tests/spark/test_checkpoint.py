"""Checkpoints by Spark are those of the in-process engine, part for part."""

import io
import json
import os
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deltaweb.delta.checkpoint_writer import builder
from deltaweb.delta.checkpoint_writer.builder import (
    CheckpointRequest,
    WrittenCheckpoint,
)
from deltaweb.delta.errors import CheckpointCancelledError, DeltaError
from deltaweb.delta.log_path import checkpoint_name, commit_name
from deltaweb.delta.log_store import TableStore
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.local_pending import LocalPendingFile
from deltaweb.table import DeltaTable
from tests.checkpoint_logs import NOW, commits
from tests.delta_logs import (
    Action,
    LogBuilder,
    add,
    deletion_vector,
    metadata,
    protocol,
    remove,
)
from tests.s3_server import S3Server, running_s3

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HINT = "_last_checkpoint"
AS_STRUCT = {
    "delta.checkpoint.writeStatsAsStruct": "true",
    "delta.checkpoint.writeStatsAsJson": "false",
}
HEALTH = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


def on_disk(builder: LogBuilder, folder: Path) -> Path:
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    for name, data in builder.store.log_files.items():
        (log / name).write_bytes(data)
    return folder


def request_of(version: int | None = None, **wanted: Any) -> CheckpointRequest:  # noqa: ANN401 (its fields)
    return CheckpointRequest(now=NOW, version=version, **wanted)


def built_here(folder: Path, request: CheckpointRequest) -> WrittenCheckpoint:
    return builder.build_checkpoint(DeltaTable(str(folder)).store, request)


def built_by_spark(
    spark: "SparkSession", folder: Path, request: CheckpointRequest
) -> WrittenCheckpoint:
    from deltaweb.spark.checkpoint import build_checkpoint
    from deltaweb.spark.log_reader import LogSource

    return build_checkpoint(spark, LogSource(str(folder)), request)


def parts_of(folder: Path, names: Sequence[str]) -> list[Any]:
    """The schema of each part, and its rows in no order."""
    tables = [pq.read_table(folder / "_delta_log" / name) for name in names]
    return [(t.schema, Counter(map(repr, t.to_pylist()))) for t in tables]


def hint_of(folder: Path) -> dict[str, Any]:
    hint: dict[str, Any] = json.loads((folder / "_delta_log" / HINT).read_bytes())
    return hint


def names_in(folder: Path) -> set[str]:
    return {path.name for path in (folder / "_delta_log").iterdir()}


def assert_same(
    here: Path, there: Path, one: WrittenCheckpoint, other: WrittenCheckpoint
) -> None:
    """Compare the checkpoints of two copies of a log."""
    assert parts_of(there, other.names) == parts_of(here, one.names)
    facts = ("version", "names", "num_actions", "num_files", "num_tombstones")
    for fact in (*facts, "is_last"):
        assert getattr(other, fact) == getattr(one, fact)
    sizes = [(there / "_delta_log" / n).stat().st_size for n in other.names]
    assert other.size_bytes == sum(sizes)
    hints = [hint_of(folder) for folder in (here, there)]
    for hint in hints:
        del hint["sizeInBytes"]  # row groups begin elsewhere
    assert hints[0] == hints[1]
    assert names_in(here) == names_in(there)


@pytest.fixture(
    params=[(4_096, 1 << 28, 1 << 27, 5), (1, 0, 400, 5)],
    ids=["one pack", "a pack a commit, and small buckets"],
)
def max_examples(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> int:
    """Take each way that the size of a log can call for; return examples to run."""
    from deltaweb.spark import checkpoint, log_reader

    commits_a_pack, alone_bytes, bucket_bytes, max_examples = request.param
    monkeypatch.setattr(log_reader, "PACK_COMMITS", commits_a_pack)
    monkeypatch.setattr(checkpoint, "ALONE_BYTES", alone_bytes)
    monkeypatch.setattr(checkpoint, "BUCKET_BYTES", bucket_bytes)
    return int(max_examples)


class TestACheckpoint:
    def test_is_the_same_in_both_engines(
        self, spark: "SparkSession", max_examples: int
    ) -> None:
        @settings(
            max_examples=max_examples,
            deadline=None,
            suppress_health_check=HEALTH,
            database=None,
        )
        @given(
            history=st.one_of(commits(), commits(configuration=AS_STRUCT)),
            older=st.sampled_from([None, None, 1, 2]),
            wanted=st.sampled_from([{}, {"parts": 1}, {"parts": 3}]),
            data=st.data(),
        )
        def compare(
            history: list[list[Action]],
            older: int | None,
            wanted: dict[str, int],
            data: st.DataObject,
        ) -> None:
            log = LogBuilder()
            for version, actions in enumerate(history):
                log.commit(version, *actions)
            version = data.draw(st.integers(0, len(history) - 1))
            if older is not None:
                first = data.draw(st.integers(0, version))
                log.table.create_checkpoint(first, parts=older, now=NOW)
            with tempfile.TemporaryDirectory() as home:
                here, there = (on_disk(log, Path(home) / side) for side in "ab")
                one = built_here(here, request_of(version, **wanted))
                other = built_by_spark(spark, there, request_of(version, **wanted))
                assert_same(here, there, one, other)

        compare()

    @pytest.mark.parametrize("rows_per_part", [1, 7, 100])
    def test_has_as_many_parts_by_rows_in_both_engines(
        self, spark: "SparkSession", tmp_path: Path, rows_per_part: int
    ) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))
        log.table.create_checkpoint(now=NOW)
        log.commit(1, remove("f1"), add("g")).commit(2, add("g", size=5))
        here, there = (on_disk(log, tmp_path / side) for side in "ab")
        wanted = request_of(rows_per_part=rows_per_part)

        one, other = built_here(here, wanted), built_by_spark(spark, there, wanted)

        assert_same(here, there, one, other)
        assert len(one.names) == -(-(11 + 3) // rows_per_part)

    def test_of_a_table_without_files_has_all_its_parts(
        self, spark: "SparkSession", tmp_path: Path
    ) -> None:
        here, there = (on_disk(LogBuilder().start(), tmp_path / side) for side in "ab")
        wanted = request_of(parts=3)

        one, other = built_here(here, wanted), built_by_spark(spark, there, wanted)

        assert_same(here, there, one, other)
        assert len(other.names) == 3


BROKEN = {
    "version": lambda log: log,
    "feature": lambda log: log.commit(2, protocol(1, 7, writerFeatures=["other"])),
    "commit": lambda log: log.raw_commit(1, b'{"add":\n'),
    "gap": lambda log: log.commit(3).delete(commit_name(1)),
    "vector": lambda log: log.commit(2, add("v", deletionVector=deletion_vector("x"))),
    "partition": lambda log: log.commit(
        2,
        metadata(
            partitionColumns=["day"],
            schemaString=json.dumps(
                {
                    "type": "struct",
                    "fields": [
                        {
                            "name": "day",
                            "type": "date",
                            "nullable": True,
                            "metadata": {},
                        }
                    ],
                }
            ),
            configuration=AS_STRUCT,
        ),
        add("d", partitionValues={"day": "never"}),
    ),
}


class TestARefusal:
    @pytest.mark.parametrize("parts", [None, 2])
    @pytest.mark.parametrize("kind", BROKEN)
    def test_is_that_of_the_in_process_engine(
        self, spark: "SparkSession", tmp_path: Path, kind: str, parts: int | None
    ) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        folder = on_disk(BROKEN[kind](log), tmp_path / "table")
        wanted = request_of(9 if kind == "version" else None, parts=parts)
        before = names_in(folder)

        with pytest.raises(DeltaError) as here:
            built_here(folder, wanted)
        with pytest.raises(DeltaError) as there:
            built_by_spark(spark, folder, wanted)

        assert type(there.value) is type(here.value)
        assert str(there.value) == str(here.value)
        assert names_in(folder) == before

    @pytest.mark.parametrize("parts", [0, 257])
    def test_of_numbers_comes_before_any_work(
        self, spark: "SparkSession", tmp_path: Path, parts: int
    ) -> None:
        with pytest.raises(ValueError, match="part"):
            built_by_spark(spark, tmp_path, request_of(parts=parts))


class TestABrokenCheckpoint:
    @pytest.mark.parametrize("parts", [None, 2])
    @pytest.mark.parametrize("leaf", ["", "add.path"], ids=["footer", "paths"])
    def test_is_passed_over_for_the_commits(
        self, spark: "SparkSession", tmp_path: Path, parts: int | None, leaf: str
    ) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        log.table.create_checkpoint(0, now=NOW)
        log.store.put(checkpoint_name(0), _spoilt(log, leaf))
        folder = on_disk(log, tmp_path / "table")

        written = built_by_spark(spark, folder, request_of(parts=parts))

        assert (written.version, written.num_files) == (1, 2)
        assert written.is_last


def _spoilt(log: LogBuilder, leaf: str) -> bytes:
    """A checkpoint whose footer is torn, or whose values of a leaf are."""
    data = bytearray(log.store.read(checkpoint_name(0)))
    if not leaf:
        return bytes(data[:-6])
    footer = pq.read_metadata(io.BytesIO(data))
    for group in range(footer.num_row_groups):
        for column in range(footer.num_columns):
            chunk = footer.row_group(group).column(column)
            if chunk.path_in_schema == leaf:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                data[start : start + chunk.total_compressed_size] = (
                    b"\xff" * chunk.total_compressed_size
                )
    return bytes(data)


# === Whoever waits ===


class TestProgress:
    @pytest.fixture(autouse=True)
    def _patience(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let tasks end by themselves, however slow this machine is."""
        from deltaweb.spark import checkpoint_progress

        monkeypatch.setattr(checkpoint_progress, "STOPS_WITHIN_S", 120)

    @pytest.mark.parametrize("parts", [None, 2])
    def test_that_raises_stops_the_work_and_leaves_nothing(
        self, spark: "SparkSession", tmp_path: Path, parts: int | None
    ) -> None:
        folder = on_disk(LogBuilder().start(add("a")), tmp_path / "table")
        before = names_in(folder)

        def stop() -> bool:
            raise KeyboardInterrupt

        wanted = request_of(parts=parts, is_cancelled=stop)
        with pytest.raises(KeyboardInterrupt):
            built_by_spark(spark, folder, wanted)

        assert names_in(folder) == before

    @pytest.mark.parametrize("parts", [None, 2])
    @pytest.mark.parametrize("looks", [0, 1])
    def test_work_that_nobody_wants_leaves_nothing(
        self, spark: "SparkSession", tmp_path: Path, parts: int | None, looks: int
    ) -> None:
        folder = on_disk(LogBuilder().start(add("a")), tmp_path / "table")
        before = names_in(folder)
        answers: Iterator[bool] = iter([False] * looks)
        wanted = request_of(parts=parts, is_cancelled=lambda: next(answers, True))

        with pytest.raises(CheckpointCancelledError):
            built_by_spark(spark, folder, wanted)

        assert names_in(folder) == before


class TestProgressWatch:
    def test_adds_up_what_tasks_tell_and_never_goes_back(self, tmp_path: Path) -> None:
        from deltaweb.spark.checkpoint_progress import ProgressWatch, TaskProgress

        told: list[tuple[int, int]] = []
        wanted = request_of(on_progress=lambda *pair: told.append(pair))
        watch = ProgressWatch(tmp_path, wanted, _never)
        tasks = [TaskProgress(str(tmp_path), f"read-{n}") for n in range(2)]

        watch(0, None)
        tasks[0].tell(5, 20)
        tasks[1].tell(7, 20)
        watch(0, None)
        TaskProgress(str(tmp_path), "read-1").tell(1, 20)  # another attempt
        watch(0, None)
        tasks[0].tell(30, 20)
        watch(0, None)

        assert told == [(12, 20), (12, 20), (20, 20)]

    def test_asks_tasks_to_stop_before_spark_does(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from deltaweb.spark import checkpoint_progress
        from deltaweb.spark.checkpoint_progress import ProgressWatch, TaskProgress

        task = TaskProgress(str(tmp_path), "write")
        store = LocalTableStore(str(tmp_path))
        watch = ProgressWatch(tmp_path, request_of(is_cancelled=lambda: True), _never)
        task.check(store, 3)

        watch(0, None)
        watch(0, None)

        assert watch.error is not None
        with pytest.raises(CheckpointCancelledError, match="3"):
            task.check(store, 3)
        monkeypatch.setattr(checkpoint_progress, "STOPS_WITHIN_S", -1)
        late = ProgressWatch(tmp_path, request_of(is_cancelled=lambda: True), _never)
        late(0, None)
        with pytest.raises(CheckpointCancelledError):
            late(0, None)

    def test_tells_nothing_where_the_folder_is_not_seen(self, tmp_path: Path) -> None:
        from deltaweb.spark.checkpoint_progress import TaskProgress

        task = TaskProgress(str(tmp_path / "none"), "write")

        task.tell(1, 2)

        assert not task.is_cancelled()


def _never() -> CheckpointCancelledError:
    return CheckpointCancelledError(root="table", version=3)


# === Tasks that die, or run twice ===


class DyingStore(LocalTableStore):
    """A store whose writers are killed, the first few of them, with rows written."""

    def __init__(self, root: str, marks: Path, times: int) -> None:
        super().__init__(root)
        self.marks = marks
        self.times = times

    def begin_file(self, name: str) -> LocalPendingFile:
        file = super().begin_file(name)
        if _takes_mark(self.marks, self.times):
            file.sink.write(b"PAR1 and some rows")
            file.sink.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return file


def _takes_mark(marks: Path, times: int) -> bool:
    """Take one of so many marks, each of which one process gets."""
    for number in range(times):
        with suppress(FileExistsError):
            (marks / str(number)).touch(exist_ok=False)
            return True
    return False


@dataclass(frozen=True, slots=True)
class DyingSource:
    """Opens the store whose writers are killed in tasks, and a plain one elsewhere."""

    location: str
    marks: Path
    times: int

    def open(self) -> TableStore:
        from pyspark import TaskContext

        if TaskContext.get() is None:
            return LocalTableStore(self.location)
        return DyingStore(self.location, self.marks, self.times)


@pytest.mark.parametrize("parts", [None, 2])
def test_a_task_whose_process_is_killed_twice_is_done_by_the_third(
    spark: "SparkSession", tmp_path: Path, parts: int | None
) -> None:
    from deltaweb.spark.checkpoint import build_checkpoint

    log = LogBuilder().start(*(add(f"f{n}") for n in range(9))).commit(1, remove("f1"))
    here, there = (on_disk(log, tmp_path / side) for side in "ab")
    marks = tmp_path / "marks"
    marks.mkdir()
    source: Any = DyingSource(str(there), marks, times=2)

    written = build_checkpoint(spark, source, request_of(parts=parts))

    assert len(list(marks.iterdir())) == 2
    one = built_here(here, request_of(parts=parts))
    built_here(there, request_of(0))  # takes away what the dead ones left
    (there / "_delta_log" / checkpoint_name(0)).unlink()
    assert_same(here, there, one, written)


def test_a_task_whose_process_is_killed_each_time_fails_the_work(
    spark: "SparkSession", tmp_path: Path
) -> None:
    from deltaweb.spark.checkpoint import TaskDiedError, build_checkpoint

    log = LogBuilder().start(add("a")).commit(1, add("b"))
    folder = on_disk(log, tmp_path / "table")
    marks = tmp_path / "marks"
    marks.mkdir()
    source: Any = DyingSource(str(folder), marks, times=1_000)

    with pytest.raises(TaskDiedError, match="more memory"):
        build_checkpoint(spark, source, request_of())

    left = names_in(folder) - set(log.store.log_files)
    assert all(name.startswith(".") for name in left)
    assert deltalake.DeltaTable(str(folder)).version() == 1
    assert DeltaTable(str(folder)).snapshot().state.checkpoint is None
    built_here(folder, request_of())
    assert not any(name.startswith(".") for name in names_in(folder))


def test_of_a_task_that_runs_twice_one_file_is_taken(tmp_path: Path) -> None:
    from deltaweb.spark.checkpoint_progress import TaskProgress
    from deltaweb.spark.checkpoint_tasks import write_alone
    from deltaweb.spark.log_reader import LogSource

    log = LogBuilder().start(add("a")).commit(1, add("b"))
    folder = on_disk(log, tmp_path / "table")
    store = DeltaTable(str(folder)).store
    attempt = partial(
        write_alone,
        LogSource(str(folder)),
        request_of(1),
        "build",
        TaskProgress(str(tmp_path), "write"),
    )

    rows = [row for _ in range(2) for batch in attempt(0) for row in _rows(batch)]

    assert DeltaTable(str(folder)).snapshot().state.checkpoint is None
    assert deltalake.DeltaTable(str(folder)).version() == 1
    store.take_over(rows[1]["name"], rows[1]["beside"]).commit()
    assert store.remove_handed_over("build") == [rows[0]["beside"]]
    snapshot = DeltaTable(str(folder)).snapshot()
    assert snapshot.state.checkpoint is not None
    assert snapshot.num_files == 2


def _rows(batch: pa.RecordBatch) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = batch.to_pylist()
    return rows


# === Elsewhere ===


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with running_s3() as server:
        yield server


@pytest.mark.parametrize("parts", [None, 2])
def test_a_table_on_s3_gets_its_checkpoint_from_the_tasks(
    spark: "SparkSession", s3: S3Server, tmp_path: Path, parts: int | None
) -> None:
    from deltaweb.spark.checkpoint import build_checkpoint
    from deltaweb.spark.log_reader import LogSource

    log = LogBuilder().start(*(add(f"f{n}") for n in range(20)))
    log.commit(1, remove("f1"), add("g"))
    folder = on_disk(log, tmp_path / "table")
    bucket = s3.new_bucket()
    s3.upload(folder, bucket, "lake/ä b")
    source = LogSource(f"s3://{bucket}/lake/ä b", s3.options)

    written = build_checkpoint(spark, source, request_of(parts=parts))

    store = source.open()
    assert store.list_names_from("") == sorted(
        [*log.store.log_files, *written.names, HINT]
    )
    for version in (0, 1):
        store.delete(commit_name(version))
    snapshot = DeltaTable(source.location, s3.options).snapshot()
    assert snapshot.version == 1
    assert snapshot.num_files == written.num_files == 20


@pytest.mark.parametrize("parts", [None, 2])
def test_the_full_disk_of_a_task_is_told_and_leaves_nothing(
    spark: "SparkSession", tmp_path: Path, parts: int | None
) -> None:
    from deltaweb.spark.checkpoint import build_checkpoint

    folder = on_disk(LogBuilder().start(add("a")), tmp_path / "table")
    before = names_in(folder)
    source: Any = FullSource(str(folder))

    with pytest.raises(DeltaError) as caught:
        build_checkpoint(spark, source, request_of(parts=parts))

    assert caught.value.code == "storage-full"
    assert str(folder) in str(caught.value)
    assert names_in(folder) == before


class FullStore(LocalTableStore):
    """A store whose disk takes no file of more than a few bytes."""

    def begin_file(self, name: str) -> LocalPendingFile:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
        return super().begin_file(name)


@dataclass(frozen=True, slots=True)
class FullSource:
    """Opens the store whose disk is full in tasks."""

    location: str

    def open(self) -> TableStore:
        from pyspark import TaskContext

        if TaskContext.get() is None:
            return LocalTableStore(self.location)
        return FullStore(self.location)
