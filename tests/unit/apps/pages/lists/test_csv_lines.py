import csv

from apps.pages.lists.csv_lines import csv_line
from tests.support import cases


@cases(
    "cells, line",
    {
        "no value and an empty text differ": (["a", None, ""], 'a,,""'),
        "no values": ([None, None], ","),
        "quotes and commas": (['say "a", b'], '"say ""a"", b"'),
        "line breaks": (["a\nb", "\r"], '"a\nb","\r"'),
        "blanks at an end": ([" a", "b "], '" a","b "'),
        "words are words": (["NULL", "null"], "NULL,null"),
    },
)
def test_a_line(cells: list[str | None], line: str) -> None:
    assert csv_line(cells) == line


def test_any_reader_finds_the_texts_again() -> None:
    texts = ["a", '"', "a,b", "c\r\nd", "", " e "]

    assert next(csv.reader([csv_line(texts)])) == texts
