"""The clocks of a zone before 1900: as the old calendar had them, and as they were.

Java's old calendar lets a zone have the time that it has in 1900 in all the time
before; today's has the local mean time of the place, to the second. Spark wrote old
times by the one, and means them by the other.

`clocks.txt` has the figures of all zones, before their names:
`+offset/shift/from/shift/from/shift`, in seconds: how far the clocks of old times are
ahead of UTC; what is added to an instant of theirs, before the first moment since 1970
that follows; and from each such moment on. Spark ships these figures as
`julian-gregorian-rebase-micros.json` (Apache License 2.0); they are kept here without
the centuries of the calendar, which are the same in every zone, and with the short
names of zones that Java knows. They are facts of files: a database of zones that learns
more of the past has others.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

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
