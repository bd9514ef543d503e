"""What benchmarks measure by, and how they say it."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one run: of the clock, and of all processors that took part."""

    wall: float
    cpu: float


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds of the clock that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def cpu_seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds of processor time that a call takes in this process."""
    start = time.process_time()
    call()
    return time.process_time() - start


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def resident_bytes() -> int:
    """Return the resident memory of this process, pages of mapped files included."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def print_ratio(what: str, ratio: float, goal: float, note: str) -> None:
    """Print what was measured, and whether it reached its goal."""
    verdict = "ok  " if ratio <= goal else "MISS"
    print(f"{verdict} {what:28} {ratio:7.4f}x  goal {goal}x  {note}", flush=True)
