"""A table some of whose versions have deletion vectors, and the newest has none."""

from pathlib import Path

import pyarrow as pa

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.table import DeltaTable

COLUMNS = StructType((StructField("id", PrimitiveType("long")),))
MARKS = {"delta.enableDeletionVectors": "true"}


def write_marked(root: Path) -> None:
    """Write rows, mark some of them as deleted, and rewrite the file without them."""
    table = DeltaTable.create(str(root), COLUMNS, properties=MARKS)
    table.append(pa.table({"id": pa.array(range(10), pa.int64())}))
    table.delete("id % 3 = 0")
    table.optimize()
