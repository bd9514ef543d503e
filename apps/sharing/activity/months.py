"""Calendar months of UTC, by which offers are counted, priced and limited."""

from datetime import UTC, date, datetime


def first_of_month(now: datetime) -> date:
    """Return the first day of the month that a moment is in."""
    return now.astimezone(UTC).date().replace(day=1)


def next_month(first: date) -> date:
    """Return the first day of the month after one, by its own first day."""
    return date(first.year + first.month // 12, first.month % 12 + 1, 1)


def last_months(now: datetime, count: int) -> list[date]:
    """Return the first days of months, the present one first."""
    index = now.astimezone(UTC).year * 12 + now.astimezone(UTC).month - 1
    return [date(*_year_and_month(index - back), 1) for back in range(count)]


def midnight(day: date) -> datetime:
    """Return when a day begins."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _year_and_month(index: int) -> tuple[int, int]:
    return index // 12, index % 12 + 1
