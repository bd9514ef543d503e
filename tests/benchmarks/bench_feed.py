"""Change data feeds: `python -m tests.benchmarks feed`.

1,000 versions of 1,000 inserted rows each, by processor time, beside deltalake's
`load_cdf` in turn. Then two versions of 1,000,000 rows of which 50 differ are compared
by the feed, and by the files of both.
"""

import gc
import statistics
import tempfile
import time
from collections.abc import Callable

import deltalake
import pyarrow as pa

from deltaweb.delta.changes import RowDiffRequest, SnapshotDiff
from deltaweb.table import DeltaTable

VERSIONS = 1_000
ROWS = 1_000
ROUNDS = 5
GOAL = 0.7
COMPARED_ROWS = 1_000_000
CHANGED_ROWS = 50
COMPARED_ROUNDS = 3
COMPARED_GOAL = 0.1


def main() -> None:
    """Measure, and print two lines."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        _write(folder)
        pairs = [(_spent(_ours, folder), _spent(_peer, folder)) for _ in range(ROUNDS)]
    ratio = statistics.median(ours / peer for ours, peer in pairs)
    verdict = "ok  " if ratio <= GOAL else "MISS"
    print(f"{verdict} {VERSIONS:,} versions  {ratio:.2f}x load_cdf  goal {GOAL:g}")
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        _compare(folder)


def _write(folder: str) -> None:
    for number in range(VERSIONS):
        first = number * ROWS
        rows = pa.table(
            {
                "id": pa.array(range(first, first + ROWS), pa.int64()),
                "amount": [n / 8 for n in range(ROWS)],
                "text": [f"text {n % 50}" for n in range(ROWS)],
            }
        )
        properties = None if number else {"delta.enableChangeDataFeed": "true"}
        deltalake.write_deltalake(folder, rows, mode="append", configuration=properties)


def _ours(folder: str) -> int:
    return sum(batch.num_rows for batch in DeltaTable(folder).changes())


def _peer(folder: str) -> int:
    rows = pa.table(deltalake.DeltaTable(folder).load_cdf(0).read_all())
    return len(rows)


def _spent(read: Callable[[str], int], folder: str) -> float:
    gc.collect()
    began_s = time.process_time()
    num_rows = read(folder)
    spent_s = time.process_time() - began_s
    if num_rows != VERSIONS * ROWS:
        raise SystemExit(num_rows)
    return spent_s


def _compare(folder: str) -> None:
    numbers = pa.array(range(COMPARED_ROWS), pa.int64())
    deltalake.write_deltalake(
        folder,
        pa.table({"id": numbers, "amount": numbers}),
        configuration={"delta.enableChangeDataFeed": "true"},
    )
    step = COMPARED_ROWS // CHANGED_ROWS
    deltalake.DeltaTable(folder).update(
        updates={"amount": "amount + 1"}, predicate=f"id % {step} = 0"
    )
    pairs = [
        (
            _spent_comparing(folder, by_feed=True),
            _spent_comparing(folder, by_feed=False),
        )
        for _ in range(COMPARED_ROUNDS)
    ]
    ratio = statistics.median(feed / files for feed, files in pairs)
    verdict = "ok  " if ratio <= COMPARED_GOAL else "MISS"
    print(
        f"{verdict} {CHANGED_ROWS} of {COMPARED_ROWS:,} rows compared by the feed "
        f" {ratio:.3f}x the files of both  goal {COMPARED_GOAL:g}"
    )


def _spent_comparing(folder: str, *, by_feed: bool) -> float:
    table = DeltaTable(folder)
    diff = table.compare(0, 1)
    if not by_feed:
        before, after = table.snapshot(0), table.snapshot(1)
        diff = SnapshotDiff(table.store, before, after)
    gc.collect()
    began_s = time.process_time()
    found = diff.rows(RowDiffRequest(key=["id"]))
    spent_s = time.process_time() - began_s
    if (found.updated, found.num_files_read) != (CHANGED_ROWS, 1 if by_feed else 2):
        raise SystemExit(found)
    return spent_s
