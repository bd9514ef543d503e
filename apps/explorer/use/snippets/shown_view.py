"""Which version, columns and rows a page shows."""

from dataclasses import dataclass

from apps.explorer.rows.filters import RowFilter
from apps.pages.snippets import variable


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownView:
    """A version of a table, or a part of it.

    Attributes:
        name: The table's name, without its namespace.
        location: Its folder or URL.
        version: The version.
        columns: The chosen columns; empty for all.
        filters: The conditions; all must hold.
        shared_as: What recipients address it by, `share.schema.table`; "" where it
            is in no share, or not with this version.
        data_url: Where its rows are JSON: the page, absolute.
    """

    name: str
    location: str
    version: int
    columns: tuple[str, ...] = ()
    filters: tuple[RowFilter, ...] = ()
    shared_as: str = ""
    data_url: str = ""

    @property
    def variable(self) -> str:
        """The name of its variable in Python."""
        return variable(self.name)
