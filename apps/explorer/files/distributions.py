"""How the files of a version are spread: by rows, and by the time they were written."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.version.listed import Kept, ListedFiles
from apps.pages.page_json import Named
from apps.tables.index.rows import LAST_MS
from deltaweb.words import bytes_text

MAX_POINTS: Final = 5_000
MAX_BINS: Final = 14
GRID_TIMES: Final = 48
MAX_KEPT: Final = 16
HOUR_MS: Final = 3_600_000
DAY_MS: Final = 86_400_000

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Counts of files by a number of theirs.

    Attributes:
        edges: n + 1 edges, increasing; bin i covers edge i to below edge i + 1.
        counts: The number of files in each of the n bins.
        num_without: Files without the number.
    """

    edges: tuple[int, ...]
    counts: tuple[int, ...]
    num_without: Annotated[int, Named("files_without_statistics")]

    def labels(self, unit: str) -> list[str]:
        """Say each bin in words."""
        return [
            f"{low:,} {unit}" if high == low + 1 else f"{low:,} to {high - 1:,} {unit}"
            for low, high in pairwise(self.edges)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgeGrid:
    """Counts of files by time and size.

    Attributes:
        times: Label of each column: when it begins, in UTC.
        sizes: Label of each row, the smallest first.
    """

    times: tuple[str, ...]
    sizes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAges:
    """When files were written, and how large they are.

    Attributes:
        modified_at: ISO 8601 in UTC without a zone, a text a file; empty with `grid`.
        size_bytes: Row for row with `modified_at`.
        paths: Row for row with `modified_at`.
        grid: The same as counts, where files are too many for points.
    """

    num_files: int
    modified_at: tuple[str, ...] = ()
    size_bytes: tuple[int, ...] = ()
    paths: tuple[str, ...] = ()
    grid: AgeGrid | None = None

    def describe(self) -> dict[str, object]:
        """Return the spread as the JSON form shows it."""
        if self.grid is None:
            return {
                "points": [
                    {"modified_at": f"{when}Z", "size": size}
                    for when, size in zip(
                        self.modified_at, self.size_bytes, strict=True
                    )
                ]
            }
        return {
            "times": [f"{when}Z" for when in self.grid.times],
            "sizes": self.grid.sizes,
            "counts": self.grid.counts,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSpread:
    """How files are spread; a part is None where nothing is known."""

    rows: Annotated[Histogram | None, Named("rows_per_file")]
    ages: Annotated[FileAges | None, Named("size_by_age")]


_kept: Kept[FileSpread] = Kept(MAX_KEPT)


def file_spread(listed: ListedFiles) -> FileSpread:
    """Return how the files of a version are spread, kept for the next page."""
    return _kept.get(
        listed.source,
        lambda: FileSpread(
            rows=rows_histogram(listed.files), ages=file_ages(listed.files)
        ),
    )


def rows_histogram(files: pa.Table) -> Histogram | None:
    """Count files by their rows; None where no file tells."""
    if "num_records" not in files.column_names:
        return None
    known = files["num_records"].drop_null()
    if not len(known):
        return None
    values = np.maximum(known.to_numpy(), 0)
    edges = _edges(int(values.min()), int(values.max()))
    # The last edge may be more than a long: where each bin begins is enough.
    starts = np.array(edges[:-1], dtype=np.int64)
    places = np.searchsorted(starts, values, side="right") - 1
    counts = np.bincount(places, minlength=len(starts))
    return Histogram(
        edges=tuple(edges),
        counts=tuple(counts.tolist()),
        num_without=files.num_rows - len(known),
    )


def file_ages(files: pa.Table) -> FileAges | None:
    """Return sizes by time, as points or, for very many, as a grid of counts."""
    if not files.num_rows:
        return None
    times = np.clip(pc.fill_null(files["modification_time"], 0).to_numpy(), 0, LAST_MS)
    sizes = np.maximum(pc.fill_null(files["size"], 0).to_numpy(), 0)
    if files.num_rows > MAX_POINTS:
        return FileAges(num_files=files.num_rows, grid=_age_grid(times, sizes))
    order = np.argsort(-times, kind="stable")
    return FileAges(
        num_files=files.num_rows,
        modified_at=tuple(_iso(value) for value in times[order].tolist()),
        size_bytes=tuple(sizes[order].tolist()),
        paths=tuple(files["path"].take(pa.array(order)).to_pylist()),
    )


def _age_grid(times: Longs, sizes: Longs) -> AgeGrid:
    first, last = int(times.min()), int(times.max())
    step = _time_step(last - first)
    first -= first % step
    columns = (times - first) // step
    num_times = int(columns.max()) + 1
    exponents = np.floor(np.log2(np.maximum(sizes, 1))).astype(np.int64)
    low = int(exponents.min())
    num_sizes = int(exponents.max()) - low + 1
    counts = np.bincount(
        (exponents - low) * num_times + columns, minlength=num_sizes * num_times
    ).reshape(num_sizes, num_times)
    return AgeGrid(
        times=tuple(_iso(first + step * number) for number in range(num_times)),
        sizes=tuple(bytes_text(2 ** (low + number)) for number in range(num_sizes)),
        counts=tuple(map(tuple, counts.tolist())),
    )


def _time_step(span_ms: int) -> int:
    """Return a step that cuts a span into at most `GRID_TIMES` pieces."""
    steps = (
        *(60_000 * minutes for minutes in (1, 5, 15, 30)),
        *(HOUR_MS * hours for hours in (1, 3, 6, 12)),
        *(DAY_MS * days for days in (1, 2, 7, 14, 30, 90, 180, 365)),
    )
    for step in steps:
        if span_ms // step + 2 <= GRID_TIMES:
            return step
    return DAY_MS * math.ceil(span_ms / DAY_MS / (GRID_TIMES - 2))


def _edges(smallest: int, largest: int) -> list[int]:
    """Return edges at powers of two, `MAX_BINS` bins at most; the first may be 0."""
    low = max(smallest, 1).bit_length() - 1
    high = max(largest, 1).bit_length()
    step = max(math.ceil((high - low) / MAX_BINS), 1)
    exponents = list(range(low, high, step))
    edges = [2**exponent for exponent in (*exponents, exponents[-1] + step)]
    return [0, *edges] if smallest == 0 else edges


def _iso(value_ms: int) -> str:
    return datetime.fromtimestamp(value_ms // 1000, tz=UTC).isoformat()[:19]
