"""Days and times of files that Spark wrote in the old calendar.

Until its version 3.0 (3.1 for times of 96 bits), and later when it was told to, Spark
wrote days before 15 October 1582 in the Julian calendar. The footer says so. They are
brought to the Gregorian one, in which tables are: the same year, month and day.

An instant depends on the clocks of its writer's zone as well, which the footer names.
Where it does not, as before version 3.1, the zone is taken for UTC; Spark takes that
of the machine that reads. Times without a zone were never written so.

Source: Spark's "Parquet data source: rebasing", `org.apache.spark.legacyDateTime` and
`org.apache.spark.legacyINT96`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from deltaweb.delta.values.stored_columns import MismatchError
from deltaweb.delta.values.whole import as_lists

Longs = np.ndarray[Any, np.dtype[np.int64]]

GREGORIAN_START: Final = -141_427  # 15 October 1582, in days since 1970
CLOCKS_START_S: Final = -2_208_988_800  # 1 January 1900: from then on there is one time
DAY_S: Final = 86_400
EPOCH_JULIAN_DAY: Final = 2_440_588
UTC: Final = "UTC"
_GMT_OFFSET: Final = re.compile(r"GMT([+-])([0-9]{1,2})(?::?([0-5][0-9]))?")
_OFFSET: Final = re.compile(r"(?:UTC?)?[+-][0-9:]{1,8}|Z")


@dataclass(frozen=True, slots=True)
class OldClock:
    """How the clocks of a zone went.

    Attributes:
        offset_s: How far they are ahead of UTC in the old calendar, before 1900.
        starts_s: Moments since 1970 from which on another shift holds.
        shifts_s: What is added to an instant of the old calendar: before the first
            of these moments, and from each on.
    """

    offset_s: int
    starts_s: tuple[int, ...] = ()
    shifts_s: tuple[int, ...] = (0,)

    def instants(self, seconds: Longs) -> Longs:
        """Return instants of the old calendar as those of today's.

        Day of the month and time of the day stay what they are where the clocks were.

        Args:
            seconds: Since 1970.
        """
        days, rest = np.divmod(seconds + self.offset_s, DAY_S)
        at = np.searchsorted(np.array(self.starts_s, np.int64), seconds, side="right")
        shifts = np.array(self.shifts_s, np.int64)[at]
        return gregorian_days(days) * DAY_S + rest - self.offset_s + shifts


def find_clock(zone: str) -> OldClock | None:
    """Return how the clocks of a zone went, by the name that a file has of it.

    Offsets are read as Java's old calendar reads them: after `GMT` they are ones, by
    themselves nothing, which is UTC.

    Returns:
        None of a zone that is not known.
    """
    found = _clocks().get(zone)
    if found is not None:
        return found
    if offset := _GMT_OFFSET.fullmatch(zone):
        sign, hours, minutes = offset.groups(default="0")
        seconds = int(hours) * 3_600 + int(minutes) * 60
        return OldClock(-seconds if sign == "-" else seconds)
    return OldClock(0) if _OFFSET.fullmatch(zone) else None


@cache
def _clocks() -> Mapping[str, OldClock]:
    found: dict[str, OldClock] = {}
    clock = OldClock(0)
    table = Path(__file__).with_name("clocks.txt")
    for word in table.read_text(encoding="ascii").split():
        if word[0] in "+-":
            offset, *figures = map(int, word.split("/"))
            clock = OldClock(offset, tuple(figures[1::2]), tuple(figures[::2]))
        else:
            found[word] = clock
    return found


def gregorian_days(days: Longs) -> Longs:
    """Return days of the hybrid calendar as those of the Gregorian one.

    Args:
        days: Since 1970; before 15 October 1582 they are Julian.
    """
    is_old = days < GREGORIAN_START
    if not is_old.any():
        return days
    # Richards, "Explanatory Supplement to the Astronomical Almanac", 15.11.
    old = days[is_old] + EPOCH_JULIAN_DAY + 32_082
    years = (4 * old + 3) // 1_461
    of_year = old - 1_461 * years // 4
    months = (5 * of_year + 2) // 153
    day = of_year - (153 * months + 2) // 5 + 1
    found = days.copy()
    found[is_old] = (
        day
        + (153 * months + 2) // 5
        + 365 * years
        + years // 4
        - years // 100
        + years // 400
        - 32_045
        - EPOCH_JULIAN_DAY
    )
    return found


Leaves = frozenset[tuple[str, int]]
"""Leaf columns of a file: each by its column, and its number in that."""

VERSION: Final = b"org.apache.spark.version"
LEGACY_DAYS: Final = b"org.apache.spark.legacyDateTime"
LEGACY_INT96: Final = b"org.apache.spark.legacyINT96"
ZONE: Final = b"org.apache.spark.timeZone"
FIRST_VERSION: Final = b"3.0.0"
FIRST_INT96_VERSION: Final = b"3.1.0"
INT96: Final = "INT96"
_UNITS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class OldCalendar:
    """What of a file is in the old calendar.

    Attributes:
        has_days: Whether its days are, and its instants that are not of 96 bits.
        has_int96: Whether its instants of 96 bits are.
        zone: The zone of its writer, as the footer has it; UTC for none.
    """

    has_days: bool
    has_int96: bool
    zone: str
    int96: Leaves

    @classmethod
    def of(
        cls, keys: Mapping[bytes, bytes] | None, find_int96: Callable[[], Leaves]
    ) -> "OldCalendar | None":
        """Return what a footer says; None where nothing is in the old calendar."""
        keys = keys or {}
        version = keys.get(VERSION)
        if version is None:
            return None
        has_days = version < FIRST_VERSION or LEGACY_DAYS in keys
        has_int96 = version < FIRST_INT96_VERSION or LEGACY_INT96 in keys
        if not has_days and not has_int96:
            return None
        int96 = find_int96()
        if not has_days and not int96:
            return None
        zone = keys.get(ZONE, b"").decode("utf-8", "replace") or UTC
        return cls(has_days, has_int96, zone, int96)

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return some rows in the new calendar."""
        columns = [
            self.corrected(column, name)
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def corrected(self, array: pa.Array, column: str) -> pa.Array:
        """Return a column in the new calendar; other types as they are."""
        return _Column(self, column).corrected(array, 0, column)


@dataclass(frozen=True, slots=True)
class _Column:
    calendar: OldCalendar
    name: str

    def corrected(self, array: pa.Array, leaf: int, path: str) -> pa.Array:
        """Return a part of it in the new calendar.

        Args:
            leaf: The number of its first leaf column.
        """
        kind = array.type
        if not _is_dated(kind):
            return array
        if pa.types.is_struct(kind):
            return self._struct(array, leaf, path)
        if pa.types.is_map(kind):
            lists = as_lists(array)
            entries = self.corrected(lists.flatten(), leaf, path)
            return pa.MapArray.from_arrays(
                _offsets(lists), *entries.flatten(), type=kind, mask=array.is_null()
            )
        if pa.types.is_list(kind):
            values = self.corrected(array.flatten(), leaf, path)
            return pa.ListArray.from_arrays(
                _offsets(array), values, type=kind, mask=array.is_null()
            )
        if not self._is_old(kind, leaf):
            return array
        is_day = pa.types.is_date32(kind)
        return _gregorian(array) if is_day else self._instants(array, path)

    def _is_old(self, kind: pa.DataType, leaf: int) -> bool:
        if (self.name, leaf) in self.calendar.int96:
            return self.calendar.has_int96
        is_local = pa.types.is_timestamp(kind) and kind.tz is None
        return self.calendar.has_days and not is_local

    def _struct(self, array: pa.StructArray, leaf: int, path: str) -> pa.Array:
        children = []
        for child, part in zip(array.type, array.flatten(), strict=True):
            children.append(self.corrected(part, leaf, f"{path}.{child.name}"))
            leaf += _num_leaves(child.type)
        return pa.StructArray.from_arrays(
            children, fields=list(array.type), mask=array.is_null()
        )

    def _instants(self, array: pa.TimestampArray, path: str) -> pa.Array:
        ticks = np.asarray(pc.fill_null(array.cast(pa.int64()), 0), np.int64)
        a_second = _UNITS[array.type.unit]
        if not len(ticks) or int(ticks.min()) >= CLOCKS_START_S * a_second:
            return array
        clock = find_clock(self.calendar.zone)
        if clock is None:
            reason = (
                "it has times before 1900 in the old calendar and in the unknown time "
                f"zone {self.calendar.zone[:40]!r}"
            )
            raise MismatchError(column=path, reason=reason)
        seconds, rest = np.divmod(ticks, a_second)
        return _filled(array, clock.instants(seconds) * a_second + rest, pa.int64())


def old_calendar(
    footer: pq.FileMetaData,
    fields: Sequence[pa.Field],
    positions: Sequence[int] | None = None,
) -> OldCalendar | None:
    """Return what of a file is in the old calendar; None where nothing is.

    Args:
        positions: The leaf columns that these have, by their places in the file; None
            for all of it.
    """
    places = range(footer.num_columns) if positions is None else positions
    return OldCalendar.of(
        footer.metadata, lambda: _int96_leaves(footer, fields, places)
    )


def _int96_leaves(
    footer: pq.FileMetaData, fields: Sequence[pa.Field], positions: Sequence[int]
) -> Leaves:
    found = set()
    rest = iter(positions)
    for field in fields:
        for leaf, position in zip(range(_num_leaves(field.type)), rest, strict=False):
            if footer.schema.column(position).physical_type == INT96:
                found.add((field.name, leaf))
    return frozenset(found)


def _num_leaves(kind: pa.DataType) -> int:
    if not pa.types.is_nested(kind):
        return 1
    return sum(_num_leaves(kind.field(i).type) for i in range(kind.num_fields))


def _is_dated(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_is_dated(kind.field(i).type) for i in range(kind.num_fields))
    return bool(pa.types.is_date32(kind) or pa.types.is_timestamp(kind))


def _gregorian(array: pa.Array) -> pa.Array:
    days = np.asarray(pc.fill_null(array.cast(pa.int32()), 0), np.int64)
    return _filled(array, gregorian_days(days), pa.int32())


def _filled(array: pa.Array, values: Longs, integer: pa.DataType) -> pa.Array:
    is_null = np.asarray(array.is_null())
    return pa.array(values, pa.int64(), mask=is_null).cast(integer).cast(array.type)


def _offsets(array: pa.Array) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
