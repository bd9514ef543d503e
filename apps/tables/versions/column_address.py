"""What a column is called in an address: names with dots, quoted where they have any.

`a.b` is the field b of the column a, or a column that is called so; `` `a.b`.c `` is
the field c of the column a.b. A backtick of a name is doubled.
"""

from collections.abc import Sequence

from deltaweb.delta.protocol.column_path import parse_path, quoted_path


def column_address(names: Sequence[str]) -> str:
    """Return the address of a column, given its names from the top."""
    return quoted_path(names)


def parse_address(text: str) -> tuple[str, ...]:
    """Return the names that an address says."""
    return parse_path(text)
