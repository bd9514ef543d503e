"""A page of the schema's tree: some rows, and what files tell of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from deltaweb.web.explorer.columns.bounds import ColumnBounds, column_bounds
from deltaweb.web.explorer.columns.tree import SchemaColumn, SchemaTree
from deltaweb.web.explorer.version.table_version import TableVersion
from deltaweb.web.pages.paging import Paged, paged

PAGE_LENGTH: Final = 150
JSON_LENGTH: Final = 500  # columns of a page of the JSON form


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaPage:
    """Some rows of the tree, and how many there are.

    Attributes:
        columns: The rows; those above the first one lead to it.
        num_above: How many of them stand there only as the way to the first.
        paged: Where the page stands among the rows that the filter leaves.
        bounds: What files tell, by the path of a column; nothing of one that they
            do not tell of.
    """

    columns: tuple[SchemaColumn, ...]
    num_above: int
    paged: Paged
    bounds: Mapping[str, ColumnBounds] = field(default_factory=dict)

    @property
    def has_about(self) -> bool:
        """Whether a column of the page has a comment or a fact beside its mapping."""
        return any(column.comment or column.logical_facts for column in self.columns)

    @property
    def rows(self) -> list[tuple[SchemaColumn, ColumnBounds | None]]:
        """Each column with what files tell of it."""
        return [(column, self.bounds.get(column.path)) for column in self.columns]


def schema_page(
    at: TableVersion,
    tree: SchemaTree,
    text: str,
    *,
    page: int,
    length: int = PAGE_LENGTH,
) -> SchemaPage:
    """Return one page of the rows that a filter leaves.

    Args:
        at: The version.
        tree: Its columns.
        text: What the path, type or comment holds; "" for every row.
        page: The number of the page, from 1; the last one where there are fewer.
        length: Rows of a page.
    """
    matching = tree.matching(text)
    place = paged(len(matching), page, length=length)
    shown = matching[place.rows]
    above = _above(matching, place.start)
    columns = (*above, *shown)
    return SchemaPage(
        columns=columns,
        num_above=len(above),
        paged=place,
        bounds=column_bounds(at, columns),
    )


def _above(columns: tuple[SchemaColumn, ...], start: int) -> tuple[SchemaColumn, ...]:
    """Return the rows that lead to the row at `start`, the topmost first."""
    if start >= len(columns) or not columns[start].depth:
        return ()
    found: list[SchemaColumn] = []
    depth = columns[start].depth
    for column in reversed(columns[:start]):
        if column.depth < depth:
            found.append(column)
            depth = column.depth
        if not depth:
            break
    return tuple(reversed(found))
