"""What values say of themselves: a line in a terminal, a table in a notebook."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from deltaweb.delta.protocol.actions import CommitInfo
from deltaweb.errors import DeltawebError

MAX_ROWS: Final = 100
HISTORY: Final = ("version", "timestamp", "operation", "user", "engine")

Fact = tuple[str, object]


class Shown:
    """Shows its facts; what does not read is shown as its error."""

    def _title(self) -> str:
        raise NotImplementedError

    def facts(self) -> Iterable[Fact]:
        raise NotImplementedError

    def column_types(self) -> Iterable[Sequence[object]]:
        """Return name and type of each column, for those that have some."""
        return ()

    def __repr__(self) -> str:
        facts = ", ".join(
            f"{name} {_text(value)}" for name, value in self._safe_facts()
        )
        return f"<{self._title()}: {facts}>"

    def _repr_html_(self) -> str:
        facts = html_table(self._title(), (), self._safe_facts())
        try:
            columns = [*self.column_types()]
        except DeltawebError:  # a fact says so
            columns = []
        return facts + (html_table("", ("column", "type"), columns) if columns else "")

    def _safe_facts(self) -> list[Fact]:
        try:
            return [*self.facts()]
        except DeltawebError as error:
            return [("error", error.message)]


class CommitHistory(list[CommitInfo]):
    """Commits, newest first: a list that a terminal and a notebook show as a table."""

    def __repr__(self) -> str:
        rows = [HISTORY, *(tuple(map(_text, row)) for row in _history_rows(self))]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                text.ljust(width) for text, width in zip(row, widths, strict=True)
            )
            for row in rows
        ]
        return "\n".join(line.rstrip() for line in lines) + _more(len(self))

    def _repr_html_(self) -> str:
        title = f"{len(self):,} commits"
        return html_table(title, HISTORY, _history_rows(self))


def html_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> str:
    """Return a table of HTML; what values hold is text in it.

    Args:
        title: Its caption; none for "".
        rows: The cells of each; the first hundred are shown.
    """
    shown = [*rows]
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    heads = "".join(f"<th>{escape(name)}</th>" for name in header)
    head = f"<thead><tr>{heads}</tr></thead>" if header else ""
    body = "".join(_row(row, is_named=not header) for row in shown[:MAX_ROWS])
    more = escape(_more(len(shown)).strip())
    foot = f"<p>{more}</p>" if more else ""
    return f"<table>{caption}{head}<tbody>{body}</tbody></table>{foot}"


def _row(row: Sequence[object], *, is_named: bool) -> str:
    cells = [escape(_text(value)) for value in row]
    first = f"<th>{cells[0]}</th>" if is_named else f"<td>{cells[0]}</td>"
    return f"<tr>{first}{''.join(f'<td>{cell}</td>' for cell in cells[1:])}</tr>"


def _history_rows(commits: Sequence[CommitInfo]) -> list[tuple[object, ...]]:
    return [
        (c.version, c.timestamp, c.operation, c.user, c.engine_info)
        for c in commits[:MAX_ROWS]
    ]


def _more(count: int) -> str:
    return f"\n… and {count - MAX_ROWS:,} more" if count > MAX_ROWS else ""


def _text(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value)
        case int():
            return f"{value:,}"
        case _:
            text = str(value)
            return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
