"""Tables of many small files, and rows, for the benchmarks of writing."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.protocol.schema import arrow_schema, parse_schema
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.transaction import ADDED_FILES, Transaction
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import SCHEMA, write_checkpointed_log

SMALL_SCHEMA = pa.schema(
    [("id", pa.int64()), ("x", pa.float64()), ("name", pa.string())]
)
ROWS_A_FILE = 10
LOG_FILES = 100_000


def small_rows(first: int, count: int) -> pa.Table:
    """Rows of `SMALL_SCHEMA`, numbered from one on."""
    ids = np.arange(first, first + count)
    names = [f"name {number % 97}" for number in range(count)]
    return pa.table([ids, ids / 4, names], schema=SMALL_SCHEMA)


def wide_rows(count: int) -> pa.Table:
    """Rows of ten columns of many kinds."""
    random = np.random.default_rng(1)
    numbers = pa.array(np.arange(count))
    cents = random.integers(0, 10**7, count)
    columns = {
        "id": numbers,
        "user": pa.array(random.integers(0, 50_000, count)),
        "quantity": pa.array(random.integers(0, 90, count).astype(np.int32)),
        "price": pa.array(cents / 100),
        "share": pa.array(random.random(count)),
        "is_new": pa.array(random.random(count) < 0.1),  # a share
        "at": pa.array(np.arange(count) * 1_000 + 1_700_000_000_000_000).cast(
            pa.timestamp("us", "UTC")
        ),
        "day": pa.array((np.arange(count) // 50_000).astype(np.int32)).cast(
            pa.date32()
        ),
        "country": pa.array(np.array(["DE", "FR", "PL", "SE"])[cents % 4]),
        "name": pa.array(
            np.char.add("customer ", random.integers(0, 10**6, count).astype("U7"))
        ),
    }
    return pa.table(columns)


def log_rows() -> pa.Table:
    """A few rows of the tables of `write_checkpointed_log`."""
    row = {
        "id": 1, "ts": datetime(2026, 1, 1, tzinfo=UTC), "day": date(2026, 1, 1),
        "user_id": 2, "event": "click", "amount": 1.5, "price": Decimal("2.50"),
        "quantity": 3, "name": "n", "session_id": "s",
        "event_date": date(2026, 1, 1), "country": "DE",
    }  # fmt: skip
    schema = arrow_schema(parse_schema(json.dumps(SCHEMA)))
    return pa.Table.from_pylist([row] * 10, schema=schema)


def write_log(folder: Path) -> None:
    """Write the log of a table of many files, none of which is there."""
    write_checkpointed_log(folder, files=LOG_FILES, adds=100, removes=50)
    while (DeltaTable(str(folder)).latest_version() + 1) % 10 == 0:
        DeltaTable(str(folder)).append(log_rows())  # so that no checkpoint is due


def write_empty(folder: Path) -> None:
    """Make a table without rows."""
    DeltaTable.create(str(folder), SMALL_SCHEMA)


def write_small_files(folder: Path, count: int = 10_000) -> None:
    """Make a table of many files of ten rows, whose ids follow one another."""
    write_empty(folder)
    for number in range(count):
        rows = small_rows(number * ROWS_A_FILE, ROWS_A_FILE)
        pq.write_table(rows, folder / f"{number}.parquet", compression="snappy")
    commit_files(folder, many_files(count, folder))
    DeltaTable(str(folder)).create_checkpoint()


def many_files(count: int, folder: Path | None = None) -> pa.Table:
    """Files to add, as transactions have them."""
    files: list[tuple[str, int, int, list[object], str]] = []
    for number in range(count):
        path = f"{number}.parquet"
        low = number * ROWS_A_FILE
        high = low + ROWS_A_FILE - 1
        stats = {
            "numRecords": ROWS_A_FILE,
            "minValues": {"id": low, "x": low / 4},
            "maxValues": {"id": high, "x": high / 4},
            "nullCount": {"id": 0, "x": 0, "name": 0},
        }
        size = 1000 if folder is None else (folder / path).stat().st_size
        files.append((path, size, 0, [], json.dumps(stats)))
    columns = [list(column) for column in zip(*files, strict=True)]
    return pa.table(columns, schema=ADDED_FILES)


def commit_files(folder: Path, files: pa.Table) -> None:
    """Commit files that are there."""
    table = DeltaTable(str(folder))
    transaction = Transaction(
        base=table.definition(), operation="WRITE", added=files, are_files_new=False
    )
    commit(table.store, transaction)
