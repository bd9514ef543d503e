"""Which columns of a Parquet file get a minimum and a maximum in its footer.

A column with a NaN gets none: Spark orders NaN above every number, Parquet's bounds
leave it out, and who skips row groups by them would lose its rows.

Source: parquet-format, "Statistics" (`TypeDefinedOrder` of FLOAT and DOUBLE); the
reference implementation of Parquet drops such bounds.
"""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.whole import as_lists

ELEMENT: Final = "list.element"
KEY: Final = "key_value.key"
VALUE: Final = "key_value.value"
"""What files call the parts of lists and maps."""


def leaves_with_nan(rows: pa.Table) -> frozenset[str]:
    """Return the leaf columns of rows that have a NaN, by the paths of a file."""
    return frozenset(
        path
        for field, column in zip(rows.schema, rows.columns, strict=True)
        if _has_floats(field.type)
        for chunk in column.chunks
        for path in _with_nan(chunk, field.name)
    )


def leaves_without(schema: pa.Schema, unbounded: frozenset[str]) -> list[str] | bool:
    """Return the leaf columns of a file that get bounds: all, or the paths of some."""
    if not unbounded:
        return True
    paths = [path for field in schema for path, _ in _leaves(field.type, field.name)]
    return [path for path in paths if path not in unbounded] or False


def floating_leaves(schema: pa.Schema) -> frozenset[str]:
    """Return the leaf columns of a file that may have a NaN."""
    return frozenset(
        path
        for field in schema
        for path, kind in _leaves(field.type, field.name)
        if pa.types.is_floating(kind)
    )


def _leaves(kind: pa.DataType, path: str) -> Iterator[tuple[str, pa.DataType]]:
    if pa.types.is_struct(kind):
        for part in kind:
            yield from _leaves(part.type, f"{path}.{part.name}")
    elif pa.types.is_map(kind):
        yield from _leaves(kind.key_type, f"{path}.{KEY}")
        yield from _leaves(kind.item_type, f"{path}.{VALUE}")
    elif pa.types.is_list(kind):
        yield from _leaves(kind.value_type, f"{path}.{ELEMENT}")
    else:
        yield path, kind


def _has_floats(kind: pa.DataType) -> bool:
    return any(pa.types.is_floating(leaf) for _, leaf in _leaves(kind, ""))


def _with_nan(array: pa.Array, path: str) -> Iterator[str]:
    kind = array.type
    if not _has_floats(kind):
        return
    if pa.types.is_struct(kind):
        for part, inside in zip(kind, array.flatten(), strict=True):
            yield from _with_nan(inside, f"{path}.{part.name}")
    elif pa.types.is_map(kind):
        entries = as_lists(array).flatten()
        yield from _with_nan(pc.struct_field(entries, [0]), f"{path}.{KEY}")
        yield from _with_nan(pc.struct_field(entries, [1]), f"{path}.{VALUE}")
    elif pa.types.is_list(kind):
        yield from _with_nan(array.flatten(), f"{path}.{ELEMENT}")
    elif pc.any(pc.is_nan(array)).as_py():
        yield path
