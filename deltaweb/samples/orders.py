"""The sample table `orders`: partitioned by day and country."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.samples.scripted_table import ScriptedTable
from deltaweb.table import DeltaTable

DAYS: Final = 21
SEED: Final = 503
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
    random = np.random.default_rng(SEED)
    script = ScriptedTable(root)
    first_day = (now - timedelta(days=DAYS)).date()
    with script.step("schema-deploy", _at(first_day, hour=0)) as location:
        DeltaTable.create(
            location,
            SCHEMA,
            partition_by=PARTITION_COLUMNS,
            description="Orders of the web shop, one commit a day",
            properties={"delta.checkpointInterval": "11"},
        )
    next_order_id = 100_001
    for offset in range(DAYS):
        day = first_day + timedelta(days=offset)
        rows = _rows(random, day, next_order_id)
        next_order_id += rows.num_rows
        with script.step("orders-stream", _at(day, hour=22)):
            script.table.append(rows)


def _rows(random: np.random.Generator, day: date, first_order_id: int) -> pa.Table:
    """Return the orders of a day, country by country."""
    parts = []
    for country, mean in COUNTRIES.items():
        count = int(random.poisson(mean))
        parts.append(_of_country(random, day, country, first_order_id, count))
        first_order_id += count
    return pa.concat_tables(parts)


def _of_country(
    random: np.random.Generator, day: date, country: str, first_id: int, count: int
) -> pa.Table:
    seconds = np.sort(random.integers(6 * 3600, 22 * 3600, count))
    cents = np.round(random.lognormal(8.3, 0.7, count)).astype(int)
    columns: dict[str, list[Any]] = {
        "order_id": [first_id + i for i in range(count)],
        "customer_id": random.integers(1, 4000, count).tolist(),
        "order_date": [day] * count,
        "country": [country] * count,
        "status": random.choice(STATUSES, count, p=[0.6, 0.2, 0.15, 0.05]).tolist(),
        "items": (1 + random.poisson(1.4, count)).tolist(),
        "amount": [Decimal(int(value)).scaleb(-2) for value in cents],
        "express": (random.random(count) < 0.2).tolist(),  # noqa: PLR2004 (a share)
        "placed_at": [_at(day, hour=0) + timedelta(seconds=int(s)) for s in seconds],
        "note": [NOTES[i] for i in random.integers(0, len(NOTES), count)],
    }
    return pa.table(columns, schema=arrow_schema(SCHEMA))


def _at(day: date, *, hour: int) -> datetime:
    return datetime(day.year, day.month, day.day, hour, 2, tzinfo=UTC)
