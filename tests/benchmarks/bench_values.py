"""The value list of a page: `python -m tests.benchmarks values`.

A table of 100,000 files with two partition columns; the values of both and the number
of rows are counted from the index alone, as the page *Data* does it. Besides, rows are
written as XLSX.
"""

import os
import statistics
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.exports.xlsx import write_xlsx
from deltaweb.index.files.source import load_source
from deltaweb.index.query.indexed_block import map_blocks
from deltaweb.index.query.indexed_part import IndexedPart
from deltaweb.index.query.questions import Question
from deltaweb.index.query.value_counts import count_rows, count_values, matching_files
from tests.benchmarks.logs import write_checkpointed_log
from tests.benchmarks.measured import seconds_of
from tests.support.index.index_builds import build_index

HOME_VARIABLE = "DELTAWEB_BENCH_HOME"
FILES = 100_000
ROUNDS = 9
GOAL_MS = 100.0
CONDITIONS = {
    "without a condition": "",
    "by partitions": "event_date >= '2025-10-01'",
    "by statistics": "id < 4510000",
}
SHEET_ROWS = 100_000
SHEET_GOAL = 20_000  # cells a second


def main() -> None:
    """Make the log and its index, and print each time beside its goal."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        home = Path(os.environ.get(HOME_VARIABLE) or temporary)
        log = home / f"{FILES}-files"
        if not log.exists():
            write_checkpointed_log(log, files=FILES, adds=100, removes=50)
        index = Path(temporary) / "index"
        build_index(str(log), None, index)
        are_met = [
            *(_measure_values(index, name, sql) for name, sql in CONDITIONS.items()),
            _measure_sheet(Path(temporary)),
        ]
    if not all(are_met):
        raise SystemExit(1)


def _measure_values(index: Path, name: str, sql: str) -> bool:
    taken = [seconds_of(partial(_values, index, sql)) for _ in range(ROUNDS)]
    ours_ms = statistics.median(taken[1:]) * 1000
    is_met = ours_ms < GOAL_MS
    verdict = "ok  " if is_met else "MISS"
    what = f"value lists of {FILES:,} files, {name}"
    print(f"{verdict} {what:52} {ours_ms:8.1f} ms  goal {GOAL_MS:.0f} ms", flush=True)
    return is_met


def _values(index: Path, sql: str) -> int:
    """Count rows, and the values of both partition columns, as the page does."""
    source = load_source(index)
    parts = [IndexedPart(block) for block in map_blocks(index, source)]
    schema = table_schema(source.protocol, source.metadata)
    question = Question(sql, schema, source.metadata) if sql else None
    live = [(part, np.ones(part.num_rows, np.bool_)) for part in parts]
    found = matching_files(question, live)
    num_values = 0
    for column in source.metadata.partition_columns:
        field = schema.find(column)
        num_values += count_values(found, field).values.num_rows if field else 0
    if not count_rows(found) or num_values <= 1:
        message = f"not the values that were meant: {num_values}"
        raise SystemExit(message)
    return num_values


def _measure_sheet(folder: Path) -> bool:
    rows = pa.table(
        {
            "id": np.arange(SHEET_ROWS),
            "amount": np.arange(SHEET_ROWS) / 7,
            "country": ["DE", "FR", "IT", "SE"] * (SHEET_ROWS // 4),
            "note": ["left with the neighbour"] * SHEET_ROWS,
            "day": pa.array(np.arange(SHEET_ROWS) % 20_000, pa.int32()).cast("date32"),
        }
    )
    taken_s = seconds_of(partial(write_xlsx, folder / "rows.xlsx", rows))
    cells_a_second = SHEET_ROWS * rows.num_columns / taken_s
    is_met = cells_a_second > SHEET_GOAL
    verdict = "ok  " if is_met else "MISS"
    what = f"XLSX of {SHEET_ROWS:,} rows of 5 columns"
    print(
        f"{verdict} {what:52} {cells_a_second:8,.0f} cells/s  goal {SHEET_GOAL:,}",
        flush=True,
    )
    return is_met
