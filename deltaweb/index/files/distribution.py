"""How the files of a snapshot are spread: by size, and over partitions."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import DataType, PrimitiveType, StructType
from deltaweb.delta.values.partition_values import canonical_texts

MAX_BINS: Final = 14
LARGEST_PARTITIONS: Final = 200
MAX_VALUE_LENGTH: Final = 2_000  # characters; who writes longer ones shows them nowhere
ROWS_A_PIECE: Final = 65_536
SMALLEST_EDGE: Final = 1024  # bytes; smaller files share the first bin
MAX_LONG: Final = (1 << 63) - 1
HALF_BITS: Final = 32  # half of a long
_TEXT: Final = PrimitiveType("string")
LOW_HALF: Final = (1 << HALF_BITS) - 1


def size_histogram(sizes: pa.ChunkedArray) -> dict[str, list[int]]:
    """Count files, and the bytes they hold, by size on a logarithmic scale.

    Returns:
        `edges`: the n + 1 edges of the bins in bytes, each a power of two; bin i
        covers sizes from edge i to below edge i + 1. `counts` and `bytes`: n long.
        All empty without files.
    """
    values = pc.fill_null(sizes, 0).to_numpy()
    if not len(values):
        return {"edges": [], "counts": [], "bytes": []}
    edges = _edges(int(values.min()), int(values.max()))
    # The last edge may be more than a long: where each bin begins is enough.
    starts = np.array(edges[:-1], dtype=np.int64)
    bins = np.maximum(np.searchsorted(starts, values, side="right") - 1, 0)
    return {
        "edges": edges,
        "counts": np.bincount(bins, minlength=len(starts)).tolist(),
        "bytes": _exact_totals(bins, values, len(starts)),
    }


def _exact_totals(
    bins: npt.NDArray[np.int64], values: npt.NDArray[np.int64], count: int
) -> list[int]:
    """Add up longs by bin; their sum may be more than a long."""
    high, low = (np.zeros(count, dtype=np.int64) for _ in range(2))
    np.add.at(high, bins, values >> HALF_BITS)
    np.add.at(low, bins, values & LOW_HALF)
    halves = zip(high.tolist(), low.tolist(), strict=True)
    return [(above << HALF_BITS) + below for above, below in halves]


def _edges(smallest: int, largest: int) -> list[int]:
    low = max(smallest, SMALLEST_EDGE).bit_length() - 1
    high = max(largest, SMALLEST_EDGE).bit_length()
    step = math.ceil((high - low) / MAX_BINS)
    exponents = list(range(low, high, step))
    edges = [2**exponent for exponent in (*exponents, exponents[-1] + step)]
    return [0, *edges[1:]] if smallest < edges[0] else edges


def partition_totals(
    files: pa.Table,
    num_records: pa.ChunkedArray,
    columns: Sequence[str],
    keys: Sequence[str] | None = None,
    schema: StructType | None = None,
) -> tuple[list[dict[str, Any]], int]:
    """Add up files, bytes and rows by partition, whatever a writer's text for it.

    Args:
        files: `size` and `partition_values` of the files.
        keys: What partition values call them; None where that is their names.
        schema: The table's columns; None where they are not known, and texts count.

    Returns:
        The partitions that hold most bytes, largest first, without those of endless
        values, and the count of all: `values` as we write them, `files`, `bytes`, and
        `rows` (None if a file's are unknown).
    """
    if not columns or not files.num_rows:
        return [], 0
    rows = files.select(["partition_values"])
    rows = rows.append_column("size", summable(files["size"]))
    rows = rows.append_column("num_records", summable(num_records))
    # Piece by piece, so that memory holds the partitions and not the files.
    named = list(zip(columns if keys is None else keys, columns, strict=True))
    pieces = [
        _grouped(piece, [(key, type_of(schema, name)) for key, name in named])
        for piece in rows.to_batches(max_chunksize=ROWS_A_PIECE)
    ]
    by = [f"key_{index}" for index in range(len(columns))]
    sums = [(name, "sum") for name in ("files", "bytes", "rows", "unknown")]
    groups = pa.concat_tables(pieces).group_by(by).aggregate(sums)
    groups = groups.rename_columns([*by, *(name for name, _ in sums)])
    order = [("bytes", "descending"), *((key, "ascending") for key in by)]
    largest = groups.take(pc.select_k_unstable(groups, LARGEST_PARTITIONS, order))
    shown = [_partition(row, columns) for row in largest.to_pylist()]
    return [one for one in shown if _can_be_shown(one["values"])], groups.num_rows


def summable(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return numbers of files whose sum is a long, whatever a log claims.

    Numbers that are capped are beyond any file that there is.
    """
    largest = pc.max(numbers).as_py() or 0
    if largest * len(numbers) <= MAX_LONG:
        return numbers
    return pc.min_element_wise(numbers, MAX_LONG // len(numbers), skip_nulls=False)


def _can_be_shown(values: Mapping[str, str | None]) -> bool:
    return all(len(value or "") <= MAX_VALUE_LENGTH for value in values.values())


def _grouped(
    files: pa.RecordBatch, columns: Sequence[tuple[str, DataType | None]]
) -> pa.Table:
    """Add up some files by partition: by values of some types, under some keys."""
    keys = [f"key_{index}" for index in range(len(columns))]
    texts = [
        partition_texts(files["partition_values"], key, kind) for key, kind in columns
    ]
    values = [*texts, files["size"], files["num_records"]]
    groups = (
        pa.table(values, names=[*keys, "size", "num_records"])
        .group_by(keys)
        .aggregate(
            [
                ("size", "count", pc.CountOptions(mode="all")),
                ("size", "sum"),
                ("num_records", "sum"),
                ("num_records", "count", pc.CountOptions(mode="only_null")),
            ]
        )
    )
    return groups.rename_columns([*keys, "files", "bytes", "rows", "unknown"])


def type_of(schema: StructType | None, column: str) -> DataType | None:
    """Return the type of a column; None where it is not known."""
    found = None if schema is None else schema.find(column)
    return None if found is None else found.data_type


def partition_texts(
    values: pa.Array | pa.ChunkedArray, column: str, data_type: DataType | None = None
) -> pa.Array | pa.ChunkedArray:
    """Return the values of a partition column as text; what stands for null is null.

    Args:
        column: The column; null where a file has no value of it.
        data_type: Its type: each value has one text then, ours. None where it is not
            known, and a value has the text of the log.

    Source: delta_protocol.md, "Partition Value Serialization": an empty string is
        null, whatever the type.
    """
    texts = pc.map_lookup(values, query_key=column, occurrence="last")
    if data_type not in {None, _TEXT}:
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.combine_chunks()
        return canonical_texts(texts, data_type)
    is_empty = pc.equal(texts, "")
    if not pc.any(is_empty).as_py():
        return texts
    return pc.if_else(is_empty, pa.scalar(None, texts.type), texts)


def written_value(text: str | None, data_type: DataType | None) -> str | None:
    """Return the text of a value as `partition_texts` has it."""
    if text is None or data_type in {None, _TEXT}:
        return text
    found = canonical_texts(pa.array([text], pa.string()), data_type)
    written: str | None = found[0].as_py()
    return written


def _partition(row: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    values = {name: row[f"key_{index}"] for index, name in enumerate(columns)}
    rows = None if row["unknown"] else row["rows"]
    return {
        "values": values,
        "files": row["files"],
        "bytes": row["bytes"] or 0,
        "rows": rows,
    }
