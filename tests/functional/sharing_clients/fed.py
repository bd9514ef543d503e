"""A table whose writer records its changes."""

from pathlib import Path

import deltalake
import pyarrow as pa

FEED_ON = {"delta.enableChangeDataFeed": "true"}


def write_feed(root: Path) -> None:
    """Write a table of two days, and insert, update, delete and move rows of it."""
    for day in ("mon", "tue"):
        rows = {"id": pa.array(range(10), pa.int64()), "day": [day] * 10}
        deltalake.write_deltalake(
            str(root),
            pa.table(rows),
            mode="append",
            partition_by=["day"],
            configuration=FEED_ON if day == "mon" else None,
        )
    table = deltalake.DeltaTable(str(root))
    table.update(updates={"id": "id + 100"}, predicate="id < 3")
    table.optimize.compact()
    table.delete("day = 'tue'")
    table.delete("id = 5")
