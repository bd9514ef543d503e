"""Tables whose log spells partition values as other writers do."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from deltaweb.table import DeltaTable

SPELLINGS: Mapping[str, tuple[pa.DataType, tuple[str, ...]]] = {
    "timestamp": (
        pa.timestamp("us", "UTC"),
        (
            "2024-03-10T07:00:00.000000Z",
            "2024-03-10 07:00:00",
            "2024-03-10 07:00:00.000",
        ),
    ),
    "timestamp_ntz": (
        pa.timestamp("us"),
        ("2024-03-10 07:00:00.500000", "2024-03-10 07:00:00.5"),
    ),
    "double": (pa.float64(), ("10000000000.0", "1.0E10", "1e10")),
    "float": (pa.float32(), ("1.5e+10", "1.5E10")),
    "integer": (pa.int32(), ("7", "07", "+7")),
    "long": (pa.int64(), ("-1", "-01")),
    "decimal": (pa.decimal128(10, 2), ("1.50", "1.5", "01.50")),
    "date": (pa.date32(), ("2024-03-01", "2024-3-1")),
    "boolean": (pa.bool_(), ("true", "TRUE")),
    "binary": (pa.binary(), ("AB", "\\u0041\\u0042")),
    "null": (pa.timestamp("us", "UTC"), (None, "")),  # type: ignore[dict-item] # a null
}
"""Ways to write one value of a type: our own first."""


def append_spelled(table: DeltaTable, rows: pa.Table, **texts: str | None) -> None:
    """Append rows whose files have other texts of the same partition values.

    Args:
        table: The table; its store holds its log in memory or in a folder.
        rows: Of one partition.
        texts: What the log has, by partition column.
    """
    version = table.append(rows).version or 0
    name = f"{version:020d}.json"
    lines = [json.loads(line) for line in table.store.read(name).splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["partitionValues"] |= texts
    said = "".join(json.dumps(line) + "\n" for line in lines).encode()
    table.store.update(name, lambda _: said)


def spelled(table: DeltaTable) -> list[dict[str, Any]]:
    """Return the partition values of live files as the log has them, sorted."""
    values = table.snapshot().files["partition_values"].to_pylist()
    return sorted(map(dict, values), key=repr)
