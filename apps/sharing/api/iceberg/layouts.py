"""A shared table as Iceberg metadata: which of its versions, and under which names.

A table that is shared in part, or plain, has one snapshot: the newest version that is
ready, as the recipient's rule leaves it. All its metadata is made from this version,
and no name of an object is valid under another rule or for another version.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from apps.sharing.access.grants.offered import offered_version
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.answers.opening import open_shared
from apps.sharing.answers.versions import open_shared_version, open_version
from apps.sharing.api.iceberg.snapshots import (
    check_form,
    newest_version,
    shared_versions,
)
from apps.sharing.models import SharedTable
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.environment.kept_values import KeptValues
from deltaweb.iceberg.access.object_keys import PathSealer, location_of
from deltaweb.iceberg.errors import InexpressibleError, NotIcebergError
from deltaweb.iceberg.metadata import TableLayout, TableVersion
from deltaweb.iceberg.objects import LIST, ObjectNames
from deltaweb.iceberg.schema import FieldIds, TableColumns
from deltaweb.iceberg.served_file import ServedForm
from deltaweb.index.query.restricted_version import PreparedPart, RestrictedVersion
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.table_query import TableQuery
from deltaweb.table import DeltaTable

_KEPT_BYTES: Final = 16 << 20
_ID_BYTES: Final = 500
"""The memory of a column's id, its path and that in any case."""
_ids: Final[KeptValues[tuple[str, int, str], FieldIds]] = KeptValues(_KEPT_BYTES)


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
        mark = f"{self.layout.mark(version)}{self.sealer.digest}{self._rewritten}"
        return f"{mark}{self.form.room:x}{self.form.ids}" if self.form else mark

    @property
    def form(self) -> ServedForm | None:
        """How data files are served; None as they are stored."""
        is_stored = not self.shared.share.with_field_ids
        return None if is_stored else ServedForm.with_ids(self.layout.ids)

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
            form=self.form,
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
        check_form(columns)
        # Our rows of older versions tell of all that is in them.
        versions = (
            shared_versions(shared, opened, newest, columns)
            if rule.is_stored
            else [newest_version(newest, columns)]
        )
        layout = TableLayout(
            newest.metadata.id or str(shared.table_id),
            versions,
            has_vectors=DELETION_VECTORS in (newest.protocol.reader_features or ()),
        )
    except InexpressibleError as error:
        raise NotIcebergError(table=shared.full_name, reason=error.reason) from error
    scope = scope_of(shared, rule, newest.version)
    sealer = PathSealer(keys, scope)
    key = scope, newest.version, layout.ids.digest
    _ids.keep(key, layout.ids, len(layout.ids) * _ID_BYTES)
    return IcebergTable(shared, rule, opened, newest, layout, scope, sealer)


def field_ids(  # noqa: PLR0913 (of what, as it was named, and when)
    shared: SharedTable,
    rule: TableRule,
    *,
    keys: Sequence[bytes],
    now: datetime,
    last_version: int,
    digest: str,
) -> FieldIds | None:
    """Return the ids of the columns of a shared table, up to a version.

    Args:
        digest: Theirs, from the name of a file.

    Returns:
        None if the table has other ids now: another was created in its place.
    """
    found = _ids.find((scope_of(shared, rule, last_version), last_version, digest))
    if found is not None:
        return found[0]
    table = open_iceberg_table(
        shared, rule, keys=keys, now=now, last_version=last_version
    )
    ids = table.layout.ids
    return ids if ids.digest == digest else None


def scope_of(shared: SharedTable, rule: TableRule, version: int) -> str:
    """Return what names of objects are good for: they open no other versions.

    Under a rule they open nothing that it did not leave: neither do those that were
    given out before it held, nor later ones that go with its own.
    """
    start = shared.history_start
    if rule.is_stored:
        return f"{shared.id}\0{f'={version}' if start is None else start}"
    return f"{shared.id}\0rule {rule.digest}\0{shared.first_version}\0={version}"


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


def _columns_of(version: SharedVersion, rule: TableRule) -> TableColumns:
    if version.refusal is not None:
        raise version.refusal
    metadata = version.metadata
    partitions = tuple(metadata.partition_columns)
    if rule.is_stored:
        return TableColumns(version.schema, partitions, metadata.configuration)
    # What is told of columns is in the metadata alone, their comments among it. Files
    # that are rewritten have no columns beside those that are seen.
    schema = table_schema(version.protocol, metadata)
    configuration = {} if rule.columns is not None else metadata.configuration
    return TableColumns(schema, partitions, configuration)
