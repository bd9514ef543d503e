"""A table of orders whose versions are compared, and what its pages answer."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from apps.jobs.models import Job
from apps.tables.work.diff_files import DIFF_FILES
from apps.tables.work.diff_rows import DIFF_ROWS
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.storage.place import open_store
from tests.support.tables.versioned_table import Row, VersionedTable

COMPARE = "/t/default/orders/compare"
HTMX = {"HX-Request": "true"}
RUN: dict[str, Callable[..., None]] = {
    "tables.diff_files": DIFF_FILES.work,
    "tables.diff_rows": DIFF_ROWS.work,
}
LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
NARROW = StructType(
    parse_columns_ddl("order_id BIGINT, status STRING, amount DECIMAL(10, 2)")
)
WIDE = StructType(
    (*NARROW.fields, StructField("channel", STRING, metadata={"comment": "Where"}))
)


def orders(start: int, stop: int, **more: object) -> list[Row]:
    return [
        {"order_id": n, "status": "paid", "amount": Decimal(n) / 4, **more}
        for n in range(start, stop)
    ]


def write_orders(folder: Path) -> VersionedTable:
    """Write five versions: load, widen and append, merge, compact, delete."""
    table = VersionedTable(open_store(str(folder), None))
    table.commit(
        metadata=table.define(NARROW), add={"a": orders(0, 50), "b": orders(50, 100)}
    )
    table.commit(
        metadata=table.define(WIDE, {"delta.appendOnly": "false"}),
        add={"c": orders(100, 120, channel="web")},
    )
    merged = [
        {**row, "status": "shipped", "channel": "app"} if number < 5 else row
        for number, row in enumerate(orders(0, 48))
    ]
    table.commit(
        remove=["a"],
        add={"a": merged},
        operation="MERGE",
        parameters={"predicate": "(t.order_id = s.order_id)"},
    )
    table.commit(
        remove=["b", "c"],
        add={"bc": orders(50, 100) + orders(100, 120, channel="web")},
        data_change=False,
        operation="OPTIMIZE",
    )
    table.commit(remove=["a"], operation="DELETE")
    return table


def work() -> None:
    """Do what waits, as a worker does."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        RUN[job.kind](job_id=str(job.id))
