import pytest

from apps.explorer.grid import EMPTY, NULL, Cell
from apps.explorer.templatetags.grid import grid_cells, marked, marked_lines
from tests.support import cases


@cases(
    "cell, html",
    {
        "null": (
            NULL,
            (
                '<td><span class="c-null" role="img" aria-label="no value">'
                "NULL</span></td>"
            ),
        ),
        "an empty text": (
            EMPTY,
            (
                '<td class="c-json"><span role="img" aria-label="empty text">'
                '""</span></td>'
            ),
        ),
        "the word": (Cell(kind="text", text="NULL"), "<td>NULL</td>"),
        "a number stands right": (
            Cell(kind="number", text="-9223372036854775808"),
            '<td class="dw-r">-9223372036854775808</td>',
        ),
        "markup is text": (
            Cell(kind="text", text="<script>&\"'"),
            "<td>&lt;script&gt;&amp;&quot;&#x27;</td>",
        ),
        "bytes": (Cell(kind="binary", text="00ff"), '<td class="c-json">00ff</td>'),
    },
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


@cases(
    "text, html",
    {
        "a blank between words is seen": ("a b", "a b"),
        "blanks first": ("  a", '<span class="c-sp" title="2 blanks">  </span>a'),
        "a blank last": ("a ", 'a<span class="c-sp" title="1 blank"> </span>'),
        "several": ("a   b", 'a<span class="c-sp" title="3 blanks">   </span>b'),
        "a line break": ("a\nb", 'a<span class="c-br" title="line feed"></span>b'),
        "a tab": ("a\tb", 'a<span class="c-tab" title="tab">\t</span>b'),
        "a character without width": (
            "\u200b<",
            '<span class="c-odd" data-code="U+200B">\u200b</span>&lt;',
        ),
        "a zero": ("\0", '<span class="c-odd" data-code="U+0000"></span>'),
    },
)
def test_what_is_not_seen_of_a_text_is_marked(text: str, html: str) -> None:
    assert marked(text) == html


def test_lines_of_a_text_stay_lines_where_there_is_room() -> None:
    html = marked_lines("a\r\nb")

    assert html == 'a<span class="c-br" title="carriage return, line feed"></span>\nb'
