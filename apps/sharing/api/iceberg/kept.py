"""The objects of versions that were made, kept for who asks for them next."""

from threading import Lock
from typing import Final
from uuid import UUID

import pyarrow as pa

from deltaweb.delta.errors import PartitionValueError
from deltaweb.environment.kept_values import KeptValues
from deltaweb.iceberg.errors import InexpressibleError, NotIcebergError
from deltaweb.iceberg.files import known_columns
from deltaweb.iceberg.objects import VersionObjects, version_objects
from deltaweb.iceberg.row_counts import with_row_counts
from deltaweb.index.query.file_selection import LISTED_SCHEMA
from deltaweb.sharing.table_query import TableQuery
from deltaweb.web.sharing.answers.versions import open_version
from deltaweb.web.sharing.api.iceberg.layouts import IcebergTable

KEPT_BYTES: Final = 256 << 20
Key = tuple[UUID, int, str]
_NO_ROWS: Final = LISTED_SCHEMA.empty_table()

_kept: Final[KeptValues[Key, VersionObjects]] = KeptValues(KEPT_BYTES)
_making: Final = Lock()  # one at a time: each takes all the memory that it needs


def kept_objects(table_id: UUID, version: int, mark: str) -> VersionObjects | None:
    """Return the objects of a version if they were made before.

    Args:
        mark: From `IcebergTable.mark`.
    """
    found = _kept.find((table_id, version, mark))
    return None if found is None else found[0]


def objects_of(table: IcebergTable, version: int) -> VersionObjects:
    """Return the objects of one of the versions that a table offers."""
    key = (table.shared.id, version, table.mark(version))
    with _making:
        found = _kept.find(key)
        if found is not None:
            return found[0]
        made = _made(table, version)
        return _kept.keep(key, made, made.size_bytes)


def _made(table: IcebergTable, version: int) -> VersionObjects:
    opened = table.newest
    if version != opened.version:
        query = TableQuery(version=version)
        opened = open_version(table.shared, table.opened, query)
    if opened.refusal is not None:
        raise opened.refusal
    selection = opened.select()
    if selection.outside is not None:
        reason = "a file lies outside of the table"
        raise NotIcebergError(table=table.shared.full_name, reason=reason)
    version_facts = next(one for one in table.versions if one.version == version)
    known = selection.typed_batches(known_columns(version_facts.columns))
    rows = pa.Table.from_batches(known) if selection.num_files else _NO_ROWS
    try:
        return version_objects(
            with_row_counts(rows, table.opened.store.open_data_file),
            version_facts,
            table.layout.snapshot(version),
            table.layout.ids,
            table.names(version),
        )
    except InexpressibleError as error:
        raise NotIcebergError(
            table=table.shared.full_name, reason=error.reason
        ) from error
    except PartitionValueError as error:
        reason = (
            f"a partition value of {error.column[:80]!r} is not a {error.type_name}"
        )
        raise NotIcebergError(table=table.shared.full_name, reason=reason) from error
