"""How time and memory grow with a log: measured points, and a plot of them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import plotly.graph_objects as go
from plotly.subplots import make_subplots
from pyspark.sql import SparkSession

from tests.benchmarks.measured import peak_bytes

FOLDER_VARIABLE: Final = "DELTAWEB_BENCH_PLOTS"
FOLDER: Final = Path("build/benchmarks")
BAR_WIDTH: Final = 40
MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Point:
    """What the replay of a log of some size took.

    Attributes:
        files: Live files of the log.
        seconds: Wall time, the median of the rounds.
        python_mib: By how much the driver's Python process grew at its peak.
        heap_mib: By how much what the driver's JVM holds grew.
    """

    files: int
    seconds: float
    python_mib: float
    heap_mib: float


@dataclass(slots=True)
class DriverMemory:
    """Growth of the driver while something was done, in MiB."""

    python_mib: float = 0
    heap_mib: float = 0


@contextmanager
def driver_memory(spark: SparkSession) -> Iterator[DriverMemory]:
    """Measure by how much the driver grows in the block; known at its end."""
    grown = DriverMemory()
    heap = _held_bytes(spark)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # a new peak
    python = peak_bytes()
    yield grown
    grown.python_mib = (peak_bytes() - python) / MEBIBYTE
    grown.heap_mib = (_held_bytes(spark) - heap) / MEBIBYTE


def _held_bytes(spark: SparkSession) -> int:
    """Return what the driver's JVM holds after collecting garbage."""
    jvm = spark.sparkContext._jvm  # noqa: SLF001 (no public way)
    assert jvm is not None
    runtime = jvm.java.lang.Runtime.getRuntime()
    runtime.gc()
    return int(runtime.totalMemory() - runtime.freeMemory())


# === The plot ===


def show(points: Sequence[Point]) -> Path:
    """Print the points with bars, and write a page that needs no network; its path."""
    longest = max(point.seconds for point in points)
    print("       files   seconds  of linear   Python MiB   heap MiB")
    for point in points:
        linear = points[0].seconds * point.files / points[0].files
        bar = "#" * max(1, round(BAR_WIDTH * point.seconds / longest))
        print(
            f"{point.files:12,} {point.seconds:9.2f} {point.seconds / linear:9.2f}x"
            f" {point.python_mib:12.0f} {point.heap_mib:10.0f}   {bar}"
        )
    folder = Path(os.environ.get(FOLDER_VARIABLE) or FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "growth.html"
    _figure(points).write_html(page, include_plotlyjs=True)
    print(f"plotted in {page}", flush=True)
    return page


def _figure(points: Sequence[Point]) -> go.Figure:
    files = [point.files for point in points]
    seconds = [point.seconds for point in points]
    linear = [seconds[0] * count / files[0] for count in files]
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        subplot_titles=("Time of a replay", "Growth of the driver's memory"),
    )
    time = {"row": 1, "col": 1}
    figure.add_scatter(x=files, y=seconds, name="measured", **time)
    dashes = {"dash": "dash"}
    figure.add_scatter(x=files, y=linear, name="linear", line=dashes, **time)
    memory = {"row": 2, "col": 1}
    python = [point.python_mib for point in points]
    figure.add_scatter(x=files, y=python, name="Python, peak", **memory)
    heap = [point.heap_mib for point in points]
    figure.add_scatter(x=files, y=heap, name="JVM, held", **memory)
    figure.update_xaxes(type="log", title_text="live files", row=2, col=1)
    figure.update_xaxes(type="log", row=1, col=1)
    figure.update_yaxes(type="log", title_text="seconds", row=1, col=1)
    figure.update_yaxes(title_text="MiB", rangemode="tozero", row=2, col=1)
    figure.update_layout(title="Replay on Spark", height=800)
    return figure
