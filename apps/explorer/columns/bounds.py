"""What the files of the newest version tell of many columns at once, in brief."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Final

from deltaweb.index.folder.file_index import open_files
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.web.explorer.columns.ranges import ColumnRanges, known_ranges
from deltaweb.web.explorer.columns.tree import SchemaColumn
from deltaweb.web.explorer.grid import cell
from deltaweb.web.explorer.version.listed import Kept
from deltaweb.web.explorer.version.table_version import TableVersion
from deltaweb.web.tables.index.folders import index_folder
from deltaweb.words import cut

MAX_BOUND_LENGTH: Final = 24  # characters of a bound in a list
MAX_CELLS: Final = 20_000_000  # columns times files that a page adds up
MAX_KEPT: Final = 64

Bounds = Mapping[str, "ColumnBounds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBounds:
    """Nulls and bounds of a column, as a list shows them.

    Attributes:
        minimum, maximum: As a line shows them; "" where no file has them. Of a wide
            file they are what the values lie within.
    """

    ranges: ColumnRanges
    minimum: str
    maximum: str

    @property
    def is_within(self) -> bool:
        """Whether an end may be of deleted rows: the values lie within both."""
        ends = (self.ranges.minimum, self.ranges.maximum)
        return bool(self.ranges.num_bounds) and None in ends

    @property
    def coverage_percent(self) -> int:
        """Files with a minimum and a maximum, of a hundred."""
        files = self.ranges.num_files
        return 100 * self.ranges.num_bounds // files if files else 0


_kept: Kept[Bounds] = Kept(MAX_KEPT)


def column_bounds(at: TableVersion, columns: Sequence[SchemaColumn]) -> Bounds:
    """Return what files tell of columns, by path.

    Args:
        at: The version; nothing is told of one that is not the newest.
    """
    folder = index_folder(at.table)
    if folder is None or not at.is_latest:
        return {}
    key = (str(folder), tuple(column.names for column in columns))
    try:
        return _kept.get(key, lambda: _read(str(folder), columns))
    except IndexMissingError:
        return {}


def _read(folder: str, columns: Sequence[SchemaColumn]) -> Bounds:
    files = open_files(folder)
    room = MAX_CELLS // max(files.num_rows, 1)
    found = (
        (column, known_ranges(files, column.names, is_partition=column.is_partition))
        for column in columns[:room]
        if not column.num_children
    )
    return {
        column.path: ColumnBounds(
            ranges=ranges,
            minimum=_shown(ranges.lowest),
            maximum=_shown(ranges.highest),
        )
        for column, ranges in found
        if ranges is not None and (ranges.num_bounds or ranges.num_counts)
    }


def _shown(value: object) -> str:
    if value is None:
        return ""
    return cut(cell(value, UTC).text, MAX_BOUND_LENGTH) if value != "" else '""'
