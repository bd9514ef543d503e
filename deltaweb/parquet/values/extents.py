"""Where the pages of rows are, which must be inside the file."""

from collections.abc import Sequence

from deltaweb.parquet.errors import RowsMissingError, ValuesUnreadableError
from deltaweb.parquet.loading import ParquetFooter
from deltaweb.parquet.metadata import ColumnChunk, RowGroup


def chunk_start(chunk: ColumnChunk) -> int:
    """Return where the first page of a column chunk begins; -1 if unknown."""
    values = chunk.values
    dictionary: int = values.get("dictionary_page_offset") or 0
    data: int = values.get("data_page_offset", -1)
    return dictionary if 0 < dictionary < data else data


def choose_groups(
    footer: ParquetFooter, limit: int, row_group: int | None
) -> list[RowGroup]:
    """Return the row groups that hold the rows that are asked for."""
    everything = footer.metadata.row_groups
    if footer.leaves:
        check_row_counts(footer)
    if row_group is not None:
        if not 0 <= row_group < len(everything):
            number = len(everything)
            reason = f"it has {number:,} row groups, but not row group {row_group:,}"
            raise ValuesUnreadableError(reason=reason)
        return list(everything[row_group : row_group + 1])
    chosen: list[RowGroup] = []
    rows = 0
    for group in everything:
        if rows >= limit:
            break
        chosen.append(group)
        rows += max(0, group.num_rows)
    return chosen


def check_row_counts(footer: ParquetFooter) -> None:
    """Check that the rows of the row groups are those of the file."""
    counts = [group.num_rows for group in footer.metadata.row_groups]
    if sum(counts) != footer.metadata.num_rows or min(counts, default=0) < 0:
        raise RowsMissingError(
            reason=f"the footer says {footer.metadata.num_rows:,} rows, but"
            f" the row groups have {sum(counts):,}"
        )


def check_extents(groups: Sequence[RowGroup], size: int) -> None:
    """Check that all pages are inside the file."""
    for group in groups:
        for chunk in group.columns:
            check_extent(chunk, size)


def check_extent(chunk: ColumnChunk, size: int) -> None:
    """Check that the pages of a column chunk are inside the file."""
    start = chunk_start(chunk)
    length = chunk.values.get("total_compressed_size")
    if length is None:
        raise ValuesUnreadableError(reason="a column chunk has no metadata")
    if start < 0 or length < 0 or start + length > size:
        column = ".".join(chunk.path)
        reason = f"the pages of {column} are not inside the file"
        raise ValuesUnreadableError(reason=reason)
