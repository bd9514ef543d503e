"""A checkpoint of a version: all that a reader needs of it, without the commits before.

The log itself is read, not the index: what is written has to be right.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.conf import settings

from apps.jobs.kind import Queue
from apps.pages.changes.parameters import Line, parameter
from apps.pages.page_json import AsText
from apps.tables.index.engine import choose
from apps.tables.index.folders import RUNS_FOLDER, indexes_folder
from apps.tables.index.rows import moment
from apps.tables.operations.operation import Operation, register
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.work.log_writing import MAX_FILES_NAMED
from deltaweb import spark
from deltaweb.delta.log.checkpoints.sidecars import log_size_bytes
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.log.segment import Checkpoint, load_log_segment
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.table_properties import (
    writes_stats_as_json,
    writes_stats_as_struct,
)
from deltaweb.delta.snapshot.state import Definition, load_definition
from deltaweb.delta.writing.checkpoint.builder import (
    MAX_PARTS,
    CheckpointRequest,
    WrittenCheckpoint,
    build_checkpoint,
)
from deltaweb.delta.writing.checkpoint.plan import check_checkpoint
from deltaweb.table import DeltaTable
from deltaweb.words import counted

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

COUNTED_BYTES: Final = 256 << 20  # of a log that is read for the numbers of a preview
SMALLEST_BYTES: Final = 12 << 10  # of a checkpoint: its schema and footer
MEMORY_A_BYTE: Final = 10  # files in memory take about so many times as much
TOMBSTONE_BYTES: Final = 40
MAX_SIZED_PARTS: Final = 16  # files that are asked for their size


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCheckpoint:
    """Which checkpoint is written.

    Attributes:
        version: The version; null for the newest one.
        parts: The number of files; null for one.
    """

    version: int | None = parameter(
        None,
        "--version",
        line=Line(
            label="Version",
            help="Left empty, the newest one.",
            placeholder="the newest",
            least=0,
            wrong="Give the number of a version.",
        ),
        metavar="N",
    )
    parts: int | None = parameter(
        None,
        "--parts",
        line=Line(
            label="Parts",
            help="Left empty, one file. Parts help where files are counted in "
            "millions.",
            placeholder="a single file",
            least=1,
            most=MAX_PARTS,
            wrong=f"Give a whole number from 1 to {MAX_PARTS}.",
        ),
        metavar="N",
        help="number of files to write (1)",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCheckpoint:
    """A complete checkpoint that the log holds.

    Attributes:
        parts: Its files; None for a single one of the classic name.
        size_bytes: Bytes of its files; None where they are many.
        written_at: When its first file was written.
    """

    version: int
    parts: int | None
    size_bytes: int | None
    written_at: AsText


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDetail:
    """What else the preview of a checkpoint shows.

    Attributes:
        commits_since_checkpoint: Commits that a reader now reads after the newest one.
        newest_checkpoint: That one; None where there is none.
        num_files: Its live files; None if unknown, or the log is large.
        num_tombstones_at_most: Its tombstones; likewise.
        about_bytes: About how large it will be; likewise.
        stats_as_json: Whether it has statistics as JSON.
        stats_as_struct: Whether it has statistics with types.
        parts: Into how many files; None is a single one.
    """

    commits_since_checkpoint: int
    newest_checkpoint: KnownCheckpoint | None
    num_files: int | None
    num_tombstones_at_most: int | None
    about_bytes: int | None
    stats_as_json: bool
    stats_as_struct: bool
    parts: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointDone:
    """A checkpoint that was written.

    Attributes:
        files: The names of its files.
        num_actions: All actions in it.
        num_files: Its live files.
        is_last: Whether `_last_checkpoint` names it.
        engine: Who wrote it, in words.
    """

    version: int
    files: tuple[str, ...]
    num_actions: int
    num_files: int
    num_tombstones: int
    size_bytes: int
    is_last: bool
    engine: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPlan:
    """A checkpoint that may be written.

    Attributes:
        newest: The newest checkpoint at or before it, if there is one.
        num_files: Its live files; None if unknown, or the log is large.
        num_tombstones: Its tombstones that have not expired; likewise.
        size_bytes: About how large it will be; likewise.
    """

    asked: WriteCheckpoint
    definition: Definition
    log_bytes: int
    newest: KnownCheckpoint | None = None
    num_files: int | None = None
    num_tombstones: int | None = None
    size_bytes: int | None = None


def plan(
    opened: DeltaTable, asked: WriteCheckpoint, context: RunContext
) -> CheckpointPlan:
    """Find out what a checkpoint would hold."""
    store, seen = opened.store, context.seen
    wanted_version = asked.version
    if wanted_version is None and seen is not None:
        wanted_version = seen.version  # the newest when it was looked at
    segment = load_log_segment(store, wanted_version)
    version = segment.version
    definition = load_definition(store, version)
    check_checkpoint(store, definition)
    wanted = WriteCheckpoint(version=version, parts=asked.parts)
    log_bytes = log_size_bytes(store, segment)
    if seen is not None or not context.is_shown:
        return CheckpointPlan(asked=wanted, definition=definition, log_bytes=log_bytes)
    newest = None if segment.checkpoint is None else _known(store, segment.checkpoint)
    if log_bytes > COUNTED_BYTES:
        return CheckpointPlan(
            asked=wanted, definition=definition, log_bytes=log_bytes, newest=newest
        )
    snapshot = opened.snapshot_metadata(version)
    num_tombstones = snapshot.unexpired_tombstones(context.now).num_rows
    file_bytes = snapshot.files.nbytes // MEMORY_A_BYTE
    return CheckpointPlan(
        asked=wanted,
        definition=definition,
        log_bytes=log_bytes,
        newest=newest,
        num_files=snapshot.num_files,
        num_tombstones=num_tombstones,
        size_bytes=SMALLEST_BYTES + file_bytes + num_tombstones * TOMBSTONE_BYTES,
    )


def preview(plan: CheckpointPlan) -> OperationPreview[CheckpointDetail]:
    """Tell what a checkpoint would hold, and how far readers have to go without it."""
    version, newest = plan.definition.version, plan.newest
    parts, properties = plan.asked.parts, plan.definition.metadata.configuration
    files = "its files" if plan.num_files is None else counted(plan.num_files, "file")
    into = "one file" if parts is None else counted(parts, "file")
    return OperationPreview(
        version=version,
        counts={"version": version},
        detail=lambda: CheckpointDetail(
            commits_since_checkpoint=version - newest.version
            if newest
            else version + 1,
            newest_checkpoint=newest,
            num_files=plan.num_files,
            num_tombstones_at_most=plan.num_tombstones,
            about_bytes=plan.size_bytes,
            stats_as_json=writes_stats_as_json(properties),
            stats_as_struct=writes_stats_as_struct(properties),
            parts=parts,
        ),
        says=f"Would write the checkpoint of version {version}: {files}, into {into}.",
    )


def carry_out(
    opened: DeltaTable, plan: CheckpointPlan, context: RunContext
) -> CheckpointDone:
    """Write a checkpoint, in process or by Spark; cancelled, it leaves nothing."""
    job = context.job
    request = checkpoint_request(plan.asked, context)

    def on_spark(session: "SparkSession") -> WrittenCheckpoint:
        job.step(DOING)
        place, scratch = context.place(), indexes_folder() / RUNS_FOLDER
        return spark.checkpoint.build_checkpoint(
            session, place, request, scratch=scratch
        )

    written, engine = choose(
        plan.log_bytes,
        settings.SPARK_REPLAY_BYTES,
        here=lambda: build_checkpoint(opened.store, request),
        on_spark=on_spark,
        reports=job,
        wanted=context.engine,
    )
    for name, number in (
        ("files", written.num_files),
        ("tombstones", written.num_tombstones),
        ("bytes", written.size_bytes),
        ("parts", len(written.names)),
    ):
        job.count(name, number)
    for file in written.names[:MAX_FILES_NAMED]:
        job.log(f"Wrote {file}")
    return CheckpointDone(
        version=written.version,
        files=tuple(written.names),
        num_actions=written.num_actions,
        num_files=written.num_files,
        num_tombstones=written.num_tombstones,
        size_bytes=written.size_bytes,
        is_last=written.is_last,
        engine=engine.words,
    )


def checkpoint_request(
    asked: WriteCheckpoint, context: RunContext
) -> CheckpointRequest:
    """Return what is wanted of a checkpoint; a cancelled job stops it."""

    def is_cancelled() -> bool:
        context.job.check_cancelled()
        return False

    return CheckpointRequest(
        now=context.now,
        version=asked.version,
        parts=asked.parts,
        on_progress=context.job.progress_of("file actions"),
        is_cancelled=is_cancelled,
    )


def result_text(result: CheckpointDone) -> str:
    """Say what was written, and its files."""
    text = (
        f"Wrote the checkpoint of version {result.version}: "
        f"{counted(result.num_files, 'file')} and "
        f"{counted(result.num_tombstones, 'tombstone')} "
        f"in {counted(result.size_bytes, 'byte')}."
    )
    return "\n".join([text, *(f"  {file}" for file in result.files)])


def _known(store: LogStore, found: Checkpoint) -> KnownCheckpoint:
    sized = found.names[:MAX_SIZED_PARTS]
    statuses = [store.status(name) for name in sized]
    is_single = found.names == (checkpoint_name(found.version),)
    is_sized = len(sized) == len(found.names)
    return KnownCheckpoint(
        version=found.version,
        parts=None if is_single else len(found.names),
        size_bytes=sum(status.size for status in statuses) if is_sized else None,
        written_at=moment(statuses[0].modification_time),
    )


DOING: Final = "Writing the checkpoint"
CHECKPOINT: Final = register(
    Operation(
        name="write_checkpoint",
        words="Write a checkpoint",
        title="Write a checkpoint of {table}",
        doing=DOING,
        action="table.checkpoint",
        parameters=WriteCheckpoint,
        plan=plan,
        preview=preview,
        detail=CheckpointDetail,
        carry_out=carry_out,
        result=CheckpointDone,
        result_text=result_text,
        is_harmless=True,
        has_engines=True,
        is_apart=False,
        queue=Queue.SPARK,  # of a large log
        page="tables:table-checkpoint",
    )
)
