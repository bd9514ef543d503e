"""What a worker does to a table's log: it writes a checkpoint, or lets history go.

Both read the log itself, not the index: what they write has to be right.
"""

from datetime import datetime
from typing import Any, Final

from apps.jobs.tracking import TrackedJob
from apps.tables.errors import CleanupOutdatedError
from apps.tables.models import Table
from apps.tables.opening import open_table, roots_of_server
from deltaweb.delta.checkpoint_writer.builder import (
    CheckpointRequest,
    WrittenCheckpoint,
)
from deltaweb.delta.log_cleanup import LogCleanup
from deltaweb.delta.log_path import parse_commit_name
from deltaweb.delta.log_segment import load_log_segment
from deltaweb.delta.log_store import LogStore

MAX_FILES_NAMED: Final = 200  # of a checkpoint, or of a clean-up, oldest first


# === Checkpoints ===


def checkpoint_request(job: TrackedJob, *, now: datetime) -> CheckpointRequest:
    """Return what a job wants of a checkpoint; a cancelled job stops it.

    Args:
        job: Its parameters hold `version` and `parts`, None for a single file.
        now: The time by which tombstones expire.
    """

    def is_cancelled() -> bool:
        job.check_cancelled()
        return False

    return CheckpointRequest(
        now=now,
        version=job.parameters["version"],
        parts=job.parameters["parts"],
        on_progress=lambda done, total: job.progress(
            done, total=total, unit="file actions"
        ),
        is_cancelled=is_cancelled,
    )


def segment_bytes(store: LogStore, version: int | None) -> int:
    """Return the bytes of the log that builds a version, the newest one for None.

    Raises:
        DeltaError: If there is no such log.
    """
    segment = load_log_segment(store, version)
    checkpoint = () if segment.checkpoint is None else segment.checkpoint.names
    names = {*checkpoint, *segment.commit_names}
    listed = store.list_from(min(names))
    return sum(status.size for status in listed if status.name in names)


def count_written(job: TrackedJob, written: WrittenCheckpoint) -> None:
    """Let the job's page tell what was written."""
    job.count("files", written.num_files)
    job.count("tombstones", written.num_tombstones)
    job.count("bytes", written.size_bytes)
    job.count("parts", len(written.names))
    for name in written.names[:MAX_FILES_NAMED]:
        job.log(f"Wrote {name}")


def checkpoint_json(written: WrittenCheckpoint, *, engine: str) -> dict[str, Any]:
    """Return a checkpoint that was written as a job's result."""
    return {
        "version": written.version,
        "files": list(written.names),
        "num_actions": written.num_actions,
        "num_files": written.num_files,
        "num_tombstones": written.num_tombstones,
        "size_bytes": written.size_bytes,
        "is_last": written.is_last,
        "engine": engine,
    }


# === Clean-ups ===


def clean_up(table: Table, job: TrackedJob, *, now: datetime) -> dict[str, Any]:
    """List the history of a log that has expired, or delete what was listed.

    A run that takes up what a killed one has begun finds less, and finishes it.

    Args:
        table: The table.
        job: Its parameter `seen` holds `checkpoint_version` and `num_files` of the
            list that somebody agreed to; None only lists.
        now: The time to count back from.

    Raises:
        CleanupOutdatedError: If more would go than was agreed to.
        DeltaError: As `deltaweb.delta.log_cleanup.clean_up_log` lists them.
    """
    seen = job.parameters["seen"]

    def check(found: LogCleanup) -> None:
        if seen is None:
            return
        is_other_cut = found.checkpoint_version != seen["checkpoint_version"]
        if is_other_cut or len(found.files) > seen["num_files"]:
            raise CleanupOutdatedError(name=table.full_name)
        job.step("Deleting history that has expired")

    opened = open_table(table, roots=roots_of_server())
    found = opened.clean_up_log(
        now=now,
        is_dry_run=seen is None,
        on_found=check,
        on_progress=lambda done, total: job.progress(done, total=total, unit="files"),
    )
    job.count("expired_files", len(found.files))
    job.count("expired_bytes", found.size_bytes)
    return cleanup_json(found)


def cleanup_json(found: LogCleanup) -> dict[str, Any]:
    """Return what a clean-up takes, or took, as a job's result: a bounded list."""
    versions = [parse_commit_name(file.name) for file in found.files]
    commits = [version for version in versions if version is not None]
    return {
        "is_done": found.is_done,
        "cutoff": found.cutoff.isoformat(),
        "checkpoint_version": found.checkpoint_version,
        "num_files": len(found.files),
        "num_commits": len(commits),
        "size_bytes": found.size_bytes,
        "first_version": min(commits, default=None),
        "last_version": max(commits, default=None),
        "files": [
            {"name": file.name, "size": file.size}
            for file in found.files[:MAX_FILES_NAMED]
        ],
    }
