"""What a checkpoint would hold, and what a clean-up of a log goes by.

All of it is the database's and the index's; storage is asked by `log_look` alone.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.contrib.auth.models import AnonymousUser

from deltaweb.delta.errors import DeltaError, SchemaMissingError
from deltaweb.delta.features.registry import log_writing_refusal
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.protocol.table_properties import (
    DEFAULT_LOG_RETENTION,
    LOG_RETENTION,
    deleted_file_retention_ms,
    writes_stats_as_json,
    writes_stats_as_struct,
)
from deltaweb.delta.writing.log_cleanup import cleanup_refusal, retention_cutoff
from deltaweb.index.folder.file_index import FILES
from deltaweb.index.folder.parts import size_bytes
from deltaweb.web.accounts.models import User
from deltaweb.web.tables.head.table_head import (
    TableHead,
    get_table,
    requested_version,
    table_head,
)
from deltaweb.web.tables.index.folders import index_folder
from deltaweb.web.tables.maintenance.log_look import LogLook, look_at_log
from deltaweb.web.tables.models import Commit, Table

SMALLEST_BYTES: Final = 12 << 10  # of a checkpoint: its schema and footer
INDEX_BYTES_A_BYTE: Final = 10  # an index of files takes about so many times as much
FILE_BYTES: Final = 100  # of a live file, where nothing better is known
TOMBSTONE_BYTES: Final = 40
TELLING_FILES: Final = 1000  # from so many on, a checkpoint's size tells of the next


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why nothing is written: a sentence, what can be done, and a stable code."""

    code: str
    message: str
    hint: str

    def describe(self) -> dict[str, str]:
        """Return it as `.json` shows it."""
        return {"error": self.code, "message": self.message, "hint": self.hint}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointPlan:
    """A checkpoint that could be asked for.

    Attributes:
        head: The head of the page, at the version.
        version: The version; None before the first index.
        look: What storage says of older checkpoints; None before the first index.
        num_files: Its live files; None where they are not known.
        num_tombstones: Tombstones at most, for those that have expired are left out;
            None where they are not known.
        size_bytes: About how large it will be; None where that cannot be said.
        has_json_stats, has_struct_stats: How it holds statistics.
        refusal: Why it is not written; None where it may be.
    """

    head: TableHead
    version: int | None
    look: LogLook | None = None
    num_files: int | None = None
    num_tombstones: int | None = None
    size_bytes: int | None = None
    has_json_stats: bool = True
    has_struct_stats: bool = False
    refusal: Refusal | None = None

    @property
    def commits_since(self) -> int | None:
        """Commits since the newest checkpoint that there is."""
        if self.look is None or self.version is None or self.look.problem:
            return None
        found = self.look.checkpoint
        return self.version + 1 if found is None else self.version - found.version

    @property
    def is_there(self) -> bool:
        """Whether the version has a checkpoint already."""
        return self.commits_since == 0

    def describe(self) -> dict[str, Any]:
        """Return it as `.json` shows it."""
        found = self.look.checkpoint if self.look else None
        return {
            "version": self.version,
            "commits_since_checkpoint": self.commits_since,
            "newest_checkpoint": found.describe() if found else None,
            "storage_problem": (self.look.problem or None) if self.look else None,
            "num_files": self.num_files,
            "num_tombstones_at_most": self.num_tombstones,
            "about_bytes": self.size_bytes,
            "stats_as_json": self.has_json_stats,
            "stats_as_struct": self.has_struct_stats,
            "folder": f"{self.head.table.location}/_delta_log",
            "refusal": self.refusal.describe() if self.refusal else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupPlan:
    """By what a clean-up of a log would go.

    Attributes:
        head: The head of the page.
        retention: `delta.logRetentionDuration`, or what holds without it.
        is_default: Whether the table says nothing of it.
        cutoff: History before it has expired; None where that cannot be said.
        refusal: Why nothing is deleted; None where it may be.
    """

    head: TableHead
    retention: str
    is_default: bool
    cutoff: datetime | None
    refusal: Refusal | None

    @property
    def retention_words(self) -> str:
        """The retention as a person says it: `30 days`."""
        return self.retention.removeprefix("interval ")

    def describe(self) -> dict[str, Any]:
        """Return it as `.json` shows it."""
        return {
            "retention": self.retention,
            "cutoff": self.cutoff,
            "refusal": self.refusal.describe() if self.refusal else None,
        }


def checkpoint_plan(
    user: User | AnonymousUser, namespace: str, name: str, version: str
) -> CheckpointPlan:
    """Return what a checkpoint of a version would hold.

    Args:
        user: Who asks.
        namespace: Of the table.
        name: Of the table.
        version: As the address has it; "" is the newest indexed one.

    Raises:
        PageError: 404, if the user may not know the table or it has no such version.
    """
    table = get_table(user, namespace, name)
    shown = requested_version(table, version)
    head = table_head(table, shown)
    if shown is None:
        return CheckpointPlan(head=head, version=None)
    look = look_at_log(table, shown)
    found = _facts(table, shown)
    num_files, num_tombstones = _counts(head, shown)
    return CheckpointPlan(
        head=head,
        version=shown,
        look=look,
        num_files=num_files,
        num_tombstones=num_tombstones,
        size_bytes=_about_bytes(head, look, num_files, num_tombstones),
        has_json_stats=found.has_json_stats,
        has_struct_stats=found.has_struct_stats,
        refusal=found.refusal or _gone(head, shown),
    )


def cleanup_plan(
    user: User | AnonymousUser, namespace: str, name: str, *, now: datetime
) -> CleanupPlan:
    """Return by what a clean-up of a table's log would go.

    Raises:
        PageError: 404, if the user may not know the table.
    """
    table = get_table(user, namespace, name)
    head = table_head(table)
    refusal, cutoff, configuration = None, None, {}
    if head.version is not None:
        protocol, metadata = _stored(table, head.version)
        configuration = dict(metadata.configuration)
        try:
            cutoff = retention_cutoff(configuration, now=now)
        except DeltaError as error:
            refusal = _refusal(error)
        found = cleanup_refusal(
            protocol, metadata, root=table.location, version=head.version
        )
        refusal = refusal or _refusal(found)
    return CleanupPlan(
        head=head,
        retention=configuration.get(LOG_RETENTION, DEFAULT_LOG_RETENTION),
        is_default=LOG_RETENTION not in configuration,
        cutoff=cutoff,
        refusal=refusal,
    )


# === The version ===


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    has_json_stats: bool = True
    has_struct_stats: bool = False
    refusal: Refusal | None = None


def _facts(table: Table, version: int) -> _Facts:
    """Say how statistics are written, and whether anything is."""
    protocol, metadata = _stored(table, version)
    stored = table.metadata_versions.filter(version__lte=version).first()
    refusal = log_writing_refusal(
        protocol,
        metadata,
        root=table.location,
        version=version,
        operation="no checkpoint",
    )
    if refusal is None and not (stored and stored.has_schema):
        refusal = SchemaMissingError(root=table.location, version=version)
    configuration = metadata.configuration
    try:
        deleted_file_retention_ms(configuration)
        return _Facts(
            has_json_stats=writes_stats_as_json(configuration),
            has_struct_stats=writes_stats_as_struct(configuration),
            refusal=_refusal(refusal),
        )
    except DeltaError as error:
        return _Facts(refusal=_refusal(refusal or error))


def _refusal(error: DeltaError | None) -> Refusal | None:
    if error is None:
        return None
    return Refusal(code=error.code, message=error.message, hint=error.hint)


def _gone(head: TableHead, version: int) -> Refusal | None:
    """Say that the log no longer builds a version, where it does not."""
    run = head.timeline.shown_run if head.timeline else None
    if run is None or run.state != Commit.Readability.GONE:
        return None
    return Refusal(
        code="version-not-found",
        message=f"The log no longer reaches version {version}. {run.reason}".strip(),
        hint="Choose a version that can still be read.",
    )


def _stored(table: Table, version: int) -> tuple[Protocol, Metadata]:
    """Return the protocol and the metaData of a version as they are stored."""
    protocol = table.protocol_versions.filter(version__lte=version).first()
    metadata = table.metadata_versions.filter(version__lte=version).first()
    return (
        protocol.as_action()
        if protocol
        else Protocol(min_reader_version=1, min_writer_version=2),
        metadata.as_action() if metadata else Metadata(id=None),
    )


# === How much it is ===


def _counts(head: TableHead, version: int) -> tuple[int | None, int | None]:
    """Return the live files and the tombstones of a version, as far as known."""
    table = head.table
    if version == table.version:
        return table.num_files, table.num_tombstones
    return (head.commit.num_files if head.commit else None), None


def _about_bytes(
    head: TableHead, look: LogLook, num_files: int | None, num_tombstones: int | None
) -> int | None:
    """Estimate the bytes of a checkpoint: by an older one, or by the index."""
    if num_files is None:
        return None
    table, older = head.table, look.checkpoint
    if older is not None and older.size_bytes is not None:
        commit = table.commits.filter(version=older.version).only("num_files").first()
        older_files = commit.num_files if commit else None
        if older_files is not None and older_files >= TELLING_FILES:
            return older.size_bytes * num_files // older_files
    index_bytes = _index_bytes(table) if head.is_latest else None
    if index_bytes is None:
        files_bytes = num_files * FILE_BYTES
    else:
        files_bytes = index_bytes // INDEX_BYTES_A_BYTE
    return SMALLEST_BYTES + files_bytes + (num_tombstones or 0) * TOMBSTONE_BYTES


def _index_bytes(table: Table) -> int | None:
    folder = index_folder(table)
    try:
        return None if folder is None else size_bytes(folder, FILES)
    except OSError:
        return None
