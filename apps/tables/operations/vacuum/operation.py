"""Files that the table no longer needs are deleted: what if first, for any retention.

A look lists the folder once and tells, hour by hour of retention, what would go; the
hours are chosen after it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apps.pages.changes.parameters import parameter
from apps.pages.page_json import AsText, IfKnown, Spread
from apps.tables.extension.guards import (
    HeldVersions,
    holds_at,
    holds_text,
    oldest_held,
)
from apps.tables.operations.operation import Operation, register
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.operations.stored import StoredPreview
from apps.tables.operations.vacuum.hours import hours_of
from apps.tables.work.log_writing import MAX_FILES_NAMED
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.operations.file_ages import (
    ALWAYS,
    CHANGES,
    HELD,
    HIDDEN_KIND,
    LIVE,
    NEEDLESS,
    NEVER,
    ORPHAN,
    TOMBSTONED,
)
from deltaweb.delta.writing.operations.vacuum import (
    MS_PER_HOUR,
    VacuumOutlook,
    VacuumPlan,
    carry_out_vacuum,
    look_at_files,
)
from deltaweb.table import DeltaTable
from deltaweb.words import counted, size_text

Longs = npt.NDArray[np.int64]
SHORTEST_AXIS_H: Final = 24 * 14
LONGEST_AXIS_H: Final = 24 * 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuum:
    """What is deleted.

    Attributes:
        hours: How long removed files are kept; null for the table's setting.
        allow_short_retention: Whether this may be shorter than the table's setting.
    """

    hours: float | None = parameter(
        None,
        "--retention",
        type=hours_of,
        metavar="168h",
        help="how long removed files are kept; default: the table's retention",
    )
    allow_short_retention: bool = parameter(
        default=False,
        option="--allow-short-retention",
        action="store_true",
        help="allow it even if running readers lose files",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """The files that a vacuum deletes, and the versions that then cannot be read.

    Attributes:
        num_lost: The number of versions that can no longer be read afterwards.
        first_lost: The first of these versions; null if there are none.
    """

    num_files: int
    size_bytes: int
    num_lost: int
    first_lost: int | None
    last_lost: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumStep:
    """The deletion of a retention, and of longer ones up to the next step.

    Attributes:
        hours: The retention in hours.
    """

    hours: int
    deletion: Spread[Deletion]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableVersions:
    """The versions of the log, by whether they can be read now.

    Attributes:
        oldest_hours: The longest retention in hours that takes one; None if none does.
    """

    num_readable: int
    num_gone: int
    oldest_hours: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumCurve:
    """What each whole hour of retention deletes, where that changes.

    Attributes:
        axis_hours: The longest retention that is shown.
        steps: Ascending by their hours.
        bars: Bytes by age in days; a retention deletes those that are older.
        versions: None in a preview of a release before these were counted.
    """

    axis_hours: int
    steps: tuple[VacuumStep, ...]
    bars: tuple[int, ...]
    versions: ReadableVersions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFiles:
    """Files of a kind in the folder of a table, and their size."""

    kind: str
    num_files: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedlessFile:
    """A file that a vacuum deletes."""

    place: str
    size: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumDetail:
    """What else the preview of a vacuum shows.

    Attributes:
        least_hours: The shortest retention that the table allows.
        num_orphans: Files that no version has.
        holds: A sentence about versions that stay readable; "" for none.
        num_held: Files that are kept for these.
        ledger: The folder by kinds of files; empty for a command.
        curve: None for a command.
        files: The oldest of the files that go.
    """

    least_hours: int
    num_orphans: int
    holds: str = ""
    num_held: int = 0
    held_bytes: int = 0
    ledger: tuple[StoredFiles, ...] = ()
    curve: IfKnown[Spread[VacuumCurve | None]] = None
    files: tuple[NeedlessFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumDone:
    """What a vacuum has deleted; it makes no version."""

    version: None = None
    deleted: bool = True
    deletion: Spread[Deletion]
    cutoff: AsText


@dataclass(frozen=True, eq=False)
class VacuumChoice:
    """What a folder holds, and what the chosen retention takes of it.

    Attributes:
        holds: Which versions stay readable all the same.
        ledger: Of `storage_ledger`.
    """

    outlook: VacuumOutlook
    plan: VacuumPlan
    holds: Sequence[HeldVersions] = ()
    ledger: tuple[StoredFiles, ...] = ()


def plan(opened: DeltaTable, asked: Vacuum, context: RunContext) -> VacuumChoice:
    """List the folder, and find out what goes."""
    context.job.step("Listing the files of the table")
    holds = holds_at(opened.root, now=context.now)
    outlook = look_at_files(opened.store, now=context.now, keep_from=oldest_held(holds))
    may_be_short = asked.allow_short_retention
    hours = asked.hours
    if hours is None and context.is_job:  # the curve of a preview is of whole hours
        hours = least_hours(outlook)
    chosen = outlook.plan(hours, allow_short_retention=may_be_short)
    context.job.count("files_listed", outlook.ages.num_rows)
    if context.seen is not None or not context.is_job:
        return VacuumChoice(outlook, chosen, holds)
    ledger = tuple(storage_ledger(opened.store, outlook))
    return VacuumChoice(outlook, chosen, holds, ledger)


def preview(choice: VacuumChoice) -> OperationPreview[VacuumDetail]:
    """Tell what goes, and what would go by any other retention."""
    plan = choice.plan
    lost = plan.lost_versions
    return OperationPreview(
        version=plan.version,
        counts=_counts(plan.files.num_rows, plan.size_bytes, len(plan.lost_versions)),
        detail=lambda: _detail(choice),
        is_empty=not plan.files.num_rows,
        says=" ".join(
            [
                _says("Would delete", plan.files.num_rows, plan.size_bytes, lost),
                *([_spares(plan, choice.holds)] if choice.holds else []),
            ]
        ),
        lines=lambda: (
            f"  {file['place']}  {file['size']:,}  {file['kind']}"
            for file in plan.files.to_pylist()
        ),
        exact=lambda: {
            "cutoff": plan.cutoff,
            "deleted": False,
            "live_bytes": plan.live_bytes,
            "kept_bytes": plan.kept_bytes,
            "lost_versions": list(lost),
            "files": plan.files.to_pylist(),
        },
    )


def _detail(choice: VacuumChoice) -> VacuumDetail:
    plan = choice.plan
    known = pc.sum(pc.equal(plan.files["kind"], TOMBSTONED)).as_py() or 0
    order = pc.sort_indices(plan.files["modification_time"])
    oldest = plan.files.take(order[:MAX_FILES_NAMED]).select(["place", "size", "kind"])
    return VacuumDetail(
        least_hours=least_hours(choice.outlook),
        num_orphans=plan.files.num_rows - known,
        holds=holds_text(choice.holds),
        num_held=plan.num_held,
        held_bytes=plan.held_bytes,
        ledger=choice.ledger,
        curve=_curve(choice.outlook) if choice.ledger else None,
        files=tuple(NeedlessFile(**file) for file in oldest.to_pylist()),
    )


def carry_out(
    opened: DeltaTable, choice: VacuumChoice, context: RunContext
) -> VacuumDone:
    """Delete what was planned."""
    done = carry_out_vacuum(
        opened.store,
        choice.plan,
        record_in_history=True,
        on_progress=context.job.progress_of("files"),
    )
    lost = done.lost_versions
    return VacuumDone(
        deletion=Deletion(
            num_files=done.files.num_rows,
            size_bytes=done.size_bytes,
            num_lost=len(lost),
            first_lost=lost[0] if lost else None,
            last_lost=lost[-1] if lost else None,
        ),
        cutoff=done.cutoff,
    )


def result_text(result: VacuumDone) -> str:
    """Say what was deleted."""
    gone = result.deletion
    lost = [
        version for version in (gone.first_lost, gone.last_lost) if version is not None
    ]
    return _says("Deleted", gone.num_files, gone.size_bytes, lost, gone.num_lost)


def _says(
    verb: str,
    num_files: int,
    size_bytes: int,
    lost: Sequence[int],
    num_lost: int | None = None,
) -> str:
    if not num_files:
        return "No file can be deleted."
    readable = "Every version that can be read now can be read afterwards."
    if lost:
        count = counted(len(lost) if num_lost is None else num_lost, "version")
        readable = f"{count} can no longer be read ({lost[0]} to {lost[-1]})."
    return f"{verb} {counted(num_files, 'file')} ({size_text(size_bytes)}). {readable}"


def _spares(plan: VacuumPlan, holds: Sequence[HeldVersions]) -> str:
    count = counted(plan.num_held, "file")
    return f"Spared {count} ({size_text(plan.held_bytes)}). {holds_text(holds)}"


def step_at(found: VacuumDetail, hours: float | None) -> VacuumStep | None:
    """Return what a retention deletes, by the curve of a preview; None without one.

    Args:
        found: The preview.
        hours: The retention; None for the least that the table allows.
    """
    asked = max(found.least_hours, hours or 0)
    steps = found.curve.steps if found.curve else ()
    return next((step for step in reversed(steps) if step.hours <= asked), None)


def agreed(found: StoredPreview[VacuumDetail], asked: Vacuum) -> Mapping[str, int]:
    """Return the counts that somebody agrees to who chooses a retention."""
    step = step_at(found.detail, asked.hours)
    if step is None:
        return found.counts
    gone = step.deletion
    return _counts(gone.num_files, gone.size_bytes, gone.num_lost)


def least_hours(outlook: VacuumOutlook) -> int:
    """Return the shortest retention in whole hours that the table allows."""
    return math.ceil(outlook.least_ms / MS_PER_HOUR)


def _counts(num_files: int, size_bytes: int, num_lost: int) -> dict[str, int]:
    return {"num_files": num_files, "size_bytes": size_bytes, "num_lost": num_lost}


# === What any retention takes ===


def _curve(outlook: VacuumOutlook) -> VacuumCurve:
    needless = pc.is_in(outlook.ages["kind"], value_set=pa.array(NEEDLESS))
    files = outlook.ages.filter(needless)
    now_ms = to_ms(outlook.now)
    least = least_hours(outlook)
    # A file of this many hours goes by this retention, and not by a longer one.
    ages_h = _hours(now_ms, np.asarray(files["since"], np.int64))
    oldest = int(ages_h.max(initial=0)) + 1
    axis_h = min(LONGEST_AXIS_H, max(SHORTEST_AXIS_H, 2 * least, oldest))
    axis_h = max(math.ceil(axis_h / 24) * 24, least)
    in_sight = np.clip(ages_h, -1, axis_h)
    sizes = np.asarray(files["size"], np.int64)
    num_files = _at_hours(in_sight, np.ones(len(in_sight), np.int64), axis_h)
    num_bytes = _at_hours(in_sight, sizes, axis_h)
    losses = outlook.losses
    may_go = (losses.since != ALWAYS) & (losses.since != NEVER)
    versions = losses.versions[may_go]
    lost_h = np.clip(_hours(now_ms, losses.since[may_go]), -1, axis_h)
    num_lost = _at_hours(lost_h, np.ones(len(lost_h), np.int64), axis_h)
    steps = []
    last: tuple[int, int, int] | None = None
    for hours in range(axis_h + 1):
        counts = (
            int(num_files[hours]),
            int(num_bytes[hours]),
            int(num_lost[hours]),
        )
        if counts == last:
            continue
        last = counts
        lost = versions[lost_h >= hours]
        deletion = Deletion(
            num_files=counts[0],
            size_bytes=counts[1],
            num_lost=counts[2],
            first_lost=int(lost[0]) if len(lost) else None,
            last_lost=int(lost[-1]) if len(lost) else None,
        )
        steps.append(VacuumStep(hours=hours, deletion=deletion))
    days = axis_h // 24
    bars = np.bincount(
        np.clip(in_sight, 0, axis_h - 1) // 24, weights=sizes, minlength=days
    )
    return VacuumCurve(
        axis_hours=axis_h,
        steps=tuple(steps),
        bars=tuple(int(size) for size in bars),
        versions=ReadableVersions(
            num_readable=int(np.count_nonzero(losses.since != NEVER)),
            num_gone=int(np.count_nonzero(losses.since == NEVER)),
            oldest_hours=int(lost_h.max()) if lost_h.max(initial=-1) >= 0 else None,
        ),
    )


def _hours(now_ms: int, since: Longs) -> Longs:
    """Return the longest retention in whole hours that takes what is that old."""
    found: Longs = -(-(now_ms - since) // MS_PER_HOUR) - 1
    return found


def _at_hours(ages_h: Longs, weights: Longs, axis_h: int) -> Longs:
    """Sum up what each retention from 0 hours on takes: all that is as old or older."""
    at = np.zeros(axis_h + 2, np.int64)
    np.add.at(at, np.clip(ages_h, -1, axis_h) + 1, weights)
    found: Longs = np.cumsum(at[::-1])[::-1][1:]
    return found


def storage_ledger(store: TableStore, outlook: VacuumOutlook) -> Iterator[StoredFiles]:
    """Yield files and bytes of each kind; those of the log come last."""
    ages = outlook.ages
    for kind in (LIVE, TOMBSTONED, CHANGES, HELD, ORPHAN, HIDDEN_KIND):
        files = ages.filter(pc.equal(ages["kind"], kind))
        if files.num_rows or kind not in {CHANGES, HELD, HIDDEN_KIND}:
            size_bytes = pc.sum(files["size"]).as_py() or 0
            yield StoredFiles(
                kind=kind, num_files=files.num_rows, size_bytes=size_bytes
            )
    log = store.list_from("")
    checkpoints = [status for status in log if ".checkpoint" in status.name]
    commits = [status for status in log if ".checkpoint" not in status.name]
    checkpoints += store.list_sidecars()
    for kind, listed in (("log", commits), ("checkpoints", checkpoints)):
        size_bytes = sum(file.size for file in listed)
        yield StoredFiles(kind=kind, num_files=len(listed), size_bytes=size_bytes)


VACUUM: Final = register(
    Operation(
        name="vacuum",
        words="Vacuum a table",
        title="Delete files that {table} no longer needs",
        doing="Deleting files",
        action="table.vacuum",
        parameters=Vacuum,
        plan=plan,
        preview=preview,
        detail=VacuumDetail,
        carry_out=carry_out,
        result=VacuumDone,
        agreed=agreed,
        question=lambda _asked, opened: f"Delete them from {opened.root}?",
        result_text=result_text,
        deletes_files=True,
        page="tables:table-vacuum",
    )
)
