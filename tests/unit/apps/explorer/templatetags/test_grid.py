import pytest

from apps.explorer.cells import EMPTY, NULL, Cell
from apps.explorer.templatetags.grid import grid_cells


@pytest.mark.parametrize(
    ("cell", "html"),
    [
        pytest.param(NULL, '<td><span class="c-null">NULL</span></td>', id="null"),
        pytest.param(EMPTY, '<td class="c-json">""</td>', id="an empty text"),
        pytest.param(
            Cell(kind="number", text="-9223372036854775808"),
            '<td class="dw-r">-9223372036854775808</td>',
            id="a number stands right",
        ),
        pytest.param(
            Cell(kind="text", text="<script>&\"'"),
            "<td>&lt;script&gt;&amp;&quot;&#x27;</td>",
            id="markup is text",
        ),
        pytest.param(
            Cell(kind="binary", text="00ff"), '<td class="c-json">00ff</td>', id="bytes"
        ),
    ],
)
def test_a_cell_is_one_line(cell: Cell, html: str) -> None:
    assert grid_cells([cell]) == html


@pytest.mark.parametrize("kind", ["nested", "text", "binary", "number"])
def test_what_the_line_cuts_off_is_inside_and_escaped(kind: str) -> None:
    html = grid_cells([Cell(kind=kind, text="<b>…", detail="<b>whole</b>")])

    assert "<summary>&lt;b&gt;…</summary>" in html
    assert '<pre tabindex="0">&lt;b&gt;whole&lt;/b&gt;</pre>' in html
    assert html.startswith('<td class="c-json">')


def test_the_cells_of_a_row_stand_in_its_order() -> None:
    row = [Cell(kind="text", text="a"), NULL, Cell(kind="number", text="1")]

    assert grid_cells(row) == grid_cells(row[:1]) + grid_cells(row[1:])
