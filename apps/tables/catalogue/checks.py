"""What is at a location: a short look before a table is registered."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.tables.models.rights import MANAGE
from apps.tables.storage.connections import options_for
from apps.tables.storage.locations import (
    check_allowed,
    check_present,
    is_remote,
    parse_location,
)
from apps.tables.storage.roots import hidden_places, roots_for
from apps.tables.storage.trying import reach
from deltaweb.delta.errors import (
    DeltaError,
    LocationNotFoundError,
    TableNotFoundError,
)
from deltaweb.delta.protocol.schema import type_text
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable

MAX_COLUMNS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class CheckedColumn:
    """A column of a table at a location."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LocationCheck:
    """What was found at a location.

    Attributes:
        version: The newest version; `timestamp` is its time as ISO 8601 text.
        num_files, size_bytes: Of the live files; None where the table is refused.
        columns: Name and type of the first columns; `num_columns` counts all.
        warning: Why only metadata and history will be shown, or "".
        code: Stable code of that warning, or "".
    """

    location: str
    version: int
    timestamp: str
    min_reader_version: int
    min_writer_version: int
    reader_features: list[str] = field(default_factory=list)
    writer_features: list[str] = field(default_factory=list)
    table_name: str = ""
    description: str = ""
    partition_columns: list[str] = field(default_factory=list)
    columns: list[CheckedColumn] = field(default_factory=list)
    num_columns: int = 0
    num_files: int | None = None
    size_bytes: int | None = None
    warning: str = ""
    code: str = ""


def check_location(
    location: str,
    options: Mapping[str, Any] | None = None,
    *,
    on_step: Callable[[str], None] = lambda _: None,
    asked_by: User | None = None,
) -> LocationCheck:
    """Look at the newest version of the table at a location.

    A table whose newest version asks for more than we read passes with a warning.

    Args:
        location: From `locations.parse_location`.
        options: Of its storage; None looks them up.
        on_step: Told the name of each step before it begins.
        asked_by: The user who may register a table there; None for the command line.
    """
    on_step("Finding the location")
    is_hidden = hidden_places(asked_by, MANAGE).hides(location)
    if is_hidden and not is_remote(location):
        raise LocationNotFoundError(location=location)
    check_present(location)
    known = options_for(location) if options is None else options
    if is_remote(location):
        reach(location, known)
    on_step("Finding the log")
    if is_hidden:
        raise TableNotFoundError(root=location)
    table = DeltaTable(location, known)
    table.latest_version()
    on_step("Reading the newest version")
    snapshot = table.snapshot_metadata()
    on_step("Reading the schema")
    refusal = snapshot.refusal
    columns, num_columns, schema_warning = _columns(snapshot)
    on_step("Counting the files")
    problem = refusal or schema_warning
    return LocationCheck(
        location=location,
        version=snapshot.version,
        timestamp=snapshot.timestamp.isoformat().replace("+00:00", "Z"),
        min_reader_version=snapshot.protocol.min_reader_version,
        min_writer_version=snapshot.protocol.min_writer_version,
        reader_features=sorted(snapshot.protocol.reader_features or ()),
        writer_features=sorted(snapshot.protocol.writer_features or ()),
        table_name=snapshot.metadata.name or "",
        description=snapshot.metadata.description or "",
        partition_columns=list(snapshot.metadata.partition_columns),
        columns=columns,
        num_columns=num_columns,
        num_files=None if refusal else snapshot.num_files,
        size_bytes=None if refusal else snapshot.size_bytes,
        warning=problem.message if problem else "",
        code=problem.code if problem else "",
    )


def _columns(
    snapshot: Snapshot,
) -> tuple[list[CheckedColumn], int, DeltaError | None]:
    """Return the first columns; a schema that does not parse is only a warning."""
    try:
        fields = snapshot.schema.fields
    except DeltaError as error:
        return [], 0, error
    shown = [
        CheckedColumn(column.name, type_text(column.data_type))
        for column in fields[:MAX_COLUMNS_SHOWN]
    ]
    return shown, len(fields), None


# === As a job ===


@dataclass(frozen=True, slots=True)
class CheckLocation:
    """Where the job looks."""

    location: str


def request_check(*, location: str, now: datetime, requested_by: User) -> Job:
    """Queue a look at a location before it is registered."""
    where = parse_location(location)
    check_allowed(where, roots=roots_for(requested_by))
    return enqueue(
        kind=CHECK_LOCATION.name,
        title=f"Check {where}",
        parameters=to_json(CheckLocation(where)),
        key=hashed_key("check", str(requested_by.pk), where),
        requested_by=requested_by,
        now=now,
    )


def run_check(job: TrackedJob, asked: CheckLocation) -> LocationCheck:
    """Say what is at a location."""
    user = Job.objects.get(id=job.id).requested_by
    return check_location(asked.location, on_step=job.step, asked_by=user)


CHECK_LOCATION: Final = kinds.register(
    JobKind(
        name="tables.check_location",
        words="Check a location",
        parameters=CheckLocation,
        result=LocationCheck,
        run=run_check,
        is_reserved=True,
        is_own=True,
        is_look=True,
    )
)
