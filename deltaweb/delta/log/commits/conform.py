"""Values of JSON brought to the types of their columns, exactly or not at all."""

import json
from typing import Final

import pyarrow as pa

from deltaweb.delta.errors import LogCorruptError

INT64: Final = range(-(2**63), 2**63)


def conform(value: object, data_type: pa.DataType, *, path: str, name: str) -> object:
    if value is None:
        return None
    if pa.types.is_struct(data_type):
        return _conform_struct(value, data_type, path=path, name=name)
    if pa.types.is_boolean(data_type) and isinstance(value, bool):
        return value
    if pa.types.is_int64(data_type):
        number = _as_integer(value)
        if number is not None:
            return number
    elif pa.types.is_string(data_type):
        text = _as_text(value, is_partition_value=".partitionValues." in path)
        if text is not None:
            return text
    raise LogCorruptError(path=name, reason=f"{path} is not a {data_type}")


def _conform_struct(
    value: object, data_type: pa.StructType, *, path: str, name: str
) -> dict[str, object]:
    if not isinstance(value, dict):
        raise LogCorruptError(path=name, reason=f"{path} is not an object")
    return {
        part.name: conform(
            value.get(part.name), part.type, path=f"{path}.{part.name}", name=name
        )
        for part in data_type
    }


def _as_integer(value: object) -> int | None:
    """Return a JSON number without a fraction as the long that it is."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value in INT64:
        return value
    return None


def _as_text(value: object, *, is_partition_value: bool) -> str | None:
    """Return text; a partition value that is a bare number or truth is its text."""
    if isinstance(value, str):
        return None if _has_lone_surrogate(value) else value
    if is_partition_value and isinstance(value, int | float):
        return json.dumps(value)
    return None


def _has_lone_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text)
