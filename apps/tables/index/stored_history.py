"""The history of a table in the database: brought up to an index, and kept for good.

Commits never change, so those that are stored stay and newer ones are added. What a
log has lost by its cleaning stays too, marked as archived. Where the log is another
one (a table recreated at the same place, a backup put back) its rows replace those
that they contradict.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

import pyarrow as pa
from django.db import models, transaction

from apps.tables.index.folders import is_of_this_format
from apps.tables.index.history import IndexedHistory, rows_after
from apps.tables.index.rows import (
    COMMIT_FIELDS,
    columns_of,
    commit_values,
    metadata_of,
    moment,
    protocol_of,
    wide_schema_of,
)
from apps.tables.models import (
    ColumnWords,
    Commit,
    MetadataVersion,
    ProtocolVersion,
    Table,
    TableColumn,
    WideSchema,
)
from apps.tables.models.row_loading import insert_rows
from apps.tables.models.words import words_of
from apps.tables.versions import missing_files
from apps.tables.versions.states import update_archived, update_readability
from deltaweb.index.history.missing_files import missing_runs
from deltaweb.index.history.readability import fault_reason

ROWS_A_TRANSACTION: Final = 10_000  # some 0.2 s in which no one else writes to SQLite
INSERT_BATCH: Final = 500
MAX_ID_LENGTH: Final = 200

M = TypeVar("M", MetadataVersion, ProtocolVersion)


def load_ahead(table: Table, history: IndexedHistory) -> None:
    """Insert most commits of a table that no page shows yet, in short transactions.

    Others write in between. What a killed worker leaves is continued, or replaced.
    """
    while True:
        if not Table.objects.filter(id=table.id, version=None).exists():
            return
        known = _known_version(table, history)
        if history.count_after(known) <= ROWS_A_TRANSACTION:
            return
        rows = list(_commit_rows(table, history, known, ROWS_A_TRANSACTION))
        with transaction.atomic():
            unseen = Table.objects.select_for_update().filter(id=table.id, version=None)
            if unseen.first() is None or _known_version(table, history) != known:
                return
            table.commits.filter(version__gt=known).delete()
            insert_rows(Commit, COMMIT_FIELDS, rows)


def store_history(
    table: Table, history: IndexedHistory, *, now: datetime
) -> list[list[Any]]:
    """Bring a table's history up to an index; to be called in a transaction.

    Returns:
        The runs of its versions with what is known of their files.
    """
    known = _known_version(table, history)
    defined = -1 if table.version is None else known
    _forget_after(known, table.commits.all())
    is_redefined = _forget_after(defined, table.metadata_versions.all())
    _forget_after(defined, table.protocol_versions.all())
    insert_rows(Commit, COMMIT_FIELDS, _commit_rows(table, history, known))
    _replace_faulty(table, history, known)
    newer = rows_after(history.metadata, defined)
    metadata = _new_definitions(
        [metadata_of(table, row) for row in _each(newer)],
        table.metadata_versions.first(),
    )
    MetadataVersion.objects.bulk_create(metadata, batch_size=INSERT_BATCH)
    _store_wide_schemas(table, newer, metadata)
    protocols = _new_definitions(
        [
            protocol_of(table, row)
            for row in _each(rows_after(history.protocols, defined))
        ],
        table.protocol_versions.first(),
    )
    ProtocolVersion.objects.bulk_create(protocols, batch_size=INSERT_BATCH)
    missing_files.store_of_log(
        table, missing_runs(history.commits), known=known, now=now
    )
    runs = missing_files.known_runs(
        table, history.result.summary.get("readable_runs", [])
    )
    update_readability(table, runs)
    update_archived(table, history.first_kept)
    if is_redefined or metadata:
        _store_columns(table)
    return runs


# === What stays ===


def _known_version(table: Table, history: IndexedHistory) -> int:
    """The version up to which stored rows stay; -1 where none does."""
    newest = table.commits.order_by("-version").first()
    if newest is None:
        return -1
    if table.version is None:  # begun by a worker that was killed
        return newest.version if _agree(newest, history) else -1
    if _is_continued(table, newest, history):
        return newest.version
    return history.first_kept - 1 if _is_joined(table, history) else -1


def _is_continued(table: Table, newest: Commit, history: IndexedHistory) -> bool:
    """Whether the log continues the newest stored commit."""
    result = history.result
    if result.is_rewritten or not is_of_this_format(table.index_name):
        return False
    if result.version is None or newest.version > result.version:
        return False
    if not _has_id(history, newest.version, table.delta_id):
        return False
    is_cleaned_away = history.commit(newest.version) is None
    return is_cleaned_away or _agree(newest, history)


def is_same_log(table: Table, history: IndexedHistory) -> bool:
    """Whether a log has the newest stored version, and maybe more.

    A copy of a log is the same log, though its files have other times.
    """
    newest, result = table.version, history.result
    if newest is None or result.version is None or newest > result.version:
        return False
    if not _has_id(history, newest, table.delta_id):
        return False
    stored = table.commits.filter(version=newest).first()
    if stored is None or history.commit(newest) is None:
        return True
    return _agree(stored, history, with_time=False)


def _is_joined(table: Table, history: IndexedHistory) -> bool:
    """Whether stored rows older than the log are the past of this very log."""
    first = history.first_kept
    before = table.metadata_versions.filter(version__lte=first).first()
    if before is None or not _has_id(history, first, before.metadata_id):
        return False
    stored = table.commits.filter(version=first).first()
    return stored is None or _agree(stored, history, with_time=False)


def _has_id(history: IndexedHistory, version: int, delta_id: str) -> bool:
    return history.metadata_id(version)[:MAX_ID_LENGTH] == delta_id


def _agree(stored: Commit, history: IndexedHistory, *, with_time: bool = True) -> bool:
    """Whether the index says the same of a commit.

    Files of a log that was copied have other times; the commits are the same.
    """
    row = history.commit(stored.version)
    return (
        row is not None
        and stored.operation == row["operation"]
        and stored.num_added_files == row["num_added_files"]
        and stored.added_bytes == row["added_bytes"]
        and stored.metrics == json.loads(row["metrics"])
        and stored.parameters == json.loads(row["parameters"])
        and (not with_time or stored.committed_at == moment(row["timestamp_ms"]))
    )


def _forget_after(version: int, rows: "models.QuerySet[Any]") -> bool:
    """Delete what is newer than a version; return whether anything was."""
    count, _ = rows.filter(version__gt=version).delete()
    return count > 0


# === What is new ===


def _commit_rows(
    table: Table, history: IndexedHistory, known: int, limit: int | None = None
) -> Iterable[tuple[Any, ...]]:
    for batch in history.commits_after(known, limit):
        yield from commit_values(table, batch, first_kept=history.first_kept)


def _replace_faulty(table: Table, history: IndexedHistory, known: int) -> None:
    """Store the commits again that did not read before."""
    for version in _faulty_versions(table):
        row = history.commit(version)
        if row is None or version > known:
            continue
        table.commits.filter(version=version).delete()
        batches = pa.Table.from_pylist([row], history.commits.schema).to_batches()
        for batch in batches:
            rows = commit_values(table, batch, first_kept=history.first_kept)
            insert_rows(Commit, COMMIT_FIELDS, rows)


def _faulty_versions(table: Table) -> list[int]:
    """The stored commits that do not read: versions behind them are gone for it."""
    return [
        first
        for first, _, _, reason in table.summary.get("readable_runs", [])
        if reason and reason == fault_reason(first)
    ]


def _each(definitions: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield definitions one at a time: the schema of each may be long."""
    for place in range(definitions.num_rows):
        yield from definitions.slice(place, 1).to_pylist()


