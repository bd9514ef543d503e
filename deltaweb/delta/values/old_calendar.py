"""Days and times of files that Spark wrote in the old calendar.

Until its version 3.0 (3.1 for times of 96 bits), and later when it was told to, Spark
wrote days before 15 October 1582 in the Julian calendar. The footer says so. They are
brought to the Gregorian one, in which tables are: the same year, month and day.

A time depends on the zone of its writer as well. Without one in the footer it is taken
for UTC; of a zone that changed its clocks no time before 1900 can be told.

Source: Spark's "Parquet data source: rebasing", `org.apache.spark.legacyDateTime` and
`org.apache.spark.legacyINT96`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.stored_columns import MismatchError

Longs = np.ndarray[Any, np.dtype[np.int64]]

VERSION: Final = b"org.apache.spark.version"
LEGACY_DAYS: Final = b"org.apache.spark.legacyDateTime"
LEGACY_INT96: Final = b"org.apache.spark.legacyINT96"
ZONE: Final = b"org.apache.spark.timeZone"
FIRST_VERSION: Final = b"3.0.0"
FIRST_INT96_VERSION: Final = b"3.1.0"
STEADY_ZONES: Final = frozenset({b"UTC", b"Etc/UTC", b"GMT", b"Z", b"Etc/GMT", b"UCT"})

GREGORIAN_START: Final = -141_427  # 15 October 1582, in days since 1970
CLOCKS_START_S: Final = -2_208_988_800  # 1 January 1900
DAY_S: Final = 86_400
EPOCH_JULIAN_DAY: Final = 2_440_588
_UNITS: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class OldCalendar:
    """What of a file is in the old calendar.

    Attributes:
        has_days: Whether its days are, and its times where they are not of 96 bits.
        has_int96: Whether its times of 96 bits are.
        zone: The zone of its writer, as the footer has it; UTC for none.
        is_int96: Whether its times are of 96 bits.
    """

    has_days: bool
    has_int96: bool
    zone: bytes
    is_int96: bool

    @classmethod
    def of(
        cls,
        keys: Mapping[bytes, bytes] | None,
        has_int96_columns: Callable[[], bool],
    ) -> "OldCalendar | None":
        """Return what a footer says; None where nothing is in the old calendar.

        Args:
            keys: The footer's keys and values.
            has_int96_columns: Tells whether the file's times are of 96 bits.
        """
        keys = keys or {}
        version = keys.get(VERSION)
        if version is None:
            return None
        has_days = version < FIRST_VERSION or LEGACY_DAYS in keys
        has_int96 = version < FIRST_INT96_VERSION or LEGACY_INT96 in keys
        if not has_days and not has_int96:
            return None
        is_int96 = has_int96_columns()
        if not has_days and not is_int96:
            return None
        return cls(has_days, has_int96, keys.get(ZONE, b"UTC"), is_int96)

    def corrected(self, array: pa.Array, column: str) -> pa.Array:
        """Return a column in the new calendar; other types as they are.

        Raises:
            MismatchError: If the zone leaves a time of it in doubt.
        """
        kind = array.type
        if pa.types.is_struct(kind):
            children = [
                self.corrected(pc.struct_field(array, [i]), f"{column}.{child.name}")
                for i, child in enumerate(kind)
            ]
            return _struct(array, children)
        if pa.types.is_map(kind):
            lists = array.cast(pa.list_(pa.struct([kind.key_field, kind.item_field])))
            entries = self.corrected(lists.flatten(), column)
            return pa.MapArray.from_arrays(
                _offsets(lists), *entries.flatten(), type=kind, mask=array.is_null()
            )
        if pa.types.is_list(kind):
            values = self.corrected(array.flatten(), column)
            return pa.ListArray.from_arrays(
                _offsets(array), values, type=kind, mask=array.is_null()
            )
        if pa.types.is_date32(kind) and self.has_days:
            days = np.asarray(pc.fill_null(array.cast(pa.int32()), 0), np.int64)
            return _filled(array, _gregorian(days), pa.int32())
        if pa.types.is_timestamp(kind):
            has_old = self.has_int96 if self.is_int96 else self.has_days
            return self._times(array, column) if has_old else array
        return array

    def _times(self, array: pa.TimestampArray, column: str) -> pa.Array:
        ticks = np.asarray(pc.fill_null(array.cast(pa.int64()), 0), np.int64)
        a_second = _UNITS[array.type.unit]
        if not len(ticks) or int(ticks.min()) >= CLOCKS_START_S * a_second:
            return array
        if self.zone not in STEADY_ZONES and array.type.tz is not None:
            zone = self.zone.decode("ascii", "replace")[:40]
            reason = (
                "it has times before 1900 in the old calendar, by the clocks of "
                f"{zone!r}, which are not known here"
            )
            raise MismatchError(column=column, reason=reason)
        days, rest = np.divmod(ticks, DAY_S * a_second)
        return _filled(array, _gregorian(days) * (DAY_S * a_second) + rest, pa.int64())


def _gregorian(days: Longs) -> Longs:
    """Return days of the hybrid calendar as those of the Gregorian one."""
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


def _filled(array: pa.Array, values: Longs, integer: pa.DataType) -> pa.Array:
    is_null = np.asarray(array.is_null())
    return pa.array(values, pa.int64(), mask=is_null).cast(integer).cast(array.type)


def _struct(array: pa.StructArray, children: list[pa.Array]) -> pa.Array:
    if not children:
        return array
    return pa.StructArray.from_arrays(
        children, fields=list(array.type), mask=array.is_null()
    )


def _offsets(array: pa.Array) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
