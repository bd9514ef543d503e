"""The versions of a shared table that are offered as snapshots, and their operations.

Versions that our rows know are offered with what the rows say of them; those that came
since the rows were made, with what their commits say. So no version is left out between
two others while the table is indexed.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final, TypeVar

from apps.sharing.models import SharedTable
from apps.tables.models import Commit, MetadataVersion, ProtocolVersion
from deltaweb.delta.errors import DeltaError, LogFileGoneError
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.log.commits.added_files import versions_that_add_vectors
from deltaweb.delta.log.commits.summary import CommitSummary
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.environment.kept_values import KeptValues
from deltaweb.iceberg.metadata import TableVersion
from deltaweb.iceberg.operations import APPEND, OVERWRITE, operation_of
from deltaweb.iceberg.schema import (
    FieldIds,
    TableColumns,
    partition_fields,
    schema_json,
)
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.table import DeltaTable

MAX_VERSIONS: Final = 100
"""Versions that are offered as snapshots, the newest ones."""
MAX_UNINDEXED: Final = 16
"""Versions since the newest one that is indexed whose commits are read."""
_KEPT_BYTES: Final = 1 << 20
_ENTRY_BYTES: Final = 200

_adds_vectors: Final[KeptValues[tuple[str, int, int], bool]] = KeptValues(_KEPT_BYTES)


@dataclass(frozen=True, slots=True)
class _Step:
    """A version and the commit that made it.

    Attributes:
        commit: The file actions of the commit, counted; None where they are not known.
        is_offered: Whether it is a snapshot; else it only comes before one.
    """

    version: TableVersion
    commit: Commit | CommitSummary | None
    is_offered: bool = True

    @property
    def number(self) -> int:
        return self.version.version


def check_form(columns: TableColumns) -> None:
    """Check that columns have a form in Iceberg."""
    ids = FieldIds([columns])
    schema_json(columns, ids)
    partition_fields(columns, ids)


def newest_version(newest: SharedVersion, columns: TableColumns) -> TableVersion:
    """Return the newest version as a snapshot of which nothing comes before."""
    return TableVersion(
        version=newest.version,
        timestamp_ms=to_ms(newest.timestamp),
        columns=columns,
        num_files=newest.num_files,
        num_rows=newest.num_records,
    )


def shared_versions(
    shared: SharedTable,
    opened: DeltaTable,
    newest: SharedVersion,
    columns: TableColumns,
) -> list[TableVersion]:
    """Return the versions of a table that are offered, ascending, the newest last.

    Args:
        columns: The columns of the newest version.
    """
    last = newest_version(newest, columns)
    start = shared.first_offered(last.version)
    first = min(max(start, last.version - MAX_VERSIONS + 1), last.version)
    # The version before the first one shows what the first one has added.
    steps = [*_indexed(shared, newest, last, first=max(start, first - 1))]
    if not steps or steps[-1].number < last.version:
        steps += _unindexed(opened, last, steps[-1] if steps else None)
    has_vectors = DELETION_VECTORS in (newest.protocol.reader_features or ())
    steps = _with_operations(opened, steps, has_vectors=has_vectors)
    return [
        *_chained(
            one.version for one in steps if one.is_offered and one.number >= first
        )
    ]


# === Versions and their commits ===


def _indexed(
    shared: SharedTable, newest: SharedVersion, last: TableVersion, *, first: int
) -> Iterator[_Step]:
    """Yield the versions that our rows know, with the commits of these rows."""
    held = _HeldColumns(shared, newest)
    commits = shared.table.commits.filter(
        version__gte=first, version__lte=last.version
    ).order_by("version")
    for commit in commits:
        if commit.version == last.version:
            is_same = commit.num_files == last.num_files
            yield _Step(last, commit if is_same else None)
        elif (columns := held.at(commit.version)) is not None:
            is_readable = commit.readability == Commit.Readability.READABLE
            version = TableVersion(
                version=commit.version,
                timestamp_ms=to_ms(commit.committed_at),
                columns=columns,
                num_files=commit.num_files,
                # Rows that deletion vectors delete are not counted.
                num_rows=None if held.has_vectors else commit.num_records,
            )
            yield _Step(version, commit, is_readable and not commit.is_archived)


def _unindexed(
    opened: DeltaTable, last: TableVersion, before: _Step | None
) -> list[_Step]:
    """Return the versions after an indexed one as their commits tell of them."""
    if last.version == 0:
        # All files of the first version were added by it.
        commit = CommitSummary(
            num_added_files=last.num_files or 0,
            added_rows=last.num_rows,
            data_change=True,
        )
        return [_Step(last, commit)]
    alone = [_Step(last, None)]
    if before is None or last.version - before.number > MAX_UNINDEXED:
        return alone
    found = []
    with suppress(DeltaError):  # the log is being cleaned up
        found = [*opened.commit_summaries(before.number + 1)]
    found = found[: last.version - before.number]
    versions = [one.version for one in found if one.fault is None]
    if versions != [*range(before.number + 1, last.version + 1)]:
        return alone
    totals = accumulate(
        (one.num_added_files - one.num_removed_files for one in found),
        initial=before.version.num_files or 0,
    )
    num_files = [*totals][1:]
    # Otherwise some file was added again, or removed that was not there.
    is_known = before.version.num_files is not None and num_files[-1] == last.num_files
    steps = [
        _Step(
            TableVersion(
                version=one.version,
                timestamp_ms=one.timestamp_ms,
                columns=last.columns,
                num_files=count if is_known else None,
            ),
            one if is_known else None,
        )
        for one, count in zip(found[:-1], num_files, strict=False)
    ]
    steps.append(_Step(last, found[-1] if is_known else None))
    # Versions before the one that set the newest columns may have others.
    defined = [at for at, one in enumerate(found) if one.metadata or one.protocol]
    return steps[defined[-1] :] if defined else steps


# === Operations ===


def _with_operations(
    opened: DeltaTable, steps: Sequence[_Step], *, has_vectors: bool
) -> list[_Step]:
    """Return versions with what their commits did.

    Args:
        has_vectors: Whether files of one of them may have deletion vectors.
    """
    operations = {
        step.number: _operation(step, before)
        for before, step in pairwise([None, *steps])
        if step is not None
    }
    if has_vectors:
        appends = [one for one in steps if operations[one.number] == APPEND]
        # Readers of appended files do not look for deletion vectors of these.
        for number in _that_add_vectors(opened, appends):
            operations[number] = OVERWRITE
    return [_with_operation(one, operations[one.number]) for one in steps]


def _operation(step: _Step, before: _Step | None) -> str:
    if step.commit is None:
        return OVERWRITE
    num_before = None
    if step.number == 0:
        num_before = 0
    elif before is not None and before.number == step.number - 1:
        num_before = before.version.num_files
    return operation_of(step.commit, before=num_before, after=step.version.num_files)


def _with_operation(step: _Step, operation: str) -> _Step:
    version = replace(step.version, operation=operation)
    if operation == APPEND and step.commit is not None:
        version = replace(
            version,
            num_added_files=step.commit.num_added_files,
            num_added_rows=step.commit.added_rows,
        )
    return replace(step, version=version)


def _that_add_vectors(opened: DeltaTable, steps: Sequence[_Step]) -> Iterator[int]:
    """Yield the versions whose commits add a file with a deletion vector.

    One whose commit does not read, or is gone, is among them.
    """
    keys = {one.number: _key(opened, one) for one in steps}
    unknown = [
        number for number, key in keys.items() if _adds_vectors.find(key) is None
    ]
    try:
        found = versions_that_add_vectors(opened.store, unknown)
    except LogFileGoneError:
        yield from unknown
    else:
        for number in unknown:
            _adds_vectors.keep(keys[number], number in found, _ENTRY_BYTES)
    for key in keys.values():
        if _adds_vectors.find(key) == (True,):
            yield key[1]


def _key(opened: DeltaTable, step: _Step) -> tuple[str, int, int]:
    return opened.root, step.number, step.version.timestamp_ms


def _chained(versions: Iterable[TableVersion]) -> Iterator[TableVersion]:
    """Yield versions; one whose version before is not a snapshot is an overwrite.

    Else readers of appended files would miss files of the versions in between.
    """
    expected = 0
    for one in versions:
        is_next = one.version == expected
        yield one if is_next else replace(one, operation=OVERWRITE)
        expected = one.version + 1


# === Columns ===


class _HeldColumns:
    """The columns of older versions, as our rows know them."""

    def __init__(self, shared: SharedTable, newest: SharedVersion) -> None:
        older = {"version__lt": newest.version}
        self._metadata = list(shared.table.metadata_versions.filter(**older))
        self._protocols = list(shared.table.protocol_versions.filter(**older))
        self._table_id = newest.metadata.id or ""
        self.has_vectors = DELETION_VECTORS in (newest.protocol.reader_features or ())
        self._known: dict[tuple[int, int], TableColumns | None] = {}

    def at(self, version: int) -> TableColumns | None:
        """Return the columns of a version; None where it cannot be offered."""
        metadata = _at(self._metadata, version)
        protocol = _at(self._protocols, version)
        if metadata is None or protocol is None:
            return None
        if metadata.metadata_id != self._table_id:
            return None  # of a table that stood here before
        key = metadata.version, protocol.version
        if key not in self._known:
            self._known[key] = _held_columns(metadata, protocol)
        return self._known[key]


_Row = TypeVar("_Row", MetadataVersion, ProtocolVersion)


def _at(rows: Sequence[_Row], version: int) -> _Row | None:
    """Return the row that holds at a version, of rows that are newest first."""
    return next((row for row in rows if row.version <= version), None)


def _held_columns(
    metadata: MetadataVersion, protocol: ProtocolVersion
) -> TableColumns | None:
    try:
        columns = TableColumns(
            metadata.mapped_schema(protocol),
            tuple(metadata.partition_columns),
            metadata.configuration or {},
        )
        check_form(columns)
    except DeltaError:
        return None  # of a schema that does not read, or that Iceberg has no form for
    return columns
