"""Processor time of a benchmark with all that it has started, Spark's JVM as well."""

import os
import time
from contextlib import suppress
from pathlib import Path

from pyspark import SparkContext


def cpu_seconds() -> float:
    """Return what this process, the JVM and its Python workers have used."""
    gateway = SparkContext._gateway  # noqa: SLF001 (no public way)
    if gateway is None:
        return time.process_time()
    ticks = sum(_ticks(pid) for pid in _descendants(gateway.proc.pid))
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    """Return what a process and its ended children have used."""
    with suppress(OSError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        return sum(int(field) for field in stat.split()[11:15])
    return 0


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in children.read_text(encoding="ascii").split():
                found += _descendants(int(child))
    return found
