"""The first rows of a file, read by pyarrow from a neutral footer.

It is for a process that may end: a page that lies about its size can make pyarrow take
any memory, or end the process. See `preview`.
"""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.arrow_footer import parse_arrow_footer
from deltaweb.parquet.errors import ValuesUnreadableError
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.rendering import JSON
from deltaweb.parquet.schema import Node
from deltaweb.parquet.values.extents import check_extents, choose_groups
from deltaweb.parquet.values.neutral import neutral_footer
from deltaweb.parquet.values.shaping import (
    Physical,
    field_names,
    has_leaves,
    shape_field,
)

BATCH_ROWS: Final = 256


def read_rows(
    source: pa.NativeFile, limit: int, row_group: int | None = None
) -> list[dict[str, JSON]]:
    """Read the first rows of a file, or of one of its row groups.

    Raises:
        ParquetError: If the file or its pages do not read.
    """
    footer = load_footer(source)
    groups = choose_groups(footer, limit, row_group)
    check_extents(groups, source.size())
    if not footer.leaves:
        return [{} for _ in range(min(limit, footer.metadata.num_rows))]
    neutral = neutral_footer(footer, groups)
    try:
        metadata = parse_arrow_footer(neutral)
        file = pq.ParquetFile(source, metadata=metadata, arrow_extensions_enabled=False)
        rows: list[dict[str, JSON]] = []
        for batch in file.iter_batches(BATCH_ROWS, use_threads=False):
            rows += _rows(batch, footer.root, limit - len(rows))
            if len(rows) >= limit:
                break
    except (pa.ArrowException, OSError) as error:
        raise ValuesUnreadableError(reason=str(error).splitlines()[0]) from None
    return rows


def _rows(batch: pa.RecordBatch, root: Node, limit: int) -> Iterator[dict[str, JSON]]:
    columns = [physical_values(column[:limit]) for column in batch.columns]
    nodes = [child for child in root.children or () if has_leaves(child)]
    names = field_names(nodes)
    for values in zip(*columns, strict=True):
        yield {
            name: shape_field(node, value)
            for name, node, value in zip(names, nodes, values, strict=True)
        }


def physical_values(column: pa.Array) -> list[Physical]:
    """Return the values of a column: groups as tuples, INT96 as its text."""
    if pa.types.is_struct(column.type):
        parts = [physical_values(part) for part in column.flatten()]
        made = list(zip(*parts, strict=True)) if parts else [()] * len(column)
        valid = column.is_valid().to_pylist()
        return [value if ok else None for value, ok in zip(made, valid, strict=True)]
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        offsets = column.offsets.to_pylist()
        start = offsets[0] if offsets else 0
        inner = physical_values(column.values[start : offsets[-1]])
        valid = column.is_valid().to_pylist()
        return [
            inner[low - start : high - start] if ok else None
            for low, high, ok in zip(offsets, offsets[1:], valid, strict=False)
        ]
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values: list[Physical] = column.to_pylist()
    return values
