"""The values of a request's parameters, from text.

Source: delta_sharing_protocol.md, "List Shares"; sharing_wire.md, 2.3 and 2.4.
"""

import re
from datetime import datetime
from decimal import Decimal
from typing import Final

from deltaweb.delta.errors import TimestampInvalidError
from deltaweb.delta.log.commits.times import parse_timestamp
from deltaweb.sharing.errors import ParameterInvalidError

MAX_PAGE_LENGTH: Final = 500
MAX_LONG: Final = 2**63 - 1
_LONG_DIGITS: Final = 18  # after the first one

_NUMBER: Final = re.compile(
    r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII
)
# What a JDBC timestamp prints: it names no zone, and UTC is meant.
_SQL_TIMESTAMP: Final = re.compile(
    r"(\d{4}-\d{1,2}-\d{1,2}) (\d{1,2}:\d{1,2}:\d{1,2})(?:\.(\d{1,9}))?", re.ASCII
)
# A plus sign that was not quoted arrives as a space.
_LOST_PLUS: Final = re.compile(r"(T[0-9:.,]+) (\d{2}:?\d{2})", re.ASCII)


def parse_max_results(text: str | None, *, name: str = "maxResults") -> int:
    """Return how many items a page may have; more than the server's most is cut."""
    if text is None:
        return MAX_PAGE_LENGTH
    count = whole_number(text)
    if count is None or count < 0:
        reason = "a number was expected, from 0 on"
        raise ParameterInvalidError(
            name=name,
            reason=reason,
            hint=f"Give a whole number from 0 to {MAX_PAGE_LENGTH}.",
        )
    return min(count, MAX_PAGE_LENGTH)


def whole_number(value: object) -> int | None:
    """Return a whole number, written in any way that JSON of protobuf allows.

    The same number may come as `10`, `10.0`, `1e1`, or as a text of these. Clients send
    all of them, because the reference server takes them.

    Args:
        value: A value of JSON, its fractions as `Decimal`; or a text of an address.

    Returns:
        The number, or the nearest one of ±2**63 if it is beyond; None for anything
        else, `true` and a number with a fraction among them.
    """
    if (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, str) and _NUMBER.fullmatch(value)
    ):
        number = Decimal(value)
    elif isinstance(value, Decimal) and value.is_finite():
        number = value
    else:
        return None
    if number and number.adjusted() > _LONG_DIGITS:
        return MAX_LONG + 1 if number > 0 else -MAX_LONG - 1
    whole = int(number) if number else 0
    return max(-MAX_LONG - 1, min(whole, MAX_LONG + 1)) if whole == number else None


def parse_version(text: str, *, name: str = "version") -> int:
    return check_version(whole_number(text), name=name)


def check_version(version: int | None, *, name: str = "version") -> int:
    """Return a version that a table can have: from 0 on."""
    if version is not None and 0 <= version <= MAX_LONG:
        return version
    raise ParameterInvalidError(
        name=name,
        reason="a number was expected, from 0 on",
        hint="Give the version of the table as a whole number.",
    )


def parse_moment(text: str, *, name: str) -> datetime:
    """Return a time: ISO 8601 with a zone, or `YYYY-MM-DD hh:mm:ss` in UTC."""
    plain = _LOST_PLUS.sub(r"\1+\2", text.strip())
    try:
        if match := _SQL_TIMESTAMP.fullmatch(plain):
            fraction = (match[3] or "0").ljust(6, "0")[:6]
            plain = f"{match[1]} {match[2]}.{fraction} +0000"
            return datetime.strptime(plain, "%Y-%m-%d %H:%M:%S.%f %z")
        return parse_timestamp(plain)
    except (TimestampInvalidError, ValueError):
        raise ParameterInvalidError(
            name=name,
            reason="it is not a time with a zone",
            hint="Write it as 2026-01-31T12:00:00Z.",
        ) from None
