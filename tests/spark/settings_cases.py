"""Rows whose times fall on other days in other zones, and sessions to ask of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NEW_YORK, KOLKATA = "America/New_York", "Asia/Kolkata"
ANSI: Final = "spark.sql.ansi.enabled"
TIME_ZONE: Final = "spark.sql.session.timeZone"
_MOMENTS: Final = [
    None if text is None else datetime.fromisoformat(text)
    for text in (
        *("2024-03-10 02:00", "2024-03-10 12:00", "2024-03-10 20:30"),
        *("2023-12-31 23:59", None, "2024-11-03 06:30"),
    )
]
SCHEMA: Final = pa.schema(
    [
        ("id", pa.int32()),
        ("ts", pa.timestamp("us", "UTC")),
        ("w", pa.timestamp("us")),
        ("day", pa.date32()),
        ("i", pa.int32()),
        ("l", pa.int64()),
        ("f", pa.float32()),
        ("s", pa.string()),
    ]
)
ROWS: Final = pa.table(
    {
        "id": range(6),
        "ts": [moment and moment.replace(tzinfo=UTC) for moment in _MOMENTS],
        "w": _MOMENTS,
        "day": [moment and moment.date() for moment in _MOMENTS],
        "i": [1, 2, 2**31 - 1, 0, None, 16777217],
        "l": [1, 16777217, 2**63 - 1, 0, None, 9007199254740993],
        "f": [1.0, 16777216.0, 0.1, None, 2.5, 3e38],
        "s": ["01", "1", "2024-03-10", "2024-3-10", None, "x"],
    },
    SCHEMA,
)
KINDS: Final = (
    "id int, ts timestamp, w timestamp_ntz, day date, i int, l long, f float, s string"
)


@contextmanager
def settings(
    spark: "SparkSession", *, time_zone: str = "UTC", ansi: bool = True
) -> Iterator[None]:
    """Have a session with other settings for a while."""
    spark.conf.set(TIME_ZONE, time_zone)
    spark.conf.set(ANSI, str(ansi).lower())
    try:
        yield
    finally:
        spark.conf.set(TIME_ZONE, "UTC")
        spark.conf.set(ANSI, "true")


def frame(spark: "SparkSession") -> "DataFrame":
    """The rows as Spark has them."""
    return spark.createDataFrame(ROWS, KINDS)


def by_id(rows: pa.Table) -> list[dict[str, Any]]:
    """Return rows with their instants in UTC, whatever zone they are shown in."""
    found: list[dict[str, Any]] = rows.cast(SCHEMA).sort_by("id").to_pylist()
    return found
