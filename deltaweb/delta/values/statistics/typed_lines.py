"""Lines of JSON as typed objects, and these as columns.

`msgspec` builds of a line only what is asked for, in less time than Arrow's reader
takes, which is as strict. But objects take a multiple of the memory of columns, and
several threads cannot make them at once: it is for a few thousand lines.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import pyarrow as pa


def _integer(bits: int) -> Any:  # noqa: ANN401  # an annotated type
    return Annotated[int, msgspec.Meta(ge=-(1 << bits - 1), le=(1 << bits - 1) - 1)]


_TYPES: Final[Mapping[pa.DataType, Any]] = {
    pa.string(): str,
    pa.float64(): float,
    pa.int8(): _integer(8),
    pa.int16(): _integer(16),
    pa.int32(): _integer(32),
    pa.int64(): _integer(64),
}
"""How values are parsed, by the Arrow type that they become."""
# `msgspec` takes no names that JSON would have to escape: a `ValueError`, as for bytes
# that are no text.
_FAULTS: Final = (msgspec.MsgspecError, ValueError, RecursionError)


def read_typed_lines(lines: pa.Buffer, schema: pa.Schema) -> pa.Table | None:
    """Read JSON objects, one after the other.

    Args:
        schema: The fields asked for; one that an object lacks is null.

    Returns:
        A row an object; None where a value is not of its field's type, where a type
        or a name is none that is read here, and where the lines are no JSON.
    """
    whole = pa.struct(list(schema))
    try:
        str(lines, "utf-8")  # what is skipped must be text, too
        objects = _decoder(whole).decode_lines(lines)
    except (KeyError, *_FAULTS):
        return None
    columns = pa.RecordBatch.from_struct_array(_array(objects, whole))
    return pa.Table.from_batches([columns])


@lru_cache(maxsize=16)
def _decoder(kind: pa.StructType) -> "msgspec.json.Decoder[Any]":
    """Return what reads such objects; of few lines it takes longer than they do."""
    return msgspec.json.Decoder(_object_type(kind))


def _object_type(kind: pa.StructType) -> type[msgspec.Struct]:
    """Return the type of an object; raise `KeyError` for a type that is not read."""
    names = {_name(position): field.name for position, field in enumerate(kind)}
    fields = [
        (name, _value_type(field.type) | None, None)
        for name, field in zip(names, kind, strict=True)
    ]
    return msgspec.defstruct("Object", fields, rename=names, gc=False)


class _Nothing:
    """An object that lacks every field."""

    def __getattr__(self, name: str) -> None:
        """Return that there is none."""


_NOTHING: Final = _Nothing()


def _value_type(kind: pa.DataType) -> Any:  # noqa: ANN401  # as above
    return _object_type(kind) if pa.types.is_struct(kind) else _TYPES[kind]


def _name(position: int) -> str:
    """Return what a field is called here: those of JSON may be no names of Python."""
    return f"field_{position}"


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if not pa.types.is_struct(kind):
        return pa.array(values, kind)
    is_null = np.zeros(len(values), np.bool_)
    if not all(values):
        is_null = np.array([value is None for value in values], np.bool_)
        values = [value or _NOTHING for value in values]
    columns = [
        _array([*map(attrgetter(_name(position)), values)], field.type)
        for position, field in enumerate(kind)
    ]
    return pa.StructArray.from_arrays(
        columns, fields=list(kind), mask=pa.array(is_null)
    )
