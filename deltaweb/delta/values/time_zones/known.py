"""The rules of a zone by its name: `America/New_York`, `+05:30`, `UTC`."""

import re
import struct
from datetime import date, timedelta
from difflib import get_close_matches
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Final
from zoneinfo import TZPATH, available_timezones

import numpy as np

from deltaweb.delta.values.time_zones.errors import TimeZoneUnknownError
from deltaweb.delta.values.time_zones.rules import CYCLE_YEARS, Micros, ZoneRules

UTC_ZONE: Final = "UTC"
_SECOND_US: Final = 1_000_000
_NO_TIMES: Final = np.array([], np.int64)
_AS_UTC: Final = frozenset({"Z", UTC_ZONE, "GMT", "UT"})
_OFFSET: Final = re.compile(
    r"(?:UTC|GMT|UT)?([+-])([0-9]{2}|[0-9](?![0-9]))"
    r"(?:(:?)([0-9]{2})(?:\3([0-9]{2}))?)?"
)
_MAX_OFFSET_S: Final = 18 * 3600
_MAX_NAME: Final = 64
_MAX_NEAREST: Final = 3
_HEADER: Final = struct.Struct(">4s1s15x6l")
_TYPE: Final = struct.Struct(">l2x")
_WIDE: Final = 8


@lru_cache(maxsize=128)
def zone_rules(name: str) -> ZoneRules:
    offset_s = _fixed_offset(name)
    if offset_s is not None:
        offsets = np.array([offset_s * _SECOND_US], np.int64)
        return ZoneRules(name, _NO_TIMES, offsets, _NO_TIMES)
    data = _zone_file(name)
    if data is None:
        raise TimeZoneUnknownError(name=name[:_MAX_NAME], nearest=nearest_zones(name))
    return _rules(name, *_parsed(data))


def is_known(name: str) -> bool:
    """Tell whether a zone has rules."""
    return _fixed_offset(name) is not None or name in _names()


def check_zone(name: str) -> str:
    return zone_rules(name).name


def nearest_zones(name: str) -> tuple[str, ...]:
    """Return the names that may be meant by a place, or by a slip."""
    asked = name[:_MAX_NAME].strip().lower().replace(" ", "_")
    whole = {zone.lower(): zone for zone in sorted(_names())}
    places = {zone.rpartition("/")[2]: zone for zone in whole}
    found = [whole[asked]] if asked in whole else []
    found += [whole[places[asked]]] if asked in places else []
    found += [whole[near] for near in get_close_matches(asked, whole)]
    found += [whole[places[near]] for near in get_close_matches(asked, places)]
    return tuple(dict.fromkeys(found))[:_MAX_NEAREST]


def _fixed_offset(name: str) -> int | None:
    """Return the seconds of `+05:30`, `UTC-3` and their like; None for other names."""
    if name in _AS_UTC:
        return 0
    match = _OFFSET.fullmatch(name)
    if not match:
        return None
    hours, minutes, seconds = (int(part or 0) for part in match.group(2, 4, 5))
    found = (hours * 60 + minutes) * 60 + seconds
    if max(minutes, seconds) > 59 or found > _MAX_OFFSET_S:  # noqa: PLR2004  # a clock
        return None
    return -found if match[1] == "-" else found


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(available_timezones())


def _zone_file(name: str) -> bytes | None:
    """Return the file of a zone: the system's, or that of the package `tzdata`."""
    if name not in _names():
        return None
    for folder in TZPATH:
        path = Path(folder, *name.split("/"))
        if path.is_file():
            return path.read_bytes()
    return resources.files("tzdata").joinpath("zoneinfo", name).read_bytes()


def _parsed(data: bytes) -> tuple[Micros, Micros, str]:
    """Return the changes of a file in seconds, the offsets, and the rule after them."""
    start, width = 0, 4
    _, version, *counts = _HEADER.unpack_from(data)
    if version != b"\0":  # the same comes once more, in 64 bits
        start, width = _HEADER.size + _body_size(counts, width), _WIDE
        _, _, *counts = _HEADER.unpack_from(data, start)
    at, num_changes, num_types = start + _HEADER.size, counts[3], counts[4]
    end = at + _body_size(counts, width)
    changes = np.frombuffer(data, f">i{width}", num_changes, at).astype(np.int64)
    at += num_changes * width
    kinds = np.frombuffer(data, np.uint8, num_changes, at)
    at += num_changes
    types = data[at : at + num_types * _TYPE.size]
    of_types = np.array([offset for (offset,) in _TYPE.iter_unpack(types)], np.int64)
    offsets = np.concatenate([of_types[:1], of_types[kinds]])
    rule = data[end:].strip(b"\n").decode("ascii") if width == _WIDE else ""
    return changes, offsets, rule


def _body_size(counts: list[int], width: int) -> int:
    num_utc, num_standard, num_leaps, num_changes, num_types, num_letters = counts
    sizes = (
        num_changes * (width + 1),
        num_types * _TYPE.size,
        num_letters,
        num_leaps * (width + 4),
        num_standard,
        num_utc,
    )
    return sum(sizes)


def _rules(name: str, changes: Micros, offsets: Micros, rule: str) -> ZoneRules:
    """Return known changes together with those that a rule goes on with."""
    last = int(changes[-1]) if len(changes) else 0
    year = max(1970, int(str(np.datetime64(last, "s").astype("datetime64[Y]"))))
    later = [
        change
        for change in yearly_changes(rule, year, year + CYCLE_YEARS + 2)
        if change[0] > last or not len(changes)
    ]
    cycle_us = None
    if later:
        changes = np.append(changes, [at for at, _ in later])
        offsets = np.append(offsets, [offset for _, offset in later])
        cycle = np.datetime64(f"{year + CYCLE_YEARS + 1}-01-01", "s")
        cycle_us = int(cycle.astype(np.int64)) * _SECOND_US
    is_change = offsets[1:] != offsets[:-1]
    changes, offsets = (
        changes[is_change],
        np.append(offsets[:1], offsets[1:][is_change]),
    )
    clocks = np.maximum.accumulate(changes + np.maximum(offsets[1:], offsets[:-1]))
    return ZoneRules(
        name,
        changes * _SECOND_US,
        offsets * _SECOND_US,
        clocks * _SECOND_US,
        cycle_us,
    )


# === Rules for every year ===


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
