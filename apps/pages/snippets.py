"""Code for other tools, filled in: `Use this`, for a shared table and for a view."""

import json
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

FALLBACK: Final = "data"
SPARK_SESSION: Final = "Spark with Delta Lake, such as pip install delta-spark"
_RESERVED: Final = {
    *("client", "datetime", "date", "delta_sharing", "duckdb", "pa", "pc", "pl"),
    *("spark", "timezone", "url"),
}
_PIECES: Final = re.compile(
    r'(?P<c>^\s*(?:#|--)[^\n]*)|(?P<s>"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
    r"|(?P<k>\b(?:import|from|as|SELECT|FROM|WHERE|AND|RESTORE TABLE|TO|VERSION AS OF"
    r"|IS NOT NULL|IS NULL)\b)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """One tool's way in: either code, or steps for a tool that is clicked.

    Attributes:
        key: Short name, of letters: for ids and classes.
        steps: What to do, in order, where the tool takes no code.
        refusal: Why there is nothing to copy, and which tools there are instead.
    """

    key: str
    label: str
    text: str
    steps: tuple[str, ...] = field(default=())
    refusal: str = ""

    @property
    def pieces(self) -> list[tuple[str, str]]:
        """The text cut up: "c" for a comment, "s" a string, "k" a word of the tool."""
        pieces, end = [], 0
        for match in _PIECES.finditer(self.text):
            pieces.append(("", self.text[end : match.start()]))
            pieces.append((match.lastgroup or "", match.group()))
            end = match.end()
        pieces.append(("", self.text[end:]))
        return [piece for piece in pieces if piece[1]]


def variable(name: str) -> str:
    """Return a variable's name that reads like a table's."""
    wanted = name.lower()
    if not wanted.isascii() or not wanted.isidentifier():
        return FALLBACK
    taken = keyword.iskeyword(wanted) or keyword.issoftkeyword(wanted)
    return FALLBACK if taken or wanted in _RESERVED else wanted


def python_text(value: str) -> str:
    """Return a string as Python writes it, in double quotes."""
    text = json.dumps(value, ensure_ascii=False)
    # Half of a character has no encoding; its escape has one.
    return text.encode(errors="backslashreplace").decode()


def names_text(names: Iterable[str]) -> str:
    """Return names as a list of Python."""
    return f"[{', '.join(python_text(name) for name in names)}]"


def python_lines(*blocks: Iterable[str]) -> str:
    """Return blocks of lines, an empty line between them; empty ones are left out."""
    return "\n\n".join("\n".join(lines) for block in blocks if (lines := list(block)))


def sql_table(location: str) -> str:
    """Return a table by its location, as SQL names it."""
    return f"delta.`{spark_location(location).replace('`', '``')}`"


def spark_location(location: str) -> str:
    """Return a location as Hadoop's file systems take it: `s3a` is the one for S3."""
    return f"s3a{location[2:]}" if location.startswith("s3://") else location
