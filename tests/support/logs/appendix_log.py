"""The log of the specification's appendix, and what a checkpoint says of it."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import checkpoint_name
from tests.support.logs.delta_logs import LogBuilder, add
from tests.support.stores.memory import MemoryTableStore

WEEK_MS = 7 * 86_400_000
NOW_MS = 100 * WEEK_MS
NOW = datetime.fromtimestamp(NOW_MS / 1000, UTC)
HINT = "_last_checkpoint"


def column(name: str, data_type: object) -> dict[str, Any]:
    return {"name": name, "type": data_type, "nullable": True, "metadata": {}}


def schema_text(*columns: dict[str, Any]) -> str:
    return json.dumps({"type": "struct", "fields": list(columns)})


APPENDIX = schema_text(
    column("date", "date"),
    column("region", "string"),
    column("asset", "string"),
    column("quantity", "double"),
    column("is_available", "boolean"),
)
AS_STRUCT = {"delta.checkpoint.writeStatsAsStruct": "true"}
NOT_AS_JSON = {"delta.checkpoint.writeStatsAsJson": "false"}
STATS = {
    "numRecords": 3,
    "minValues": {"asset": "a", "quantity": 1.5, "is_available": False},
    "maxValues": {"asset": "z", "quantity": 9, "is_available": True},
    "nullCount": {"asset": 0, "quantity": 1, "is_available": 2},
}


def appendix_log(**configuration: str) -> LogBuilder:
    values = {"date": "2024-02-29", "region": ""}
    return LogBuilder().start(
        add("a", partitionValues=values, stats=json.dumps(STATS)),
        add("b", partitionValues={"date": None, "region": "eu"}),
        schemaString=APPENDIX,
        partitionColumns=["date", "region"],
        configuration=configuration,
    )


def read_rows(builder: LogBuilder, name: str = checkpoint_name(0)) -> pa.Table:
    return pq.read_table(io.BytesIO(builder.store.log_files[name]))


def adds_of(table: pa.Table) -> dict[str, dict[str, Any]]:
    rows = table["add"].drop_null().to_pylist(maps_as_pydicts="strict")
    return {row["path"]: row for row in rows}


def hint_of(log: LogBuilder) -> dict[str, Any]:
    hint: dict[str, Any] = json.loads(log.store.log_files[HINT])
    return hint


class NotingStore(MemoryTableStore):
    """Notes what becomes visible, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.put_names: list[str] = []

    def put(self, name: str, data: bytes) -> None:
        self.put_names.append(name)
        super().put(name, data)

    def update(self, name: str, change: Callable[[bytes | None], bytes | None]) -> None:
        self.put_names.append(name)
        super().update(name, change)
