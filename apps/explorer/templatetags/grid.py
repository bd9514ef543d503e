"""The cells of the grid of rows, as HTML.

A page shows fifty rows of perhaps sixty columns: a template included for each cell
would take most of its time.
"""

import re
from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from apps.explorer.grid import Cell
from apps.explorer.rows.selector import GridRow
from apps.pages.templatetags.deltaweb import NO_VALUE

register = template.Library()

EMPTY_TEXT = '<span role="img" aria-label="empty text">""</span>'
WHOLE = {
    "null": f"<td>{NO_VALUE}</td>",
    "unread": '<td><span class="c-null">not read</span></td>',
    "empty": f'<td class="c-json">{EMPTY_TEXT}</td>',
}
OPENING = {"number": '<td class="dw-r">', "binary": '<td class="c-json">'}
# Blanks that are not seen: at an end, several at once, and what is no letter at all.
_UNSEEN = re.compile(
    r"^ +| +$| {2,}|\r\n|[\x00-\x1f\x7f-\xa0\xad"
    r"\u200b-\u200f\u2028-\u202f\u2066-\u2069\ufeff]"
)
_BREAKS = {"\n": "line feed", "\r\n": "carriage return, line feed", "\r": "return"}


@register.filter
def grid_cells(row: Iterable[Cell]) -> SafeString:
    """Render the cells of one row."""
    cells = "".join(WHOLE.get(cell.kind) or _cell(cell) for cell in row)
    return mark_safe(cells)  # noqa: S308 (every text of a table is escaped in _cell)


@register.simple_tag
def grid_rows(rows: Iterable[GridRow], url: str, query: str) -> SafeString:
    """Render rows by their numbers, each with the way to its own page."""
    place, end = escape(url), escape(query)
    lines = (
        f'<tr data-row><td class="x-rowno"><a href="{place}/{row.number}{end}"'
        f' aria-label="Row {row.number} as a record">{row.number}</a></td>'
        f"{grid_cells(row.cells)}</tr>\n"
        for row in rows
    )
    return mark_safe("".join(lines))  # noqa: S308 (escaped above, and in grid_cells)


@register.filter
def marked(text: str) -> SafeString:
    """Render a text on one line with its blanks, breaks and odd characters seen."""
    return mark_safe(_marked(text, line_end=""))  # noqa: S308 (escaped in _marked)


@register.filter
def marked_lines(text: str) -> SafeString:
    """Render a text with its blanks and breaks seen, each line of its own."""
    return mark_safe(_marked(text, line_end="\n"))  # noqa: S308 (escaped in _marked)


def _cell(cell: Cell) -> str:
    """Render a cell with a text; what the line cuts off is inside, for the panel."""
    text = _marked(cell.text, line_end="") if cell.kind == "text" else escape(cell.text)
    if not cell.detail:
        return f"{OPENING.get(cell.kind, '<td>')}{text}</td>"
    return (
        f'<td class="c-json"><details class="x-cell"><summary>{text}</summary>'
        f'<div class="x-panel"><pre tabindex="0">{escape(cell.detail)}</pre></div>'
        "</details></td>"
    )


def _marked(text: str, *, line_end: str) -> str:
    """Escape a text, and wrap what is not seen of it so that the style sheet shows it.

    Blanks stay in the text, so that what is copied from the page is the value.
    """
    if _UNSEEN.search(text) is None:
        return escape(text)
    parts, place = [], 0
    for found in _UNSEEN.finditer(text):
        parts += [escape(text[place : found.start()]), _mark(found[0], line_end)]
        place = found.end()
    return "".join([*parts, escape(text[place:])])


def _mark(unseen: str, line_end: str) -> str:
    if unseen[0] == " ":
        count = len(unseen)
        blanks = "1 blank" if count == 1 else f"{count} blanks"
        return f'<span class="c-sp" title="{blanks}">{unseen}</span>'
    if unseen in _BREAKS:
        return f'<span class="c-br" title="{_BREAKS[unseen]}"></span>{line_end}'
    if unseen == "\t":
        return '<span class="c-tab" title="tab">\t</span>'
    code = f"U+{ord(unseen):04X}"
    kept = "" if unseen == "\0" else unseen  # which HTML has no way to write
    return f'<span class="c-odd" data-code="{code}">{kept}</span>'
