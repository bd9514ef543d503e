import csv

import pytest

from deltaweb.web.pages.lists.csv_lines import csv_line


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        pytest.param(["a", None, ""], 'a,,""', id="no value and an empty text differ"),
        pytest.param([None, None], ",", id="no values"),
        pytest.param(['say "a", b'], '"say ""a"", b"', id="quotes and commas"),
        pytest.param(["a\nb", "\r"], '"a\nb","\r"', id="line breaks"),
        pytest.param([" a", "b "], '" a","b "', id="blanks at an end"),
        pytest.param(["NULL", "null"], "NULL,null", id="words are words"),
    ],
)
def test_a_line(cells: list[str | None], line: str) -> None:
    assert csv_line(cells) == line


def test_any_reader_finds_the_texts_again() -> None:
    texts = ["a", '"', "a,b", "c\r\nd", "", " e "]

    assert next(csv.reader([csv_line(texts)])) == texts
