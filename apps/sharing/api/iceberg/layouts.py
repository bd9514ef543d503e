"""A shared table as Iceberg metadata: which of its versions, and under which names.

Of a table that is shared in part there is one snapshot: the newest version that is
ready, as the recipient's rule leaves it. All that is told of it is made from that, and
no name of an object is good under another rule, or for another version.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, TypeVar

from apps.sharing.access.grants.offered import offered_version
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.answers.opening import open_shared
from apps.sharing.answers.versions import open_shared_version, open_version
from apps.sharing.models import SharedTable
from apps.tables.models import Commit, MetadataVersion, ProtocolVersion
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.log.commits.times import to_ms
from deltaweb.iceberg.access.object_keys import PathSealer, location_of
from deltaweb.iceberg.errors import InexpressibleError, NotIcebergError
from deltaweb.iceberg.metadata import TableLayout, TableVersion
from deltaweb.iceberg.objects import LIST, ObjectNames
from deltaweb.iceberg.schema import (
    FieldIds,
    TableColumns,
    partition_fields,
    schema_json,
)
from deltaweb.index.query.restricted_version import PreparedPart, RestrictedVersion
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.table_query import TableQuery
from deltaweb.table import DeltaTable

MAX_VERSIONS: Final = 100
"""Versions that are offered as snapshots, the newest ones."""


@dataclass(frozen=True, eq=False)
class IcebergTable:
    """A shared table, its newest version, and the versions that a rule offers.

    Attributes:
        newest: As the rule leaves it.
        scope: What the names of its objects are good for.
        sealer: Seals the paths of its files.
    """

    shared: SharedTable
    rule: TableRule
    opened: DeltaTable
    newest: SharedVersion
    layout: TableLayout
    scope: str
    sealer: PathSealer

    @property
    def location(self) -> str:
        """Where clients think that it is."""
        return location_of(self.shared.id)

    @property
    def versions(self) -> Sequence[TableVersion]:
        return self.layout.versions

    def mark(self, version: int) -> str:
        """Return what distinguishes the objects of a version from others of it."""
        return f"{self.layout.mark(version)}{self.sealer.digest}{self._rewritten}"

    @cached_property
    def _rewritten(self) -> str:
        return _rewritten_digest(self.newest)

    def version(self, version: int, *, now: datetime) -> SharedVersion:
        """Open one of the versions that it offers, as the rule leaves it."""
        if version == self.newest.version:
            return self.newest
        opened = open_version(self.shared, self.opened, TableQuery(version=version))
        return offered_version(self.shared, self.rule, opened, now=now)

    def names(self, version: int) -> ObjectNames:
        """Return how the objects of a version are called."""
        return ObjectNames(
            table_location=self.location,
            version_location=(
                f"{self.location}/metadata/{version}-{self.mark(version)}"
            ),
            sealer=self.sealer,
        )

    def list_location(self, version: int) -> str:
        """Return where the manifest list of a version is."""
        return f"{self.names(version).version_location}/{LIST}"

    @property
    def metadata_location(self) -> str:
        """Return where `metadata.json` is."""
        return f"{self.names(self.newest.version).version_location}.json"

    def metadata(self, *, referenced_only: bool = False) -> dict[str, object]:
        """Return `metadata.json`, with all snapshots or the referenced ones."""
        return self.layout.metadata(
            location=self.location,
            list_locations=[self.list_location(one.version) for one in self.versions],
            referenced_only=referenced_only,
        )


def open_iceberg_table(
    shared: SharedTable,
    rule: TableRule,
    *,
    keys: Sequence[bytes],
    now: datetime,
    last_version: int | None = None,
) -> IcebergTable:
    """Open a shared table as Iceberg, as a rule leaves it.

    Args:
        keys: The keys of its objects' names; the first one is used.
        last_version: Where a client began to read: it goes on with the versions that
            it was told of. The newest one for None.
    """
    opened = open_shared(shared)
    if last_version is None:
        newest = open_shared_version(shared, opened, TableQuery(), rule, now=now)
    else:
        whole = open_version(shared, opened, TableQuery(version=last_version))
        newest = offered_version(shared, rule, whole, now=now)
    try:
        columns = _columns_of(newest, rule)
        _check_form(columns)
        # Our rows of older versions tell of all that is in them.
        older = _older_versions(shared, newest) if rule.is_whole else ()
        versions = [*older, _newest_version(newest, columns)]
        layout = TableLayout(
            newest.metadata.id or str(shared.table_id),
            versions,
            has_vectors=DELETION_VECTORS in (newest.protocol.reader_features or ()),
        )
    except InexpressibleError as error:
        raise NotIcebergError(table=shared.full_name, reason=error.reason) from error
    scope = scope_of(shared, rule, newest.version)
    sealer = PathSealer(keys, scope)
    return IcebergTable(shared, rule, opened, newest, layout, scope, sealer)


def scope_of(shared: SharedTable, rule: TableRule, version: int) -> str:
    """Return what names of objects are good for: they open no other versions.

    Under a rule they open nothing that it did not leave: neither do those that were
    given out before it held, nor later ones that go with its own.
    """
    start = str(shared.start_version or 0)
    if not rule.is_whole:
        return f"{shared.id}\0rule {rule.digest}\0{start}\0={version}"
    return f"{shared.id}\0{start if shared.with_history else f'={version}'}"


def _rewritten_digest(version: SharedVersion) -> str:
    """Return what distinguishes the files that a rule left; "" where there are none.

    They may be written again, and be of other sizes then.
    """
    if not isinstance(version, RestrictedVersion):
        return ""
    state = hashlib.sha256()
    for part, _ in version.live_parts():
        if isinstance(part, PreparedPart):
            files = zip(part.paths.to_pylist(), part.sizes.to_pylist(), strict=True)
            state.update(repr(sorted(files)).encode())
    return state.hexdigest()[:12]


def _newest_version(newest: SharedVersion, columns: TableColumns) -> TableVersion:
    return TableVersion(
        version=newest.version,
        timestamp_ms=to_ms(newest.timestamp),
        columns=columns,
        num_files=newest.num_files,
    )


def _columns_of(version: SharedVersion, rule: TableRule) -> TableColumns:
    if version.refusal is not None:
        raise version.refusal
    metadata = version.metadata
    partitions = tuple(metadata.partition_columns)
    if rule.is_whole:
        return TableColumns(version.schema, partitions, metadata.configuration)
    # What is told of columns is in the metadata alone, their comments among it. Files
    # that are rewritten have no columns beside those that are seen.
    schema = table_schema(version.protocol, metadata)
    configuration = {} if rule.columns is not None else metadata.configuration
    return TableColumns(schema, partitions, configuration)


def _check_form(columns: TableColumns) -> None:
    """Check that columns have a form in Iceberg."""
    ids = FieldIds([columns])
    schema_json(columns, ids)
    partition_fields(columns, ids)


# === Older versions ===


def _older_versions(
    shared: SharedTable, newest: SharedVersion
) -> Iterator[TableVersion]:
    """Yield the versions before the newest that are offered, as our rows know them."""
    if not shared.with_history:
        return
    table = shared.table
    first = max(shared.start_version or 0, newest.version - MAX_VERSIONS + 1)
    commits = table.commits.filter(
        version__gte=first,
        version__lt=newest.version,
        readability=Commit.Readability.READABLE,
        is_archived=False,
    ).order_by("version")
    columns = _HeldColumns(shared, newest)
    for commit in commits:
        held = columns.at(commit.version)
        if held is not None:
            yield TableVersion(
                version=commit.version,
                timestamp_ms=to_ms(commit.committed_at),
                columns=held,
                num_files=commit.num_files,
                num_rows=commit.num_records,
            )


class _HeldColumns:
    """The columns of older versions, as our rows know them."""

    def __init__(self, shared: SharedTable, newest: SharedVersion) -> None:
        older = {"version__lt": newest.version}
        self._metadata = list(shared.table.metadata_versions.filter(**older))
        self._protocols = list(shared.table.protocol_versions.filter(**older))
        self._table_id = newest.metadata.id or ""
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
        _check_form(columns)
    except DeltaError:
        return None  # of a schema that does not read, or that Iceberg has no form for
    return columns
