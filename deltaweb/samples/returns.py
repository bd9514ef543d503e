"""The sample table `returns`: made and not filled yet."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from deltaweb.delta.protocol.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.samples.scripted_table import ScriptedTable
from deltaweb.table import DeltaTable

SCHEMA: Final = StructType(
    (
        StructField("return_id", PrimitiveType("long"), nullable=False),
        StructField("order_id", PrimitiveType("long"), nullable=False),
        StructField(
            "reason", PrimitiveType("string"), metadata={"comment": "as the buyer says"}
        ),
        StructField("refund", DecimalType(12, 2)),
        StructField("received_at", PrimitiveType("timestamp")),
    )
)


def write_returns(root: Path, now: datetime) -> None:
    """Write the table: one commit, no row."""
    at = now - timedelta(days=2, hours=3)
    with ScriptedTable(root).step("schema-deploy", at) as location:
        DeltaTable.create(
            location,
            SCHEMA,
            description="Goods sent back; the first batch is due on Monday",
        )
