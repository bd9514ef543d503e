"""Checkpoints of logs of any size, by Spark.

The checkpoint is that of `deltaweb.delta.checkpoint_writer.builder`, by its rules and
by the same names. A single file is written by one task, as in process, and so are
parts where Spark has few cores. Else parts are written by a task each, after the log
was read by others and its file actions were shuffled to their parts
(`checkpoint_tasks`); so is a single file above commits that one task should not hold
the keys of.

Tasks write beside the places of the files and hand them over whole and durable; this
process, which holds nothing of the size of the files, puts them in place when all are
there. Of a task that runs twice one file is taken, and the other one goes away.

Source: delta_protocol.md, "Requirements for Writers", "Checkpoints".
"""

import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from deltaweb.delta.checkpoint_writer.announce import PreparedCheckpoint, announce
from deltaweb.delta.checkpoint_writer.attempts import (
    UnreadableCheckpointError,
    try_segments,
)
from deltaweb.delta.checkpoint_writer.commit_facts import CommitFacts, merge_facts
from deltaweb.delta.checkpoint_writer.plan import (
    CheckpointPlan,
    make_plan,
    open_checkpoint,
)
from deltaweb.delta.checkpoint_writer.request import (
    CheckpointRequest,
    WrittenCheckpoint,
)
from deltaweb.delta.errors import CheckpointCancelledError, LogCorruptError
from deltaweb.delta.log_segment import LogSegment
from deltaweb.delta.log_store import TableStore
from deltaweb.spark.arrow_frames import map_in_arrow, run_tasks
from deltaweb.spark.checkpoint_progress import ProgressWatch, TaskProgress
from deltaweb.spark.checkpoint_tasks import (
    ORDER,
    PACKED_SCHEMA,
    WRITTEN_SCHEMA,
    CheckpointWork,
    Piece,
    read_facts,
    read_facts_in_task,
    read_piece,
    write_alone,
    write_parts,
)
from deltaweb.spark.cluster import is_local, local_cores
from deltaweb.spark.log_reader import (
    CommitPack,
    LogSource,
    pack_commits,
    row_group_tasks,
)
from deltaweb.spark.segments import commit_statuses
from deltaweb.spark.watched_work import watch_work
from deltaweb.storage.write_faults import write_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")

ALONE_BYTES: Final = 256 << 20
"""Commits of more bytes are shuffled: one task would hold the keys of all."""
SHUFFLED_FROM_CORES: Final = 4
"""A shuffle takes twice the processor time; one task uses two cores of its machine."""
BUCKET_BYTES: Final = 128 << 20
"""Of commits of so many bytes a task holds the keys at once."""
ATTEMPTS: Final = 3  # of tasks whose process dies, as a cluster makes by itself


class TaskDiedError(Exception):
    """The process of a task died, each time that the task was tried."""

    code = "spark-task-died"

    def __init__(self) -> None:
        self.message = "A task of Spark died while it wrote the checkpoint."
        self.hint = "Write it in more parts, or give Spark's workers more memory."
        super().__init__(f"{self.message} {self.hint}")


