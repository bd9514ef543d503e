"""The objects of versions that were made, kept for who asks for them next."""

from datetime import datetime
from threading import Lock
from typing import Final

import pyarrow as pa

from apps.sharing.access.grants.prepared import store_of
from apps.sharing.api.iceberg.layouts import IcebergTable
from deltaweb.delta.errors import LogCorruptError, PartitionValueError
from deltaweb.delta.log.commits.added_files import read_added_paths
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.values.whole import one_array
from deltaweb.environment.kept_values import KeptValues
from deltaweb.iceberg.errors import InexpressibleError, NotIcebergError
from deltaweb.iceberg.files import known_columns
from deltaweb.iceberg.objects import (
    CHANGED_LOG,
    IS_ADDED,
    IS_REWRITTEN,
    VersionObjects,
    version_objects,
)
from deltaweb.iceberg.row_counts import with_row_counts
from deltaweb.index.query.file_selection import LISTED_SCHEMA, FileSelection
from deltaweb.index.query.restricted_version import PreparedPart

KEPT_BYTES: Final = 256 << 20
Key = tuple[str, int, str]
_NO_ROWS: Final = LISTED_SCHEMA.empty_table()

_kept: Final[KeptValues[Key, VersionObjects]] = KeptValues(KEPT_BYTES)
_making: Final = Lock()  # one at a time: each takes all the memory that it needs


def kept_objects(scope: str, version: int, mark: str) -> VersionObjects | None:
    """Return the objects of a version if they were made before.

    Args:
        scope: What names of objects are good for: none of another rule's is found.
        mark: From `IcebergTable.mark`, as somebody says.
    """
    found = _kept.find((scope, version, mark))
    return None if found is None else found[0]


def objects_of(table: IcebergTable, version: int, *, now: datetime) -> VersionObjects:
    """Return the objects of one of the versions that a table offers."""
    key = (table.scope, version, table.mark(version))
    with _making:
        found = _kept.find(key)
        if found is not None:
            return found[0]
        made = _made(table, version, now=now)
        return _kept.keep(key, made, made.size_bytes)


def _made(table: IcebergTable, version: int, *, now: datetime) -> VersionObjects:
    opened = table.version(version, now=now)
    if opened.refusal is not None:
        raise opened.refusal
    selection = opened.select()
    if selection.outside is not None:
        reason = "a file lies outside of the table"
        raise NotIcebergError(table=table.shared.full_name, reason=reason)
    version_facts = next(one for one in table.versions if one.version == version)
    try:
        rows = _rows(table, selection, known_columns(version_facts.columns))
        if version_facts.num_added_files is not None:
            rows = rows.append_column(IS_ADDED, _marks_of_added(table, rows, version))
        return version_objects(
            rows,
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


def _marks_of_added(table: IcebergTable, rows: pa.Table, version: int) -> pa.Array:
    """Mark the files that the commit of a version added."""
    if version == 0:
        return pa.repeat(True, rows.num_rows)  # noqa: FBT003 (a value)
    try:
        added = read_added_paths(table.opened.store, version)
    except LogCorruptError as error:
        raise InexpressibleError(reason=CHANGED_LOG) from error
    return added.contains(one_array(rows["path"]))


def _rows(
    table: IcebergTable, selection: FileSelection, columns: StructType
) -> pa.Table:
    """Return the files of a version, marked where they lie beside the table's own."""
    listed: dict[bool, list[pa.RecordBatch]] = {False: [], True: []}
    for part, batch in selection.typed_batches(columns):
        listed[isinstance(part, PreparedPart)].append(batch)
    found = []
    for is_rewritten, batches in listed.items():
        if batches:
            store = store_of(table.shared.id) if is_rewritten else table.opened.store
            rows = pa.Table.from_batches(batches)
            rows = with_row_counts(rows, store.open_data_file)
            marks = pa.repeat(is_rewritten, rows.num_rows)
            found.append(rows.append_column(IS_REWRITTEN, marks))
    return pa.concat_tables(found) if found else _NO_ROWS
