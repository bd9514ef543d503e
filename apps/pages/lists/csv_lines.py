"""Lines of CSV in which no value and an empty text differ.

No value is nothing between two commas; an empty text is a pair of quotes, as
PostgreSQL writes both. All else is by RFC 4180.
"""

from collections.abc import Iterable

_QUOTED = frozenset(',"\r\n')


def csv_line(cells: Iterable[str | None]) -> str:
    """Return a line without its end; None is no value."""
    return ",".join(map(_cell, cells))


def _cell(text: str | None) -> str:
    if text is None:
        return ""
    if text and _QUOTED.isdisjoint(text) and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'