def build_checkpoint(
    spark: SparkSession,
    source: LogSource,
    request: CheckpointRequest,
    *,
    scratch: Path | None = None,
) -> WrittenCheckpoint:
    """Write a checkpoint of a version that exists.

    Args:
        spark: The session.
        source: The table's log.
        request: What is wanted.
        scratch: A folder that executors see, where tasks may tell how far they are; a
            temporary one of this machine for None.

    Raises:
        ValueError: If `parts` or `rows_per_part` is not of use.
        DeltaError: As the builder in process does.
        SparkLostError: If the session dies.
        TaskDiedError: If the process of a task dies again and again.
    """
    request.check()
    store = source.open()
    folder = _new_folder(scratch)
    build = secrets.token_hex(8)
    try:
        work = partial(_Attempt, spark, source, store, request, build, folder)
        return try_segments(
            store, request.version, lambda segment: work(segment).build_checkpoint()
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One attempt, from one older checkpoint or from the commits alone."""

    spark: SparkSession
    source: LogSource = field(repr=False)
    store: TableStore
    request: CheckpointRequest
    build: str
    folder: Path
    segment: LogSegment

    def build_checkpoint(self) -> WrittenCheckpoint:
        version = self.segment.version
        self.request.check_wanted(self.store, version)
        statuses = commit_statuses(self.store, self.segment)
        is_small = sum(status.size for status in statuses) <= ALONE_BYTES
        try:
            if is_small and (self.request.is_single or self._has_few_cores()):
                rows = self._write_alone()
            else:
                with self._faults_of_older():
                    rows = self._write_parts(pack_commits(statuses))
            rows.sort(key=lambda row: row["part"])
            self.request.check_wanted(self.store, version)
            return self._announce(rows)
        finally:
            self.store.remove_handed_over(self.build)

    def _has_few_cores(self) -> bool:
        cores = local_cores(self.spark.sparkContext.master or "")
        return cores is not None and cores < SHUFFLED_FROM_CORES

    # === By one task ===

    def _write_alone(self) -> list[Row]:
        asked = replace(
            self.request,
            version=self.segment.version,
            on_progress=None,
            is_cancelled=None,
        )
        progress = TaskProgress(str(self.folder), "write")
        task = partial(write_alone, self.source, asked, self.build, progress)
        return self._watch(
            lambda: run_tasks(self.spark, 1, task, WRITTEN_SCHEMA).collect()
        )

    # === In parts ===

    def _write_parts(self, packs: list[CommitPack]) -> list[Row]:
        older = open_checkpoint(self.store, self.segment)
        facts = self._watch(lambda: _read_facts(self.spark, self.source, packs))
        plan = make_plan(self.store, self.segment, older, facts, self.request)
        self.store.remove_leftovers()
        pieces: list[Piece] = [*packs]
        if older is not None:
            pieces = [*row_group_tasks(older, "add", "remove"), *packs]
        work = CheckpointWork(
            source=self.source,
            plan=plan,
            version=self.segment.version,
            older_path="" if older is None else older.path,
            pieces=pieces,
            buckets_a_part=_buckets_a_part(plan, packs),
            build=self.build,
            progress_folder=str(self.folder),
        )
        return self._watch(lambda: _run_work(self.spark, work))

    @contextmanager
    def _faults_of_older(self) -> "Iterator[None]":
        """Mark a fault in a file of the older checkpoint as the checkpoint's."""
        try:
            yield
        except LogCorruptError as fault:
            older = self.segment.checkpoint
            if older is None or fault.path.rsplit("/", 1)[-1] not in older.names:
                raise
            raise UnreadableCheckpointError(older, fault) from None

    # === Both ===

    def _announce(self, rows: list[Row]) -> WrittenCheckpoint:
        prepared = PreparedCheckpoint(
            version=self.segment.version,
            names=tuple(row["name"] for row in rows),
            num_actions=sum(row["num_actions"] for row in rows),
            num_files=sum(row["num_files"] for row in rows),
            num_tombstones=sum(row["num_tombstones"] for row in rows),
            size_bytes=sum(row["size_bytes"] for row in rows),
        )
        files = [self.store.take_over(row["name"], row["beside"]) for row in rows]
        return announce(self.store, prepared, files)

    def _watch(self, work: Callable[[], T]) -> T:
        """Run jobs, tell how far they are, and stop them when they are not wanted."""
        watch = ProgressWatch(self.folder, self.request, self._cancelled)
        title = "Write a checkpoint"
        try:
            result = watch_work(
                self.spark, partial(self._tried, work), watch, title=title
            )
        except CheckpointCancelledError:
            if watch.error is None:
                raise
            raise watch.error from None
        if watch.error is not None:
            raise watch.error
        return result

    def _tried(self, work: Callable[[], T]) -> T:
        """Run jobs, again where a task's process died and Spark does not try again."""
        is_tried = not is_local(self.spark.sparkContext.master or "")
        attempts = 1 if is_tried else ATTEMPTS
        while True:
            attempts -= 1
            try:
                return work()
            except (PySparkException, Py4JError) as error:
                if not _is_death(error):
                    raise
                if not attempts:
                    raise TaskDiedError from error

    def _cancelled(self) -> CheckpointCancelledError:
        return CheckpointCancelledError(
            root=self.store.root, version=self.segment.version
        )


def _new_folder(scratch: Path | None) -> Path:
    try:
        if scratch is not None:
            scratch.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="deltaweb-checkpoint-", dir=scratch))
    except OSError as error:
        place = str(scratch or tempfile.gettempdir())
        raise write_fault(error, place=place) from error


def _is_death(error: Exception) -> bool:
    """Tell whether a job ended because the process of a task did."""
    return "Python worker exited unexpectedly" in str(error)


def _read_facts(
    spark: SparkSession, source: LogSource, packs: list[CommitPack]
) -> CommitFacts:
    """Read what the commits say beside their files.

    One pack is read here, which takes less than a job does.
    """
    if len(packs) <= 1:
        return merge_facts(read_facts(source, pack) for pack in packs)
    rows = spark.sparkContext.parallelize(packs, len(packs))
    return merge_facts(rows.map(partial(read_facts_in_task, source)).collect())


def _buckets_a_part(plan: CheckpointPlan, packs: list[CommitPack]) -> int:
    """Return into how many buckets a part goes, so that a task holds one's keys."""
    size = sum(pack.size_bytes for pack in packs)
    return max(1, -(-size // (BUCKET_BYTES * len(plan.names))))


def _run_work(spark: SparkSession, work: CheckpointWork) -> list[Row]:
    """Read all pieces, shuffle what they hold to its parts, and write these."""
    read = partial(read_piece, work)
    packed = run_tasks(spark, len(work.pieces) + 1, read, PACKED_SCHEMA)
    in_order = packed.repartitionById(work.num_parts, "part").sortWithinPartitions(
        *ORDER
    )
    return map_in_arrow(in_order, partial(write_parts, work), WRITTEN_SCHEMA).collect()
