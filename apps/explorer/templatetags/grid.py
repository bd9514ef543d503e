"""The cells of the grid of rows, as HTML.

A page shows fifty rows of perhaps hundreds of columns: a template included for each
cell would take most of its time.
"""

from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from apps.explorer.cells import Cell

register = template.Library()

WHOLE = {
    "null": '<td><span class="c-null">NULL</span></td>',
    "unread": '<td><span class="c-null">not read</span></td>',
    "empty": '<td class="c-json">""</td>',
}
OPENING = {"number": '<td class="dw-r">', "binary": '<td class="c-json">'}


@register.filter
def grid_cells(row: Iterable[Cell]) -> SafeString:
    """Render the cells of one row."""
    cells = "".join(WHOLE.get(cell.kind) or _cell(cell) for cell in row)
    return mark_safe(cells)  # noqa: S308 (every text of a table is escaped in _cell)


def _cell(cell: Cell) -> str:
    """Render a cell with a text; what the line cuts off is inside, for the panel."""
    text = escape(cell.text)
    if not cell.detail:
        return f"{OPENING.get(cell.kind, '<td>')}{text}</td>"
    return (
        f'<td class="c-json"><details class="x-cell"><summary>{text}</summary>'
        f'<div class="x-panel"><pre tabindex="0">{escape(cell.detail)}</pre></div>'
        "</details></td>"
    )
