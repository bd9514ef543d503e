"""A table with columns of types that are not known: intervals, among known ones."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import commit_name
from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol
from tests.support.logs.local_logs import typed_schema

SPAN, MONTHS = "interval day to second", "interval year to month"
SCHEMA_TEXT = typed_schema(id="long", span=SPAN, months=MONTHS, name="string")


def write_span_table(folder: Path, *, is_partitioned: bool = False) -> Path:
    """Write version 0, three rows in one file; partitioned by months if asked for."""
    (folder / "_delta_log").mkdir(parents=True)
    rows = pa.table(
        {
            "id": pa.array([1, 2, 3], pa.int64()),
            "span": pa.array([86_400_000_000, None, 5], pa.int64()),
            "months": pa.array([13, 14, None], pa.int32()),
            "name": ["a", "b", None],
        }
    )
    if is_partitioned:
        rows = rows.drop_columns(["months"])
    pq.write_table(rows, folder / "1.parquet")
    stats = {
        "numRecords": 3,
        "minValues": {"id": 1, "span": "INTERVAL '0 00:00:00.000005' DAY TO SECOND"},
        "maxValues": {"id": 3, "span": "INTERVAL '1 00:00:00' DAY TO SECOND"},
        "nullCount": {"id": 0, "span": 1, "name": 1},
    }
    file = add(
        "1.parquet",
        size=(folder / "1.parquet").stat().st_size,
        stats=json.dumps(stats),
        partitionValues={"months": "1-1"} if is_partitioned else {},
    )
    columns = ["months"] if is_partitioned else []
    table = metadata(schemaString=SCHEMA_TEXT, partitionColumns=columns)
    (folder / "_delta_log" / commit_name(0)).write_bytes(
        commit_bytes(protocol(), table, file)
    )
    return folder
