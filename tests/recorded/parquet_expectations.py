"""What is recorded of a Parquet file, by readers other than ours.

DuckDB reads the tree of the schema, pyarrow the row groups and statistics, and Spark
the schema that a table of Delta would have. The values are those of a reader that did
not write them.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

NUM_VALUES: Final = 5
TREE: Final = (
    "SELECT name, repetition_type, type, type_length, converted_type, field_id,"
    " num_children FROM parquet_schema(?)"
)
FILE: Final = (
    "SELECT format_version, created_by, num_rows, num_row_groups"
    " FROM parquet_file_metadata(?)"
)
PRECISIONS: Final = {"ms": "milliseconds", "us": "microseconds", "ns": "microseconds"}
KEYS: Final = "SELECT key FROM parquet_kv_metadata(?)"
COMPARED: Final = {
    "physical_type": "physical_type",
    "codec": "compression",
    "num_values": "num_values",
    "total_compressed_size": "total_compressed_size",
    "total_uncompressed_size": "total_uncompressed_size",
}


def parquet_expectations(
    path: Path, delta_schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return what readers say of a file; `partial` says that it is not all.

    Args:
        path: The file.
        delta_schema: The schema that Spark has for it; None where it has none.
    """
    data = path.read_bytes()
    version, created_by, num_rows, num_groups = duckdb.execute(
        FILE, [str(path)]
    ).fetchall()[0]
    metadata = pq.read_metadata(path)
    keys = [key.decode() for (key,) in duckdb.execute(KEYS, [str(path)]).fetchall()]
    reader, rows = _rows(path)
    return {
        "file": path.name,
        "partial": True,
        "version": version,
        "created_by": created_by,
        "num_rows": num_rows,
        "num_row_groups": num_groups,
        "footer_length": int.from_bytes(data[-8:-4], "little"),
        "key_value_metadata_keys": keys,
        "schema": _tree(path),
        "row_groups": [_group(metadata.row_group(n)) for n in range(num_groups)],
        "values": rows,
        "values_oracle": reader,
    } | ({} if delta_schema is None else {"delta_schema": delta_schema})


def bad_expectations(path: Path, kind: str) -> dict[str, Any]:
    """Return how pyarrow ends, which reads a damaged file."""
    expect = "schema_ok"
    try:
        file = pq.ParquetFile(path)
        file.close()
        expect = "schema_ok_data_error"
        pq.read_table(path)
    except (pa.ArrowException, OSError):
        expect = "error" if expect == "schema_ok" else expect
    else:
        expect = "schema_ok"
    return {
        "file": path.name,
        "kind": kind,
        "expect": expect,
        "max_seconds": 5,
        "max_rss_growth_mb": 200,
    }


def _rows(path: Path) -> tuple[str, list[dict[str, Any]]]:
    if path.name.startswith("duckdb"):
        rows, reader = pq.read_table(path), f"pyarrow {pa.__version__}"
    else:
        found = duckdb.read_parquet(str(path))
        rows, reader = found.to_arrow_table(), f"duckdb {duckdb.__version__}"
    stored = pq.read_schema(path)  # its times have the unit of the file
    plain = [
        {name: shaped(value, stored.field(name).type) for name, value in row.items()}
        for row in rows.slice(0, NUM_VALUES).to_pylist()
    ]
    return reader, plain


def shaped(value: Any, kind: pa.DataType) -> Any:  # noqa: ANN401 (JSON of any type)
    """Return a value as records have it."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {one.name: shaped(value[one.name], one.type) for one in kind}
    if pa.types.is_map(kind):
        return [
            [shaped(key, kind.key_type), shaped(item, kind.item_type)]
            for key, item in value
        ]
    if isinstance(value, list):
        return [shaped(one, kind.value_type) for one in value]
    if isinstance(value, datetime | time):
        return _moment(value, kind.unit)
    shapes = (shape for known, shape in _SHAPES if isinstance(value, known))
    shape = next(shapes, None)
    return value if shape is None else shape(value)


def _moment(value: datetime | time, unit: str) -> str:
    zone = ""
    if isinstance(value, datetime) and value.tzinfo is not None:
        value, zone = value.astimezone(UTC), "Z"
    text = value.replace(tzinfo=None).isoformat(timespec=PRECISIONS[unit])
    return f"{text}{'000' if unit == 'ns' else ''}{zone}"


def _float(value: float) -> object:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity", "-Infinity")[value < 0]


_SHAPES: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (bytes, lambda value: {"hex": value.hex()}),
    (Decimal, lambda value: format(value, "f")),
    (date, date.isoformat),
    (float, _float),
)


def _tree(path: Path) -> dict[str, Any]:
    rows = duckdb.execute(TREE, [str(path)]).fetchall()
    root, *_ = rows
    return {
        "name": root[0],
        "path": [],
        "repetition": None if root[1] is None else root[1].lower(),
        "children": [*_children(iter(rows[1:]), int(root[-1]), ())],
    }


def _children(
    elements: Iterator[tuple[Any, ...]], count: int, above: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    for _ in range(count):
        name, repetition, kind, length, converted, field_id, num_children = next(
            elements
        )
        path = (*above, name)
        node: dict[str, Any] = {
            "name": name,
            "path": [*path],
            "repetition": repetition.lower(),
            "physical_type": kind,
            "type_length": None if length is None else int(length),
            "converted_type": converted,
            "field_id": field_id,
        }
        if num_children:
            node["children"] = [*_children(elements, int(num_children), path)]
        yield node


def _group(group: pq.RowGroupMetaData) -> dict[str, Any]:
    columns = [group.column(number) for number in range(group.num_columns)]
    return {
        "num_rows": group.num_rows,
        "total_byte_size": group.total_byte_size,
        "columns": [*map(_chunk, columns)],
    }


def _chunk(chunk: pq.ColumnChunkMetaData) -> dict[str, Any]:
    said: dict[str, Any] = {
        name: getattr(chunk, theirs) for name, theirs in COMPARED.items()
    }
    statistics = chunk.statistics
    if statistics is not None and statistics.has_null_count:
        said["statistics"] = {"null_count": statistics.null_count}
    return said
