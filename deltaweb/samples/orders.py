"""The sample table `orders`: partitioned by day and country."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.samples.sample_table import Operation, TableWriter

DAYS: Final = 21
COUNTRIES: Final = {"DE": 120, "FR": 80, "PL": 45, "SE": 25}  # mean orders a day
STATUSES: Final = ("delivered", "shipped", "paid", "cancelled")
PARTITION_COLUMNS: Final = ("order_date", "country")
SCHEMA: Final = StructType(
    (
        StructField("order_id", PrimitiveType("long"), nullable=False),
        StructField("customer_id", PrimitiveType("long"), nullable=False),
        StructField("order_date", PrimitiveType("date")),
        StructField(
            "country", PrimitiveType("string"), metadata={"comment": "ISO 3166 code"}
        ),
        StructField("status", PrimitiveType("string")),
        StructField("items", PrimitiveType("integer")),
        StructField(
            "amount", DecimalType(12, 2), metadata={"comment": "gross, in euros"}
        ),
        StructField("express", PrimitiveType("boolean")),
        StructField("placed_at", PrimitiveType("timestamp")),
        StructField("note", PrimitiveType("string")),
    )
)
NOTES: Final = (None, None, None, "gift", "ring twice", "leave with the neighbour", "")


def write_orders(root: Path, now: datetime) -> None:
    """Write the table: a commit a day for three weeks, and one checkpoint."""
    writer = TableWriter(root, seed=1)
    first_day = (now - timedelta(days=DAYS)).date()
    created = Operation(
        name="CREATE TABLE",
        user="schema-deploy",
        at=_at(first_day, hour=0),
        parameters={"isManaged": False, "partitionBy": list(PARTITION_COLUMNS)},
    )
    writer.create(
        SCHEMA,
        created,
        partition_columns=PARTITION_COLUMNS,
        description="Orders of the web shop, one commit a day",
    )
    next_order_id = 100_001
    for offset in range(DAYS):
        day = first_day + timedelta(days=offset)
        next_order_id += _append_day(writer, day, next_order_id)
        if offset == DAYS // 2:
            writer.checkpoint(_at(day, hour=23))


def _append_day(writer: TableWriter, day: date, first_order_id: int) -> int:
    at = _at(day, hour=22)
    files = []
    written = 0
    for country, mean in COUNTRIES.items():
        rows = _rows(writer.random, day, first_order_id + written, mean)
        values = {"order_date": day.isoformat(), "country": country}
        files.append(writer.write_file(rows, at=at, partition_values=values))
        written += rows.num_rows
    operation = Operation(
        name="WRITE",
        user="orders-stream",
        at=at,
        parameters={"mode": "Append", "partitionBy": list(PARTITION_COLUMNS)},
        metrics={
            "numFiles": len(files),
            "numOutputRows": written,
            "numOutputBytes": sum(file.size for file in files),
        },
    )
    writer.commit(operation, [file.add() for file in files])
    return written


def _rows(
    random: np.random.Generator, day: date, first_order_id: int, mean: int
) -> pa.Table:
    count = int(random.poisson(mean))
    seconds = np.sort(random.integers(6 * 3600, 22 * 3600, count))
    cents = np.round(random.lognormal(8.3, 0.7, count)).astype(int)
    columns: dict[str, list[Any]] = {
        "order_id": [first_order_id + i for i in range(count)],
        "customer_id": random.integers(1, 4000, count).tolist(),
        "status": random.choice(STATUSES, count, p=[0.6, 0.2, 0.15, 0.05]).tolist(),
        "items": (1 + random.poisson(1.4, count)).tolist(),
        "amount": [Decimal(int(value)).scaleb(-2) for value in cents],
        "express": (random.random(count) < 0.2).tolist(),  # noqa: PLR2004 (a share)
        "placed_at": [_at(day, hour=0) + timedelta(seconds=int(s)) for s in seconds],
        "note": [NOTES[i] for i in random.integers(0, len(NOTES), count)],
    }
    stored = [f for f in arrow_schema(SCHEMA) if f.name not in PARTITION_COLUMNS]
    return pa.table(columns, schema=pa.schema(stored))


def _at(day: date, *, hour: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, 2, tzinfo=UTC)
