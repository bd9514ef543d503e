"""Tables that track rows, and what their rows are known by."""

import pyarrow as pa

from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable
from deltaweb.writer.changes.row_ids import KeptRowIds
from tests.support.tables.table_builder import TableBuilder

Known = dict[int, tuple[int, int | None]]


# Tables whose rows keep an id.
TRACKED = (
    TableBuilder().columns(k="int", v="string").property("delta.enableRowTracking")
)


def rows(*keys: int, v: str = "a") -> pa.Table:
    """Rows of some keys."""
    return pa.table({"k": pa.array(keys, pa.int32()), "v": [v] * len(keys)})


def known_by(table: DeltaTable, snapshot: Snapshot | None = None) -> Known:
    """The id of each row and the version that changed it last, by the key."""
    snapshot = snapshot or table.snapshot()
    reader = KeptRowIds.of(table.store, snapshot)
    assert reader is not None
    found: Known = {}
    for at in range(snapshot.files.num_rows):
        file = snapshot.files.slice(at, 1)
        keys = [k for some in snapshot.file_rows(file) for k in some["k"].to_pylist()]
        ids, versions = reader.of_files(file)
        pairs = zip(ids.to_pylist(), versions.to_pylist(), strict=True)
        found.update(zip(keys, pairs, strict=True))
    ids_of_all = [row_id for row_id, _ in found.values()]
    assert len(set(ids_of_all)) == len(ids_of_all)
    return found
