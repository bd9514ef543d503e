"""Parquet files by themselves: footers, logical types, statistics, values.

Read the modules in this order:

    tail         the footer's bytes, with one read of the file's end
    compact      Thrift's compact protocol, bounded
    metadata     what a footer holds, as stored
    counts       what a reader of rows asks of it, and nothing else
    arrow_footer it as pyarrow takes it
    annotations  what a logical type is, and which physical types may have it
    schema       the columns as a tree
    nesting      lists and maps, however they are nested
    rendering    values as JSON, by their type
    statistics   bounds of column chunks, and whether they may be believed
    conversion   the schema as other systems write it
    loading      the footer of a file with its schema
    inspection   a footer as one JSON document, or as tables that a page shows by parts
    values       rows as JSON, read where nothing takes a process down

Nothing here knows a Delta table. pyarrow is asked for no metadata: it ends the process
on footers that contradict themselves.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltaweb.parquet.tail import Source


def describe(source: "Source") -> dict[str, Any]:
    """Return what the footer of a file says, as JSON.

    Args:
        source: A local path, or an open file: of Arrow, of Python, or of fsspec.

    Raises:
        ParquetError: If the file is none, is encrypted, or its footer is corrupt.
        OSError: If the file does not read.
    """
    # What reads log files needs none of this.
    from deltaweb.parquet.inspection.description import describe_footer  # noqa: PLC0415
    from deltaweb.parquet.loading import load_footer  # noqa: PLC0415
    from deltaweb.parquet.tail import open_source  # noqa: PLC0415

    with open_source(source) as opened:
        return describe_footer(load_footer(opened))


def preview(
    source: "Source", limit: int = 20, *, row_group: int | None = None
) -> list[dict[str, Any]]:
    """Return the first rows of a file, or of one of its row groups, as JSON.

    A child process reads them, with limits of time and memory.

    Args:
        source: A local path, or an open file: of Arrow, of Python, or of fsspec.
        row_group: The position of a row group; None for the whole file.

    Raises:
        ParquetError: If the file does not read, or takes more than it may.
        OSError: If the file does not open.
    """
    from deltaweb.parquet.values.preview import read_preview  # noqa: PLC0415

    return read_preview(source, limit, row_group=row_group)
