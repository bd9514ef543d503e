"""The events of new versions, found when an index is stored.

Each version is reported once: the table's stored version is the last one that was
reported, and it changes in the same transaction. The first index of a table reports no
version that is older than the registration. Of another log at the same place only the
newest version is reported.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from apps.notices.events import EventSubject, Happening
from apps.notices.kinds.table_schema import (
    MAX_CHANGES,
    SCHEMA_CHANGED,
    ChangedColumn,
    SchemaChange,
)
from apps.notices.kinds.table_version import NEW_VERSION, NewVersion
from apps.tables.index.history import IndexedHistory, rows_after
from apps.tables.index.rows import moment
from apps.tables.index.stored_history import is_same_log
from apps.tables.models import Table
from deltaweb.delta.changes.column_history import (
    ColumnChange,
    SchemaDefinition,
    column_histories,
)
from deltaweb.environment.bounded_json import parse_json

if TYPE_CHECKING:
    from apps.notices.events.kind import EventData, EventKind

ROWS_A_BATCH: Final = 1_000


class CommitRow(TypedDict):
    """The columns of a row of `commits.arrow` that events have."""

    version: int
    timestamp_ms: int
    operation: str
    added_rows: int | None
    removed_rows: int | None
    num_added_files: int
    num_removed_files: int
    changes_schema: bool


class Reported(NamedTuple):
    """The versions that are to be reported.

    Attributes:
        commits: Their rows, ascending.
        is_replaced: Whether the log is another one than before.
    """

    commits: pa.Table
    is_replaced: bool


class SchemaDifference(NamedTuple):
    """The change of the schema by a version.

    Attributes:
        changes: None if one of the schemas cannot be compared.
    """

    changes: list[ColumnChange] | None

    @property
    def is_breaking(self) -> bool:
        """Whether readers may fail; an unknown difference counts as breaking."""
        return self.changes is None or any(one.is_breaking for one in self.changes)


def version_events(table: Table, history: IndexedHistory) -> list[Happening]:
    """Return the events of an index that is about to be stored, in their order.

    Args:
        table: As it was before, with its row locked.
    """
    commits, is_replaced = _reported(table, history)
    subject = EventSubject("table", str(table.id), table.full_name)
    events = []
    for row in _rows(commits):
        difference = _difference(table, history, row) if row["changes_schema"] else None
        key = f"{table.id}:{row['version']}:{row['timestamp_ms']}"
        if is_replaced:
            key = f"{key}:after {table.version} {table.indexed_at}"
        version = _version(table, row, difference, is_replaced=is_replaced)
        found: list[tuple[EventKind, EventData]] = [(NEW_VERSION, version)]
        if difference is not None:
            found.append((SCHEMA_CHANGED, _schema(table, row, difference)))
        events += [
            Happening(kind=kind, subject=subject, data=data, table_id=table.id, key=key)
            for kind, data in found
        ]
    return events


def _reported(table: Table, history: IndexedHistory) -> Reported:
    commits = history.commits
    if table.version is None:
        registered_ms = table.created_at.timestamp() * 1000
        is_newer = pc.greater(commits["timestamp_ms"], int(registered_ms))
        return Reported(commits.filter(is_newer), is_replaced=False)
    if is_same_log(table, history):
        return Reported(rows_after(commits, table.version), is_replaced=False)
    return Reported(commits.slice(max(commits.num_rows - 1, 0)), is_replaced=True)


def _rows(commits: pa.Table) -> Iterator[CommitRow]:
    wanted = commits.select([*CommitRow.__annotations__])
    for batch in wanted.to_batches(max_chunksize=ROWS_A_BATCH):
        yield from batch.to_pylist()


def _version(
    table: Table,
    row: CommitRow,
    difference: SchemaDifference | None,
    *,
    is_replaced: bool,
) -> NewVersion:
    return NewVersion(
        table=table.full_name,
        version=row["version"],
        operation=row["operation"],
        committed_at=moment(row["timestamp_ms"]).isoformat(),
        rows_added=row["added_rows"],
        rows_removed=row["removed_rows"],
        files_added=row["num_added_files"],
        files_removed=row["num_removed_files"],
        schema_changed=difference is not None,
        breaking=difference is not None and difference.is_breaking,
        log_replaced=is_replaced,
    )


def _schema(table: Table, row: CommitRow, difference: SchemaDifference) -> SchemaChange:
    changes = difference.changes
    return SchemaChange(
        table=table.full_name,
        version=row["version"],
        breaking=difference.is_breaking,
        num_changes=None if changes is None else len(changes),
        changes=tuple(
            ChangedColumn(
                column=".".join(one.path),
                change=one.kind.value,
                before=one.before,
                after=one.after,
                breaking=one.is_breaking,
            )
            for one in (changes or ())[:MAX_CHANGES]
        ),
    )


# === Schemas ===


def _difference(
    table: Table, history: IndexedHistory, row: CommitRow
) -> SchemaDifference | None:
    """Return what a version did to the schema; None for the first schema."""
    version = row["version"]
    after = _defined(history.metadata, version)
    before = _defined(history.metadata, version - 1) or _stored(table, version - 1)
    if after is None or before is None:
        return None
    found = column_histories([before, after])
    if found.num_unknown or found.is_cut:
        return SchemaDifference(None)
    changes = [
        change
        for one in found.fields
        for change in one.events
        if change.version == version and change.is_own
    ]
    return SchemaDifference(changes)


def _defined(metadata: pa.Table, version: int) -> SchemaDefinition | None:
    """Return the schema that an index has of a version, if it has one."""
    older = metadata.filter(pc.less_equal(metadata["version"], version))
    if not older.num_rows:
        return None
    row = older.slice(older.num_rows - 1).to_pylist()[0]
    configuration = parse_json(row["configuration"])
    return SchemaDefinition.of(row["version"], row["schema_string"], configuration)


def _stored(table: Table, version: int) -> SchemaDefinition | None:
    """Return the schema that the database has of a version, if it has one."""
    rows = table.metadata_versions.filter(version__lte=version)
    row = rows.order_by("-version").first()
    if row is None:
        return None
    text = row.schema_string
    if row.wide_schema_digest:
        wide = table.wide_schemas.filter(digest=row.wide_schema_digest).first()
        text = wide.schema_string if wide else ""
    return SchemaDefinition.of(row.version, text, row.configuration)
