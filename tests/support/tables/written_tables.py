"""Small tables in memory that tests commit to, and transactions on them."""

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.writing.commit import CommitPolicy, commit
from deltaweb.delta.writing.transaction import ADDED_FILES, CommitResult, Transaction
from deltaweb.table import DeltaTable

SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": "p", "type": "string", "nullable": True, "metadata": {}},
            {"name": "x", "type": "long", "nullable": True, "metadata": {}},
        ],
    }
)
METADATA = Metadata(
    id="4d7a", schema_string=SCHEMA, partition_columns=["p"], created_time=0
)
PROTOCOL = Protocol(min_reader_version=1, min_writer_version=2)
# No test waits: pauses are none.
AT_ONCE = CommitPolicy(pause=lambda _: None, now_ms=lambda: 1_700_000_000_000)


def added(*files: tuple[str, str, int, int]) -> pa.Table:
    """Files to add: path, value of p, least and largest x."""
    rows = [
        {
            "path": path,
            "size": 1,
            "modification_time": 0,
            "partition_values": [("p", value)],
            "stats": stats(low, high),
        }
        for path, value, low, high in files
    ]
    return pa.Table.from_pylist(rows, ADDED_FILES)


def stats(low: int, high: int, *, num_records: int = 1) -> str:
    """The statistics of a file by the range of x."""
    return json.dumps(
        {
            "numRecords": num_records,
            "minValues": {"x": low},
            "maxValues": {"x": high},
            "nullCount": {"x": 0},
        }
    )


def create(
    store: TableStore, *, metadata: Metadata = METADATA, protocol: Protocol = PROTOCOL
) -> CommitResult:
    """Commit version 0."""
    return commit(
        store,
        Transaction(
            base=None, operation="CREATE TABLE", metadata=metadata, protocol=protocol
        ),
        policy=AT_ONCE,
    )


def on_newest(store: TableStore, **fields: Any) -> Transaction:  # noqa: ANN401  # a transaction's
    """A transaction that read the newest version."""
    fields.setdefault("operation", "WRITE")
    return Transaction(base=load_state(store, None).definition, **fields)


def live(store: TableStore, *paths: str) -> pa.Table:
    """Files of the newest version, those of some paths or all."""
    files = DeltaTable.from_store(store).snapshot().files
    if not paths:
        return files
    return files.filter(pc.is_in(files["path"], value_set=pa.array(paths)))


def live_paths(store: TableStore) -> list[str]:
    """The paths of the files of the newest version, in order."""
    return sorted(live(store)["path"].to_pylist())
