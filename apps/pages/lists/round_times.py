"""Round times on an axis: full hours, midnights, first days of months and years."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Final

SECONDS: Final = (1, 2, 5, 10, 15, 30)
STEPS: Final = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *SECONDS,
        *(60 * minutes for minutes in SECONDS),
        *(3600 * hours for hours in (1, 2, 3, 6, 12, 24, 48, 168, 336)),
    )
)
MONTHS: Final = (1, 2, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100)))
WEEK: Final = timedelta(days=7)
MONTHS_A_YEAR: Final = 12


def round_times(first: datetime, last: datetime, *, most: int) -> list[datetime]:
    """Return at most `most` round times between two, all by one step.

    Args:
        first: Its time zone says when days begin.
        last: In the same zone.
    """
    fits = (step for step in STEPS if last - first <= step * most)
    within_months = (_by_step(first, last, step) for step in fits)
    over_months = (_by_months(first, last, months) for months in MONTHS)
    for times in chain(within_months, over_months):
        found = [time for time, _ in zip(times, range(most + 1), strict=False)]
        if len(found) <= most:
            return found
    return []


def _by_step(first: datetime, last: datetime, step: timedelta) -> Iterator[datetime]:
    begin = first.replace(hour=0, minute=0, second=0, microsecond=0)
    if step >= WEEK:  # weeks begin on a Monday
        begin -= timedelta(days=begin.weekday())
    time = begin + -((begin - first) // step) * step
    while time <= last:
        yield time
        time += step


def _by_months(first: datetime, last: datetime, months: int) -> Iterator[datetime]:
    number = first.year * MONTHS_A_YEAR + first.month - 1
    number = -(-number // months) * months
    while True:
        year, month = divmod(number, MONTHS_A_YEAR)
        if year > last.year:
            return
        time = first.replace(
            year=year, month=month + 1, day=1, hour=0, minute=0, second=0, microsecond=0
        )
        if time > last:
            return
        if time >= first:
            yield time
        number += months
