"""A null and the texts NULL and null are told apart without seeing them."""

import re

from django.template.loader import render_to_string

from apps.explorer.grid import NULL, Cell
from tests.support import cases
from tests.support.processes.installation import ROOT

NAMED = 'role="img" aria-label="no value">NULL<'
WORD = Cell(kind="text", text="NULL")
DRAWN_BY_HAND = re.compile(r">\s*null\s*<", re.IGNORECASE)
WORDS_OF_A_VARIANT = (
    "explorer/record/_variant_node.html"  # whose null is a value with a type
)
HEADERS = re.compile(r"<th\b.*?</th>|<div class=\"dw-label\">Null</div>", re.DOTALL)


def test_no_template_draws_a_null_by_hand() -> None:
    root = ROOT / "templates"
    found = [
        str(path.relative_to(root))
        for path in sorted(root.rglob("*.html"))
        if DRAWN_BY_HAND.search(HEADERS.sub("", path.read_text(encoding="utf-8")))
    ]

    assert found == [WORDS_OF_A_VARIANT]


@cases(
    "template, null, word",
    {
        "look": ("tables/operations/_cell.html", {"text": None}, {"text": "NULL"}),
        "changes": ("explorer/_compare_cell.html", {"cell": NULL}, {"cell": WORD}),
    },
)
def test_a_null_is_called_no_value(template, null, word):
    assert NAMED in render_to_string(template, null)
    assert "no value" not in render_to_string(template, word)
    assert "NULL" in render_to_string(template, word)
