"""Footers of Parquet files: `python -m tests.benchmarks parquet`.

Beside pyarrow's reading of metadata, in turn, by processor time; then 100,000 changed
footers, in a process whose memory is bounded, and the rows of 100,000 files with
changed pages, in as many processes as there are processors: each is read, is a clean
error, or ends the process that reads it, which a preview tells as an error.
"""

import gc
import io
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.loading import ParquetFooter, load_footer
from deltaweb.parquet.tail import open_source
from tests.support.files.merged_schemas import merge_schemas
from tests.support.files.mutated_footers import judge, mutated_files, seed_files
from tests.support.files.mutated_pages import judge_pages

ROUNDS = 15
WIDE_GOAL = 3.0
USUAL_GOAL_MS = 5.0
FILES = 1_000
FILES_GOAL = 300.0
FUZZED = 100_000
FUZZ_SEED = 20_261
FUZZ_BYTES = 1 << 30
SLOWEST_GOAL_S = 2.0


def main() -> None:
    """Measure, and print a line for each goal."""
    wide = _file(columns=2_000, row_groups=1)
    ours, theirs = _in_turn(
        lambda: load_footer(pa.BufferReader(wide)),
        lambda: pq.read_metadata(pa.BufferReader(wide)),
    )
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    _print(f"{ratio:.2f}x pyarrow", ratio < WIDE_GOAL, "2,000 columns", WIDE_GOAL)
    usual = _file(columns=30, row_groups=10)
    ours, _ = _in_turn(
        lambda: load_footer(pa.BufferReader(usual)),
        lambda: pq.read_metadata(pa.BufferReader(usual)),
    )
    spent_ms = statistics.median(ours) * 1_000
    name = "30 columns, 10 row groups"
    _print(f"{spent_ms:.2f} ms", spent_ms < USUAL_GOAL_MS, name, USUAL_GOAL_MS)
    rate = _files_per_second(usual)
    _print(f"{rate:,.0f} files/s", rate >= FILES_GOAL, "1,000 schemas", FILES_GOAL)
    subprocess.run([sys.executable, "-m", __name__, "fuzz"], check=True)
    _fuzz_pages()


def _file(*, columns: int, row_groups: int) -> bytes:
    numbers = list(range(2 * row_groups))
    texts = [f"value {number}" for number in numbers]
    table = pa.table({f"c{n}": texts if n % 2 else numbers for n in range(columns)})
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=2)
    return sink.getvalue()


def _in_turn(ours: Callable[[], object], theirs: Callable[[], object]):
    """Call both in turn; the first round warms up and does not count."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS + 1):
        for kept, call in zip(spent, (ours, theirs), strict=True):
            gc.collect()
            began_s = time.process_time()
            result = call()
            kept.append(time.process_time() - began_s)
            del result
    return spent[0][1:], spent[1][1:]


def _files_per_second(data: bytes) -> float:
    """Return how many local files a second become one schema, on one core."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        paths = [Path(folder) / f"{number}.parquet" for number in range(FILES)]
        for path in paths:
            path.write_bytes(data)
        began_s = time.process_time()
        merged = merge_schemas((path.name, _footer(path)) for path in paths)
        spent_s = time.process_time() - began_s
    if merged.strict is None:
        raise SystemExit(str(merged.problems[0]))
    return FILES / spent_s


def _footer(path: Path) -> ParquetFooter:
    with open_source(path) as source:
        return load_footer(source)


def _fuzz() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (FUZZ_BYTES, FUZZ_BYTES))
    verdict = judge(mutated_files(seed_files(), FUZZ_SEED, FUZZED))
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    for error, _ in verdict.faults[:20]:
        print(f"FAULT {error}")
    shown = (
        f"{verdict.read:,} read, {verdict.refused:,} refused, "
        f"{len(verdict.faults):,} faults, {peak_mib} MiB, slowest"
        f" {verdict.slowest_s * 1_000:.0f} ms"
    )
    is_clean = not verdict.faults and verdict.slowest_s < SLOWEST_GOAL_S
    _print(shown, is_clean, f"{FUZZED:,} changed footers", 0)


def _fuzz_pages() -> None:
    """Read changed pages, a share of them by each processor and from its own seed."""
    shares = os.cpu_count() or 1
    with ThreadPoolExecutor(shares) as pool:
        seeds = range(FUZZ_SEED, FUZZ_SEED + shares)
        verdicts = list(
            pool.map(lambda seed: judge_pages(seed, FUZZED // shares), seeds)
        )
    faults = [fault for verdict in verdicts for fault in verdict.faults]
    for fault in faults[:20]:
        print(f"FAULT {fault}")
    ended = sum((Counter(verdict.ended) for verdict in verdicts), Counter[str]())
    after = sum(verdict.after_others for verdict in verdicts)
    shown = (
        f"{sum(verdict.read for verdict in verdicts):,} read, "
        f"{sum(verdict.refused for verdict in verdicts):,} refused, "
        f"ended their reader: {dict(ended) or 'none'}, one after others: {after}, "
        f"{len(faults):,} faults"
    )
    is_clean = not faults and not ended["hung"]
    _print(shown, is_clean, f"{FUZZED:,} changed pages", 0)


def _print(shown: str, is_met: bool, what: str, goal: float) -> None:  # noqa: FBT001
    verdict = "ok  " if is_met else "MISS"
    print(f"{verdict} {what:28} {shown}  goal {goal:g}", flush=True)


if __name__ == "__main__":
    _fuzz()
