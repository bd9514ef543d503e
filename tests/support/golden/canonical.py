"""Rows as lines of text that do not depend on an order, and their hash.

A row is one JSON object, with its keys sorted, no spaces and no escapes. Its keys are
the names of the columns in the table's schema. Its values follow the types of Delta:

- numbers are numbers; NaN and the infinities are text
- decimals are text with all digits of their scale, binary is hexadecimal text
- dates, instants (with Z) and local times are ISO texts; times have six digits
- a map is a list of pairs, sorted by the JSON text of the key
- variants and geometries are left out, with the whole column that holds them

The lines are sorted by their UTF-8 bytes and joined by line feeds; `content_sha256` of
a record is their hash. Tables outside the repository are recorded by the same rules.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa

Kind = str | Mapping[str, Any]
"""A type, as a schema of Delta has it."""
LEFT_OUT: Final = ("variant", "geometry", "geography", "interval")
WIDE: Final = Context(prec=60)


def content_sha256(lines: Iterable[str]) -> str:
    """Return the hash of lines."""
    return hashlib.sha256(_bytes("\n".join(lines))).hexdigest()


def lines(schema_string: str, rows: pa.Table) -> list[str]:
    """Return the lines of rows.

    Args:
        schema_string: The schema of the table, as JSON.
        rows: The rows, by the names of that schema. A column that is missing is NULL.
    """
    fields = [one for one in json.loads(schema_string)["fields"] if not _is_out(one)]
    columns = {one["name"]: _column(rows, one["name"], one["type"]) for one in fields}
    found = [
        _text({name: values[number] for name, values in columns.items()})
        for number in range(rows.num_rows)
    ]
    return sorted(found, key=_bytes)


def _is_out(field: Mapping[str, Any]) -> bool:
    return _holds_left_out(field["type"])


def _holds_left_out(kind: Kind) -> bool:
    if isinstance(kind, str):
        return kind.startswith(LEFT_OUT)
    parts = [kind.get(name) for name in ("elementType", "keyType", "valueType")]
    parts += [field["type"] for field in kind.get("fields", ())]
    return any(_holds_left_out(part) for part in parts if part is not None)


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _column(rows: pa.Table, name: str, kind: Kind) -> list[object]:
    if name not in rows.column_names:
        return [None] * rows.num_rows
    chunks = rows[name].chunks
    return [value for chunk in chunks for value in _values(chunk, kind)]


def _values(array: pa.Array, kind: Kind) -> list[object]:
    if pa.types.is_null(array.type):
        return [None] * len(array)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if isinstance(kind, str):
        return _plain_values(array, kind)
    return _NESTED[kind["type"]](array, kind)


def _struct(array: pa.Array, kind: Mapping[str, Any]) -> list[object]:
    names = [array.type.field(number).name for number in range(array.type.num_fields)]
    columns = {
        field["name"]: _values(array.field(names.index(field["name"])), field["type"])
        for field in kind["fields"]
        if field["name"] in names
    }
    missing = [one["name"] for one in kind["fields"] if one["name"] not in names]
    return [
        {name: column[number] for name, column in columns.items()}
        | dict.fromkeys(missing)
        if valid
        else None
        for number, valid in enumerate(array.is_valid().to_pylist())
    ]


def _list(array: pa.Array, kind: Mapping[str, Any]) -> list[object]:
    elements = _values(array.values, kind["elementType"])
    return [*_ranges(array, elements)]


def _map(array: pa.Array, kind: Mapping[str, Any]) -> list[object]:
    keys = _values(array.keys, kind["keyType"])
    items = _values(array.items, kind["valueType"])
    pairs: list[object] = [list(pair) for pair in zip(keys, items, strict=True)]
    return [
        None if found is None else sorted(found, key=lambda pair: _text(pair[0]))
        for found in _ranges(array, pairs)
    ]


def _ranges(array: pa.Array, values: list[Any]) -> list[list[Any] | None]:
    bounds = array.offsets.to_pylist()
    return [
        values[bounds[number] : bounds[number + 1]] if valid else None
        for number, valid in enumerate(array.is_valid().to_pylist())
    ]


_NESTED: Final[Mapping[str, Callable[[pa.Array, Mapping[str, Any]], list[Any]]]] = {
    "struct": _struct,
    "array": _list,
    "map": _map,
}


def _plain_values(array: pa.Array, kind: str) -> list[object]:
    change: Callable[[Any], object] = _changes(kind)
    if kind in {"timestamp", "timestamp_ntz"}:
        # Python has no times after the year 9999, and 64 bits of them have.
        array = array.cast(pa.timestamp("us", array.type.tz), safe=False)
        array = array.cast(pa.int64())
    elif kind == "date":
        array = array.cast(pa.date32()).cast(pa.int32())
    return [None if value is None else change(value) for value in array.to_pylist()]


def _changes(kind: str) -> Callable[[Any], object]:
    if kind.startswith("decimal"):
        digits = int(kind[kind.index(",") + 1 : -1]) if "," in kind else 0
        unit = Decimal(1).scaleb(-digits)
        return lambda value: format(Decimal(value).quantize(unit, context=WIDE), "f")
    if kind.startswith(("string", "varchar", "char")):
        return lambda value: value if isinstance(value, str) else value.decode()
    return _PLAIN[kind]


def _float(value: float) -> object:
    value = float(value)
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else ("Infinity", "-Infinity")[value < 0]


_PLAIN: Final[Mapping[str, Callable[[Any], object]]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), _float),
    **dict.fromkeys(("void", "null"), lambda _: None),
    "boolean": bool,
    "binary": bytes.hex,
    "date": lambda days: str(np.datetime64(days, "D")),
    "timestamp": lambda micros: f"{np.datetime64(micros, 'us')}Z",
    "timestamp_ntz": lambda micros: str(np.datetime64(micros, "us")),
}
