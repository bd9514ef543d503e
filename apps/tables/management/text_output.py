"""Lines for people, as commands write them; whatever they are of."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from typing import TypeAlias, TypeVar

from deltaweb.words import cut

T = TypeVar("T")
Columns: TypeAlias = Mapping[str, str | Callable[[T], object]]
"""Columns by their header: the attribute that one shows, or a function."""

MAX_CELL = 60  # characters of a cell in a table for people


def visible(text: str) -> str:
    """Escape what a terminal would obey instead of showing it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def aligned(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table for people; long cells end in an ellipsis."""
    cells = [[_short(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        line = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(line).rstrip()


def listed(values: Iterable[T], columns: Columns[T]) -> Iterator[str]:
    """Yield the lines of a table for people."""
    shown = [
        attrgetter(column) if isinstance(column, str) else column
        for column in columns.values()
    ]
    rows = ([cell_text(cell(value)) for cell in shown] for value in values)
    yield from aligned(tuple(columns), rows)


def cell_text(value: object) -> str:
    """Return a value as people read it; nothing for what is not there."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(cell_text, value))
    return str(value)


def facts(entries: Iterable[tuple[str, object]]) -> str:
    """Return lines of `name  value`; what is None is unknown."""
    known = [(name, "unknown" if value is None else value) for name, value in entries]
    width = max(len(name) for name, _ in known)
    return "\n".join(f"{name.ljust(width)}  {value}" for name, value in known)


def time_text(moment: datetime | None) -> str:
    """Return a moment in UTC, to the second."""
    if moment is None:
        return "never"
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _short(cell: str) -> str:
    return cut(" ".join(cell.split("\n")), MAX_CELL)
