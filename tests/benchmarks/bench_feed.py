"""Change data feeds: `python -m tests.benchmarks feed`.

1,000 versions of 1,000 inserted rows each, by processor time, beside deltalake's
`load_cdf` in turn.
"""

import gc
import statistics
import tempfile
import time
from collections.abc import Callable

import deltalake
import pyarrow as pa

from deltaweb.table import DeltaTable

VERSIONS = 1_000
ROWS = 1_000
ROUNDS = 5
GOAL = 0.7


def main() -> None:
    """Measure, and print one line."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        _write(folder)
        pairs = [(_spent(_ours, folder), _spent(_peer, folder)) for _ in range(ROUNDS)]
    ratio = statistics.median(ours / peer for ours, peer in pairs)
    verdict = "ok  " if ratio <= GOAL else "MISS"
    print(f"{verdict} {VERSIONS:,} versions  {ratio:.2f}x load_cdf  goal {GOAL:g}")


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
