"""A column's values added up in this process, exactly: all of them are held at once."""

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.profile.column import ProfiledColumn
from deltaweb.delta.profile.described import (
    QUANTILES,
    TOP_VALUES,
    ColumnProfile,
    describe,
)
from deltaweb.delta.profile.histogram import (
    HAS_BINS,
    Edges,
    counts_between,
    edges_of,
)
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.snapshot import Snapshot


def profile_column(
    snapshot: Snapshot,
    column: ColumnPath,
    *,
    on_progress: Callable[[int], None],
) -> ColumnProfile:
    """Read one column of a version and describe its values."""
    files = snapshot.row_source(snapshot.files)
    profiled = ProfiledColumn.of(files.schema, files.partition_columns, column)
    batches, num_rows = [], 0
    for batch in profiled.read(files.files, files.open_file):
        batches.append(batch)
        num_rows += batch.num_rows
        on_progress(num_rows)
    rows = pa.Table.from_batches(batches, schema=profiled.schema)
    return describe(profiled, snapshot.version, _sums(profiled.kind, rows))


def _sums(kind: str, rows: pa.Table) -> dict[str, Any]:
    """Add up the values, as `describe` takes it."""
    values = rows["value"].drop_null()
    sums: dict[str, Any] = {"num_rows": rows.num_rows, "present": len(values)}
    if kind == "presence":
        return sums
    if kind == "double":
        values = pc.add(values, 0.0)  # of -0.0 and 0.0 one value
    counts = pc.value_counts(values.combine_chunks())
    sums |= {"num_distinct": len(counts), "top": _most_frequent(counts)}
    if kind == "double":
        is_nan = pc.is_nan(values)
        sums["num_nan"] = pc.sum(is_nan, min_count=0).as_py()
        values = values.filter(pc.invert(is_nan))
    sums["minimum"], sums["maximum"] = pc.min_max(values).as_py().values()
    if kind in {"integer", "double", "decimal"}:
        numbers = values.cast(pa.float64(), safe=False)
        sums["mean"] = pc.mean(numbers).as_py()
        sums["deviation"] = pc.stddev(numbers).as_py()
    if kind in {"integer", "double", "decimal", "date", "timestamp"} and len(values):
        ordered = values.take(pc.array_sort_indices(values.combine_chunks()))
        places = (math.ceil(share * len(ordered)) - 1 for share in QUANTILES)
        sums["quantiles"] = [ordered[max(place, 0)].as_py() for place in places]
    if kind in HAS_BINS:
        sums["histogram"] = _histogram(kind, values)
    if kind in {"text", "binary"}:
        lengths = rows["length"]
        least, most = pc.min_max(lengths).as_py().values()
        sums |= {"min_length": least, "max_length": most}
        sums["mean_length"] = pc.mean(lengths).as_py()
        sums["num_empty"] = pc.sum(pc.equal(lengths, 0), min_count=0).as_py()
    return sums


def _histogram(kind: str, values: pa.ChunkedArray) -> tuple[Edges, list[int]]:
    """Return the edges of bins and the counts of the finite values between them."""
    if kind in {"double", "decimal"}:
        values = values.cast(pa.float64(), safe=False)
        values = values.filter(pc.is_finite(values))
    if not len(values):
        return (), []
    found = values.to_numpy()
    edges = edges_of(kind, found.min().item(), found.max().item())
    return edges, counts_between(found, edges)


def _most_frequent(counts: pa.StructArray) -> list[tuple[Any, int]]:
    """Return values and their counts; of equal counts the smaller value first."""
    table = pa.table({"value": counts.field("values"), "count": counts.field("counts")})
    order = [("count", "descending"), ("value", "ascending")]
    top = pc.select_k_unstable(table, TOP_VALUES, order)
    found = table.take(top)
    return list(
        zip(*(found[name].to_pylist() for name in table.column_names), strict=True)
    )
