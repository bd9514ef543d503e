"""By how much the clocks of a zone are off UTC, and what that makes of times."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Micros = npt.NDArray[np.int64]
"""Microseconds since 1970-01-01T00:00:00, of UTC or of a clock."""

INSTANT: Final = pa.timestamp("us", "UTC")
CLOCK: Final = pa.timestamp("us")
DAY_US: Final = 86_400_000_000
CYCLE_YEARS: Final = 400
"""After these years the calendar and its weekdays begin again."""
_CYCLE_US: Final = 146_097 * DAY_US
_LEAST_US: Final = int(np.iinfo(np.int64).min)
_LAST_US: Final = int(np.iinfo(np.int64).max)
_MOST_US: Final = _LAST_US - 2 * DAY_US
_BEYOND: Final = "a time is beyond those of its zone"


@dataclass(frozen=True, eq=False, slots=True)
class ZoneRules:
    """By how much the clocks of a zone are off UTC, and from when on.

    Attributes:
        changes_us: The instants from which another offset holds, ascending.
        clocks_us: What the clock shows after each change, or would have shown without
            it, whichever is later: from then on it goes by the new offset alone.
        cycle_us: From when on everything is as it was `CYCLE_YEARS` before; None where
            nothing changes any more.
    """

    name: str
    changes_us: Micros
    offsets_us: Micros
    clocks_us: Micros
    cycle_us: int | None = None

    @property
    def is_utc(self) -> bool:
        """Whether the clocks show what instants are counted by."""
        return not len(self.changes_us) and not self.offsets_us[0]

    def clocks(self, instants_us: Micros) -> Micros:
        return _moved(instants_us, self._offsets(self.changes_us, instants_us))

    def instants(self, clocks_us: Micros) -> Micros:
        return _moved(clocks_us, -self._offsets(self.clocks_us, clocks_us))

    def instant(self, clock_us: int) -> int:
        """Return one instant: where clocks never change, without an array for it."""
        if len(self.changes_us):
            return int(self.instants(np.array([clock_us]))[0])
        found = clock_us - int(self.offsets_us[0])
        if not _LEAST_US <= found <= _LAST_US:
            raise OverflowError(_BEYOND)
        return found

    def day_starts(self, days: Micros) -> Micros:
        """Return when days begin: the first instant that is not left out of them."""
        if len(days) and max(-int(days.min()), int(days.max())) > _MOST_US // DAY_US:
            raise OverflowError(_BEYOND)
        midnights = days * DAY_US
        found = self.instants(midnights)
        is_left_out = self.clocks(found) != midnights
        if is_left_out.any():
            some = found[is_left_out]
            known = self._known(some)
            places = np.searchsorted(self.changes_us, known, "right")
            found[is_left_out] = self.changes_us[places - 1] + (some - known)
        return found

    def _offsets(self, starts: Micros, times: Micros) -> Micros:
        return self.offsets_us[np.searchsorted(starts, self._known(times), "right")]

    def _known(self, times: Micros) -> Micros:
        """Return times of years whose changes are listed, that are like those given."""
        cycle_us = self.cycle_us
        if cycle_us is None or not len(times) or times.max() < cycle_us:
            return times
        folded = (times - cycle_us) % _CYCLE_US + cycle_us - _CYCLE_US
        return np.where(times < cycle_us, times, folded)


def to_clocks(values: pa.Array, rules: ZoneRules) -> pa.Array:
    """Return instants as what the clocks of a zone show then."""
    if rules.is_utc:
        return values.cast(CLOCK)
    return _each(values.cast(INSTANT), CLOCK, rules.clocks)


def to_instants(values: pa.Array, rules: ZoneRules) -> pa.Array:
    """Return days, or what the clocks of a zone show, as instants."""
    if rules.is_utc:
        return values.cast(CLOCK).cast(INSTANT)
    if pa.types.is_date32(values.type):
        return _each(values.cast(pa.int32()), INSTANT, rules.day_starts)
    return _each(values.cast(CLOCK), INSTANT, rules.instants)


def _each(
    values: pa.Array, kind: pa.DataType, convert: Callable[[Micros], Micros]
) -> pa.Array:
    numbers, is_null = values.cast(pa.int64()), None
    if numbers.null_count:
        is_null = np.asarray(numbers.is_null())
        numbers = numbers.fill_null(0)
    return pa.array(convert(np.asarray(numbers)), pa.int64(), mask=is_null).cast(kind)


def _moved(times: Micros, by: Micros) -> Micros:
    if len(times) and max(-int(times.min()), int(times.max())) > _MOST_US:
        raise OverflowError(_BEYOND)
    return times + by
