"""A commit as every machine form names it, as the index or as the log has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from apps.pages.page_json import shaped
from apps.tables.models import Commit
from deltaweb.delta.features.in_commit_timestamps import OwnTimes
from deltaweb.delta.protocol.actions import CommitInfo

# === Whose times a history shows ===


OF_FILES: Final = "commit files"
OF_COMMITS: Final = "commits"
FILE_TIMES: Final = "Times are those of the commit files."
COMMIT_TIMES: Final = "Times are those that the commits carry (in-commit timestamps)."


def times_note(own: OwnTimes | None) -> str:
    """Return the sentence for a table.

    Args:
        own: Which of its commits carry their own times.
    """
    if own is None:
        return FILE_TIMES
    if not own.first_version:
        return COMMIT_TIMES
    return (
        "Times are those that the commits carry (in-commit timestamps) from version "
        f"{own.first_version:,} on, and those of the commit files before."
    )


def times_of(own: OwnTimes | None, version: int) -> str:
    """Return whose time that of a version is, as JSON has it."""
    return OF_FILES if own is None or version < own.first_version else OF_COMMITS


# === Commits ===


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitNames:
    """What any commit says of itself; None where it does not."""

    version: int
    timestamp: datetime
    operation: str | None
    user: str | None
    engine_info: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCommit(CommitNames):
    """A commit as its log tells it; `timestamp_of` says whose time that is."""

    timestamp_of: str
    parameters: Mapping[str, Any]
    metrics: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class VacuumCommit(CommitNames):
    """The commit of a VACUUM; its old names are others (`page_json`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitResource(CommitNames):
    """A commit with what it did, and the table after it; None if unknown.

    Attributes:
        sentence: The commit as a sentence.
        readability: Whether the version can still be read.
        archived: Whether its log file is gone, so that only the index has it.
    """

    sentence: str
    files_added: int
    files_removed: int
    bytes_added: int
    bytes_removed: int | None
    rows_added: int | None
    rows_removed: int | None
    num_files: int | None
    size_bytes: int | None
    num_records: int | None
    data_change: bool
    changes_schema: bool
    changes_metadata: bool
    changes_protocol: bool
    readability: str
    readability_reason: str
    archived: bool


def commit_resource(commit: Commit) -> CommitResource:
    """Return a commit of the index as machine forms name it."""
    return shaped(
        CommitResource,
        commit,
        timestamp=commit.committed_at,
        user=commit.user_name or None,
        files_added=commit.num_added_files,
        files_removed=commit.num_removed_files,
        bytes_added=commit.added_bytes,
        bytes_removed=commit.removed_bytes,
        rows_added=commit.added_rows,
        rows_removed=commit.removed_rows,
        archived=commit.is_archived,
    )


def logged_commit(commit: CommitInfo, own: OwnTimes | None) -> LoggedCommit:
    """Return a commit of a log as machine forms name it.

    Args:
        own: Which commits of its table carry their own times.
    """
    whose = times_of(own, commit.version)
    return shaped(LoggedCommit, commit, timestamp_of=whose)
