"""A table whose rows are on either side of a midnight of New York, in two versions."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder

NEW_YORK = "America/New_York"
MIDNIGHT = "ts >= '2024-03-10 00:00:00'"
"""True of both rows in UTC, and of the second alone in New York."""
ROWS = pa.table(
    {
        "id": pa.array([1, 2], pa.int64()),
        "ts": pa.array(
            [
                datetime(2024, 3, 10, 2, tzinfo=UTC),
                datetime(2024, 3, 10, 12, tzinfo=UTC),
            ],
            pa.timestamp("us", "UTC"),
        ),
    }
)


def write_zoned_table(folder: Path) -> DeltaTable:
    """Write the rows."""
    return TableBuilder(folder).rows(ROWS).build()


def ids(folder: Path) -> list[int]:
    """Return which rows are there."""
    rows = DeltaTable(str(folder)).snapshot().read()
    return sorted(rows["id"].to_pylist())
