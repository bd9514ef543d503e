"""What a column is called in an address: names with dots, quoted where they have any.

`a.b` is the field b of the column a, or a column that is called so; `` `a.b`.c `` is
the field c of the column a.b. A backtick of a name is doubled.
"""

from collections.abc import Sequence
from typing import Final

QUOTE: Final = "`"


def column_address(names: Sequence[str]) -> str:
    """Return the address of a column, given its names from the top."""
    return ".".join(map(_quoted, names))


def parse_address(text: str) -> tuple[str, ...]:
    """Return the names that an address says; the text itself where it is not quoted."""
    if QUOTE not in text:
        return tuple(text.split("."))
    names: list[str] = []
    name, place = "", 0
    quoted = False
    while place < len(text):
        sign = text[place]
        doubled = sign == QUOTE and text[place + 1 : place + 2] == QUOTE
        if quoted and doubled:
            name, place = name + QUOTE, place + 1
        elif sign == QUOTE:
            quoted = not quoted
        elif sign == "." and not quoted:
            names.append(name)
            name = ""
        else:
            name += sign
        place += 1
    return (*names, name)


def _quoted(name: str) -> str:
    if name and "." not in name and QUOTE not in name:
        return name
    return f"{QUOTE}{name.replace(QUOTE, QUOTE * 2)}{QUOTE}"
