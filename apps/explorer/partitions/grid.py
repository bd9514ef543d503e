"""Partitions of one or two keys as a grid: days as a calendar, else key by key."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

MAX_ACROSS: Final = 120
MAX_DOWN: Final = 40
MAX_WEEKS: Final = 56  # a calendar of weeks; more is one of months
MAX_MONTHS: Final = 120
_DAY: Final = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NO_VALUE: Final = "no value"  # as people read it; a text may be null
OTHERS: Final = "others"

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionGrid:
    """Bytes by two labels.

    Attributes:
        down: Labels of the rows, the topmost first.
        size_bytes: A row a label of `down`; None where there is no partition.
        num_files: Files of the same places.
        note: What was put together or left out.
    """

    across: tuple[str, ...]
    down: tuple[str, ...]
    size_bytes: tuple[tuple[int | None, ...], ...]
    num_files: tuple[tuple[int, ...], ...]
    caption: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Axis:
    """Labels, and which of them each partition has; -1 for none."""

    labels: tuple[str, ...]
    codes: Codes
    note: str = ""


def partition_grid(totals: pa.Table, columns: Sequence[str]) -> PartitionGrid | None:
    """Return the grid of partitions; None where a grid does not show them.

    Args:
        totals: By `selectors.partitions.partition_totals`.
    """
    if not totals.num_rows:
        return None
    if len(columns) == 1:
        return _calendar(totals, columns[0]) if _are_days(totals["key_0"]) else None
    if len(columns) != 2:  # noqa: PLR2004 (a picture has two sides)
        return None
    keys = [totals["key_0"], totals["key_1"]]
    counts = [pc.count_distinct(key, mode="all").as_py() for key in keys]
    days = [_are_days(key) for key in keys]
    turned = (days[1], counts[1]) > (days[0], counts[0])
    first, second = (1, 0) if turned else (0, 1)
    across = _axis(totals, first, MAX_ACROSS)
    down = _axis(totals, second, MAX_DOWN)
    notes = [f"{columns[first]}: {across.note}"] if across.note else []
    notes += [f"{columns[second]}: {down.note}"] if down.note else []
    caption = f"{columns[second]} by {columns[first]}"
    return _grid(totals, across, down, caption, "; ".join(notes))


def _are_days(key: pa.ChunkedArray) -> bool:
    """Tell whether all values are days, but for null."""
    known = key.drop_null()
    return len(known) > 0 and bool(
        pc.all(pc.match_substring_regex(known, _DAY)).as_py()
    )


def _calendar(totals: pa.Table, column: str) -> PartitionGrid | None:
    texts = totals["key_0"].to_pylist()
    try:
        days = [None if text is None else date.fromisoformat(text) for text in texts]
    except ValueError:  # the 30th of February
        return None
    known = [day for day in days if day is not None]
    first, last = min(known), max(known)
    start = first - timedelta(days=first.weekday())
    num_weeks = (last - start).days // 7 + 1
    num_months = (last.year - first.year) * 12 + last.month - first.month + 1
    note = "partitions without a day are left out" if len(known) < len(days) else ""
    if num_weeks <= MAX_WEEKS:
        weeks = tuple(
            (start + timedelta(weeks=number)).isoformat() for number in range(num_weeks)
        )
        across = _Axis(weeks, _codes(days, lambda day: (day - start).days // 7))
        down = _Axis(WEEKDAYS, _codes(days, lambda day: day.weekday()))
        return _grid(totals, across, down, f"{column}: days by week", note)
    if num_months <= MAX_MONTHS:
        months = tuple(
            _month(first.year * 12 + first.month - 1 + number)
            for number in range(num_months)
        )
        across = _Axis(
            months,
            _codes(
                days,
                lambda day: (day.year - first.year) * 12 + day.month - first.month,
            ),
        )
        numbers = tuple(f"{number:02d}" for number in range(1, 32))
        down = _Axis(numbers, _codes(days, lambda day: day.day - 1))
        return _grid(totals, across, down, f"{column}: days by month", note)
    years = tuple(sorted({f"{day.year:04d}" for day in known}))[-MAX_DOWN * 2 :]
    places = {year: number for number, year in enumerate(years)}
    across = _Axis(
        tuple(f"{number:02d}" for number in range(1, 13)),
        _codes(days, lambda day: day.month - 1),
    )
    down = _Axis(years, _codes(days, lambda day: places.get(f"{day.year:04d}", -1)))
    return _grid(totals, across, down, f"{column}: months by year", note)


def _codes(days: Sequence[date | None], place: Callable[[date], int]) -> Codes:
    return np.array(
        [-1 if day is None else place(day) for day in days],
        dtype=np.int64,
    )


def _axis(totals: pa.Table, index: int, room: int) -> _Axis:
    """Return a key's values as labels, put together where there are too many."""
    key = pc.fill_null(totals[f"key_{index}"], NO_VALUE)
    note = ""
    if _are_days(totals[f"key_{index}"]):
        for length, words in ((10, ""), (7, "by month"), (4, "by year")):
            shorter = pc.if_else(
                pc.is_valid(totals[f"key_{index}"]),
                pc.utf8_slice_codeunits(key, 0, length),
                NO_VALUE,
            )
            note = words
            if pc.count_distinct(shorter).as_py() <= room:
                break
        key = shorter
    distinct = pc.unique(key)
    if len(distinct) > room:
        sums = pa.table([key, totals["bytes"]], names=["key", "bytes"])
        sums = sums.group_by("key").aggregate([("bytes", "sum")])
        largest = sums.sort_by([("bytes_sum", "descending")])["key"].slice(0, room - 1)
        kept = pc.is_in(key, value_set=largest.combine_chunks())
        key = pc.if_else(kept, key, OTHERS)
        note = f"the {room - 1} largest of {len(distinct):,}"
        distinct = pc.unique(key)
    special = {NO_VALUE: 1, OTHERS: 2}
    labels = sorted(distinct.to_pylist(), key=lambda text: (special.get(text, 0), text))
    codes = pc.index_in(key, value_set=pa.array(labels, pa.string()))
    return _Axis(tuple(labels), codes.to_numpy().astype(np.int64), note)


def _grid(
    totals: pa.Table, across: _Axis, down: _Axis, caption: str, note: str
) -> PartitionGrid:
    shape = (len(down.labels), len(across.labels))
    size_bytes = np.zeros(shape, dtype=np.int64)
    num_files = np.zeros(shape, dtype=np.int64)
    shown = (across.codes >= 0) & (down.codes >= 0)
    places = (down.codes[shown], across.codes[shown])
    np.add.at(size_bytes, places, totals["bytes"].to_numpy()[shown])
    np.add.at(num_files, places, totals["files"].to_numpy()[shown])
    return PartitionGrid(
        across=across.labels,
        down=down.labels,
        size_bytes=tuple(
            tuple(size if files else None for size, files in zip(*row, strict=True))
            for row in zip(size_bytes.tolist(), num_files.tolist(), strict=True)
        ),
        num_files=tuple(map(tuple, num_files.tolist())),
        caption=caption,
        note=note,
    )


def _month(number: int) -> str:
    return f"{number // 12:04d}-{number % 12 + 1:02d}"