def _store_wide_schemas(
    table: Table, definitions: pa.Table, stored: Sequence[MetadataVersion]
) -> None:
    """Store the schemas that rows of metadata name by their digest, each once."""
    wanted = {row.version for row in stored if row.wide_schema_digest}
    for row in _each(definitions) if wanted else ():
        wide = wide_schema_of(table, row) if row["version"] in wanted else None
        if wide is not None:
            WideSchema.objects.bulk_create([wide], ignore_conflicts=True)


def _new_definitions(rows: Sequence[M], stored: M | None) -> Sequence[M]:
    """Leave out the first of new rows where it says again what holds already.

    A log that was cleaned does so at its start.
    """
    if rows and stored is not None and _facts(stored) == _facts(rows[0]):
        return rows[1:]
    return rows


def _facts(row: MetadataVersion | ProtocolVersion) -> dict[str, Any]:
    said = {"_state", "id", "version"}
    return {name: value for name, value in vars(row).items() if name not in said}


def _store_columns(table: Table) -> None:
    newest = table.metadata_versions.first()
    text = newest.schema_string if newest else ""
    if newest and newest.wide_schema_digest:
        wide = table.wide_schemas.filter(digest=newest.wide_schema_digest).first()
        text = wide.schema_string if wide else ""
    table.columns.all().delete()
    columns = columns_of(table, text)
    TableColumn.objects.bulk_create(columns, batch_size=INSERT_BATCH)
    paths = words_of(column.path for column in columns)
    ColumnWords.objects.bulk_create(
        [ColumnWords(table=table, paths=paths)],
        update_conflicts=True,
        unique_fields=["table"],
        update_fields=["paths"],
    )
