"""The changes of summer time that a rule sets for every year, as POSIX writes it.

`EST5EDT,M3.2.0,M11.1.0` is five hours behind UTC, and four from the second Sunday of
March to the first of November, at two by the clock.

Source: POSIX, "Other Environment Variables", TZ; RFC 9636, 3.3.1.
"""

import re
from datetime import date, timedelta
from typing import Final

_NAME: Final = r"(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)"
_CLOCK: Final = r"[+-]?[0-9]+(?::[0-9]+(?::[0-9]+)?)?"
_RULE: Final = re.compile(
    rf"{_NAME}({_CLOCK}){_NAME}({_CLOCK})?,([^,/]+)(?:/({_CLOCK}))?"
    rf",([^,/]+)(?:/({_CLOCK}))?"
)
_AT_TWO: Final = "2"
_HOUR_S: Final = 3600
_DAY_S: Final = 86_400
_LAST_WEEK: Final = 5
_MARCH: Final = 3
_EPOCH: Final = date(1970, 1, 1).toordinal()


def yearly_changes(rule: str, first: int, last: int) -> list[tuple[int, int]]:
    """Return the changes of a range of years, ascending.

    Args:
        rule: The rule; nothing changes by one without summer time.

    Returns:
        The seconds since the epoch of each, and those that clocks are ahead of UTC
        from then on.
    """
    match = _RULE.fullmatch(rule)
    if not match:
        return []
    standard, summer, begin, begin_at, end, end_at = match.groups()
    # POSIX counts what a clock is behind.
    winter_s = -_seconds(standard)
    summer_s = winter_s + _HOUR_S if summer is None else -_seconds(summer)
    found = []
    for year in range(first, last + 1):
        begins = _day(begin, year) * _DAY_S + _seconds(begin_at or _AT_TWO) - winter_s
        ends = _day(end, year) * _DAY_S + _seconds(end_at or _AT_TWO) - summer_s
        found += [(begins, summer_s), (ends, winter_s)]
    return sorted(found)


def _seconds(clock: str) -> int:
    sign = -1 if clock.startswith("-") else 1
    parts = [*map(int, clock.lstrip("+-").split(":")), 0, 0]
    return sign * (parts[0] * _HOUR_S + parts[1] * 60 + parts[2])


def _day(text: str, year: int) -> int:
    """Return the days since the epoch of `M3.2.0`, `J60` or `59`."""
    new_year = date(year, 1, 1)
    if text.startswith("J"):  # the 29th of February is never counted
        is_leap = (date(year, _MARCH, 1) - new_year).days == 60  # noqa: PLR2004  # 31 + 29
        number = int(text[1:])
        skipped = is_leap and number > 59  # noqa: PLR2004  # as above
        day = new_year + timedelta(days=number - 1 + skipped)
    elif text.startswith("M"):
        month, week, weekday = map(int, text[1:].split("."))
        first = date(year, month, 1)
        day = first + timedelta(days=(weekday - first.isoweekday()) % 7 + 7 * week - 7)
        if week == _LAST_WEEK and day.month != month:
            day -= timedelta(days=7)
    else:
        day = new_year + timedelta(days=int(text))
    return day.toordinal() - _EPOCH
