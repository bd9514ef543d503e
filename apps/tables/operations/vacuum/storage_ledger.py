"""What a table's folder holds, by what it is.

Nobody lists a folder for a page: the newest look of a vacuum did, and says when. Before
the first, a page knows what the index tells, which is the live files alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from apps.jobs.models import Job
from apps.pages.page_json import As, OnPage
from apps.tables.head.job_json import described
from apps.tables.models import Table
from apps.tables.operations.preview_jobs import is_preview
from apps.tables.operations.stored import StoredPreview
from apps.tables.operations.vacuum.operation import (
    VACUUM,
    StoredFiles,
    VacuumDetail,
    VacuumStep,
    step_at,
)

NUM_JOBS: Final = 50  # of vacuums, of which the newest with a ledger is taken
WORDS: Final = {
    "live": ("Live", "l-live", "of the newest version"),
    "tombstoned": (
        "Removed",
        "l-tomb",
        "from the table; older versions still need them",
    ),
    "changes": ("Change files", "l-chg", "of the change data feed"),
    "held": ("Held", "l-cp", "removed, and kept readable for a recipient"),
    "orphan": ("Orphans", "l-orph", "in no version"),
    "hidden": ("Hidden", "l-hid", "names that begin with _ or .; no vacuum takes them"),
    "log": ("Log", "l-log", "commits"),
    "checkpoints": ("Checkpoints", "l-cp", "in the log's folder"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the folder, and its place in the one bar of the ledger."""

    kind: str
    label: OnPage[str]
    css: OnPage[str]
    about: OnPage[str]
    num_files: int
    size_bytes: int
    x: OnPage[float]
    width: OnPage[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageLedger:
    """What is stored of a table.

    Attributes:
        parts: The files by kind. Before the folder is listed, only the live files.
        num_files: The number of files of all parts.
        size_bytes: The bytes of all parts.
        version: The newest version when the folder was listed.
        num_tombstones: The number of removed files in the log; only before the folder
            is listed.
        listed_at: The time when the folder was listed; null if it was not.
        commits_since: The number of versions since then.
        vacuum_since: The vacuum that has deleted files since then.
        could_go: What a vacuum with the table's retention would have deleted then.
        running: The job that lists the folder, while it runs or if it failed.
    """

    parts: Sequence[Part]
    num_files: int | None
    size_bytes: int | None
    version: int | None
    num_tombstones: int | None = None
    listed_at: datetime | None = None
    commits_since: int = 0
    vacuum_since: Annotated[Job | None, As(described)] = None
    could_go: VacuumStep | None = None
    look: OnPage[Job | None] = None
    running: Annotated[Job | None, As(described)] = None

    @property
    def live_percent(self) -> float | None:
        live = next((one for one in self.parts if one.kind == "live"), None)
        if self.listed_at is None or live is None or not self.size_bytes:
            return None
        return 100 * live.size_bytes / self.size_bytes


def ledger_parts(entries: Sequence[StoredFiles]) -> list[Part]:
    """Return the parts of a ledger, side by side."""
    total = sum(entry.size_bytes for entry in entries) or 1
    parts, x = [], 0.0
    for entry in entries:
        label, css, about = WORDS[entry.kind]
        width = 100 * entry.size_bytes / total
        parts.append(
            Part(
                kind=entry.kind,
                label=label,
                css=css,
                about=about,
                num_files=entry.num_files,
                size_bytes=entry.size_bytes,
                x=round(x, 3),
                width=round(width, 3),
            )
        )
        x += width
    return parts


def ledger_of(table: Table) -> StorageLedger:
    """Return what is known to be stored of a table, by one query."""
    jobs = Job.objects.filter(subject_id=table.id, kind=VACUUM.kind)
    recent = jobs.defer("log", "error_detail").order_by("-created_at", "-id")[:NUM_JOBS]
    since: list[Job] = []
    for job in recent:
        found = VACUUM.preview_of(job)
        if found and found.detail.ledger:
            return _listed(table, job, found, since)
        since.append(job)
    return _unlisted(table, since)


def _listed(
    table: Table, look: Job, found: StoredPreview[VacuumDetail], since: Sequence[Job]
) -> StorageLedger:
    parts = ledger_parts(found.detail.ledger)
    version, step = found.version, step_at(found.detail, None)
    newest = table.version
    return StorageLedger(
        parts=parts,
        num_files=sum(part.num_files for part in parts),
        size_bytes=sum(part.size_bytes for part in parts),
        version=version,
        listed_at=found.at,
        commits_since=max((newest or 0) - (version or 0), 0),
        vacuum_since=next((job for job in since if VACUUM.result_of(job)), None),
        could_go=step if step and step.deletion.num_files else None,
        look=look,
        running=_running(since),
    )


def _unlisted(table: Table, since: Sequence[Job]) -> StorageLedger:
    parts: list[Part] = []
    if table.num_files is not None and table.size_bytes is not None:
        live = StoredFiles(
            kind="live", num_files=table.num_files, size_bytes=table.size_bytes
        )
        parts = ledger_parts([live])
    return StorageLedger(
        parts=parts,
        num_files=table.num_files,
        size_bytes=table.size_bytes,
        version=table.version,
        num_tombstones=table.num_tombstones,
        running=_running(since),
    )


def _running(since: Sequence[Job]) -> Job | None:
    """Return the newest look that is under way, or came to nothing."""
    look = next((job for job in since if is_preview(job)), None)
    return None if look is None or look.state == Job.State.DONE else look
