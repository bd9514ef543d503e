import pytest

from deltaweb.web.explorer.grid.cells import EMPTY, NULL, Cell
from deltaweb.web.explorer.templatetags.grid import grid_cells, marked, marked_lines


@pytest.mark.parametrize(
    ("cell", "html"),
    [
        pytest.param(
            NULL,
            '<td><span class="c-null" role="img" aria-label="no value">'
            "NULL</span></td>",
            id="null",
        ),
        pytest.param(
            EMPTY,
            '<td class="c-json"><span role="img" aria-label="empty text">'
            '""</span></td>',
            id="an empty text",
        ),
        pytest.param(Cell(kind="text", text="NULL"), "<td>NULL</td>", id="the word"),
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


@pytest.mark.parametrize(
    ("text", "html"),
    [
        pytest.param("a b", "a b", id="a blank between words is seen"),
        pytest.param(
            "  a", '<span class="c-sp" title="2 blanks">  </span>a', id="blanks first"
        ),
        pytest.param(
            "a ", 'a<span class="c-sp" title="1 blank"> </span>', id="a blank last"
        ),
        pytest.param(
            "a   b", 'a<span class="c-sp" title="3 blanks">   </span>b', id="several"
        ),
        pytest.param(
            "a\nb", 'a<span class="c-br" title="line feed"></span>b', id="a line break"
        ),
        pytest.param("a\tb", 'a<span class="c-tab" title="tab">\t</span>b', id="a tab"),
        pytest.param(
            "\u200b<",
            '<span class="c-odd" data-code="U+200B">\u200b</span>&lt;',
            id="a character without width",
        ),
        pytest.param(
            "\0", '<span class="c-odd" data-code="U+0000"></span>', id="a zero"
        ),
    ],
)
def test_what_is_not_seen_of_a_text_is_marked(text: str, html: str) -> None:
    assert marked(text) == html


def test_lines_of_a_text_stay_lines_where_there_is_room() -> None:
    html = marked_lines("a\r\nb")

    assert html == 'a<span class="c-br" title="carriage return, line feed"></span>\nb'
