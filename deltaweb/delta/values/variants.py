"""Variants of data files as JSON text, plain and shredded, and with their types.

A file holds a variant as a struct of bytes, of which parts may be columns of a type of
their own. The text is that of the reference implementation's `to_json`: exact decimals,
days and times as texts in UTC, bytes in Base64, NaN as text. A NULL of SQL is null, a
null within a variant is the text `null`.

Text alone does not say what a day is, or a decimal. With types each value is an object
of its `type`, by Spark's words, and its `value`, down to the leaves.

Source: delta_protocol.md, "Variant Data Type" and "Variant Shredding"; Parquet's
"Variant Shredding".
"""

import base64
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.parquet.values.variant import (
    MAX_DEPTH,
    PRIMITIVES,
    Primitives,
    VariantError,
    date_json,
    decode_variant,
    parse_dictionary,
    time_json,
    timestamp_json,
    uuid_json,
)

VALUE, TYPED, METADATA = "value", "typed_value", "metadata"
TINY_DOUBLE, HUGE_DOUBLE = 1e-3, 1e7  # beyond them Java writes an exponent
UUID_BYTES: Final = 16
MICRO_DIGITS, NANO_DIGITS = 6, 9

Texts = list[str | None]
"""The text of each variant; None for one that is missing."""


class _Raw(str):
    """Text that is JSON already."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Form:
    """How values become text."""

    tells_types: bool
    primitives: Primitives

    def typed(self, kind: str, text: str) -> _Raw:
        if not self.tells_types:
            return _Raw(text)
        return _Raw(f'{{"type":"{kind}","value":{text}}}')

    def leaf(self, kind: str, value: object) -> _Raw:
        return self.typed(kind, value if isinstance(value, _Raw) else _json(value))

    def text(self, value: object) -> _Raw:
        """Return a value as text; it nests no deeper than variants may."""
        if isinstance(value, _Raw):
            return value
        if isinstance(value, dict):
            return self.object({name: self.text(part) for name, part in value.items()})
        if isinstance(value, list):
            return self.array(map(self.text, value))
        return self.leaf("string", value)

    def object(self, members: Mapping[str, str]) -> _Raw:
        parts = (f"{_json(name)}:{members[name]}" for name in sorted(members))
        return self.typed("object", "{" + ",".join(parts) + "}")

    def array(self, items: Iterable[str]) -> _Raw:
        return self.typed("array", "[" + ",".join(items) + "]")


def variant_texts(array: pa.Array, *, tells_types: bool = False) -> pa.StringArray:
    """Return variants as JSON text.

    Args:
        array: Structs of `metadata`, `value` and, where they are shredded,
            `typed_value`, as a file holds them.
        tells_types: Whether each value is told with its type.
    """
    names = _children(array)
    if METADATA not in names or not {VALUE, TYPED}.intersection(names):
        reason = "its metadata or its value is missing"
        raise VariantError(reason)
    metadata = _child(array, METADATA).to_pylist()
    form = _TYPED_FORM if tells_types else _TEXT_FORM
    texts = _unshredded(array, [*metadata], 0, form)
    is_null = array.is_null().to_pylist()
    shown = [None if null else text for text, null in zip(texts, is_null, strict=True)]
    return pa.array(shown, pa.string())


def _children(array: pa.Array) -> list[str]:
    if not pa.types.is_struct(array.type):
        reason = f"it is {str(array.type)[:80]} in the file"
        raise VariantError(reason)
    return [array.type.field(i).name for i in range(array.type.num_fields)]


def _child(array: pa.StructArray, name: str) -> pa.Array:
    child = pc.struct_field(array, [array.type.get_field_index(name)])
    if name != TYPED and not _is_bytes(child.type):
        reason = f"its {name} is {str(child.type)[:80]}, not bytes"
        raise VariantError(reason)
    return child


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _unshredded(
    array: pa.Array, metadata: Sequence[bytes | None], depth: int, form: _Form
) -> Texts:
    """Return values of which each is plain, shredded, or in part each."""
    if depth > MAX_DEPTH:
        reason = f"it is nested more than {MAX_DEPTH} levels deep"
        raise VariantError(reason)
    children = _children(array)
    nothing = [None] * len(array)
    values = _child(array, VALUE).to_pylist() if VALUE in children else nothing
    if TYPED not in children:
        return [
            None if value is None else form.text(_decoded(value, names, form))
            for value, names in zip(values, metadata, strict=True)
        ]
    typed_array = _child(array, TYPED)
    if pa.types.is_struct(typed_array.type):
        return _objects(typed_array, values, metadata, depth, form)
    typed = _typed(typed_array, metadata, depth, form)
    return [
        text
        if text is not None
        else None
        if value is None
        else form.text(_decoded(value, names, form))
        for text, value, names in zip(typed, values, metadata, strict=True)
    ]


def _objects(
    array: pa.StructArray,
    rests: Sequence[bytes | None],
    metadata: Sequence[bytes | None],
    depth: int,
    form: _Form,
) -> Texts:
    """Return objects of which some members are columns, and the others are bytes."""
    members = {
        name: _unshredded(part, metadata, depth + 1, form)
        for name, part in zip(_children(array), array.flatten(), strict=True)
    }
    is_object = array.is_valid().to_pylist()
    texts: Texts = []
    for row, rest in enumerate(rests):
        plain = None if rest is None else _decoded(rest, metadata[row], form)
        if not is_object[row]:
            texts.append(None if rest is None else form.text(plain))
            continue
        found = {
            name: text for name, column in members.items() if (text := column[row])
        }
        if isinstance(plain, dict):
            for name, value in plain.items():
                found.setdefault(name, form.text(value))
        elif rest is not None:
            reason = "the value of a partly shredded object is not an object"
            raise VariantError(reason)
        texts.append(form.object(found))
    return texts


def _typed(
    array: pa.Array, metadata: Sequence[bytes | None], depth: int, form: _Form
) -> Texts:
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_pylist()
        owned = [
            names for names, n in zip(metadata, lengths, strict=True) for _ in range(n)
        ]
        items = iter(_unshredded(array.flatten(), owned, depth + 1, form))
        missing = form.typed("null", "null")
        return [
            form.array([next(items) or missing for _ in range(length)])
            if is_list
            else None
            for length, is_list in zip(
                lengths, array.is_valid().to_pylist(), strict=True
            )
        ]
    shown, kind = _shown_as(array.type), _kind_of(array.type)
    if pa.types.is_temporal(array.type):
        width = array.type.bit_width
        array = array.cast(pa.int32() if width == 32 else pa.int64())  # noqa: PLR2004
    return [
        None if value is None else form.leaf(kind, shown(value))
        for value in array.to_pylist()
    ]


def _shown_as(kind: pa.DataType) -> Callable[[Any], object]:
    """Return what shows a value of a shredded column."""
    if pa.types.is_timestamp(kind):
        return _instant(_UNIT_DIGITS[kind.unit], is_utc=kind.tz is not None)
    for is_kind, shown in _SHOWN_AS:
        if is_kind(kind):
            return shown
    reason = f"a part of it is stored as {str(kind)[:80]}"
    raise VariantError(reason)


# === Bytes to values, and values to text ===


@lru_cache(maxsize=1_024)
def _names(metadata: bytes) -> list[str]:
    return parse_dictionary(metadata)


def _decoded(value: bytes, metadata: bytes | None, form: _Form) -> object:
    if metadata is None:
        reason = "it has a value but no metadata"
        raise VariantError(reason)
    return decode_variant(value, _names(metadata), form.primitives)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _decimal_text(value: Decimal) -> _Raw:
    if not value:
        return _Raw("0")
    digits = f"{value:f}"
    return _Raw(digits.rstrip("0").rstrip(".") if "." in digits else digits)


def _decimal(raw: bytes) -> _Raw:
    unscaled = int.from_bytes(raw[1:], "little", signed=True)
    sign, digits = "-" if unscaled < 0 else "", f"{abs(unscaled):0{raw[0] + 1}d}"
    if not raw[0]:
        return _Raw(sign + digits)
    text = f"{digits[: -raw[0]]}.{digits[-raw[0] :]}".rstrip("0").rstrip(".")
    return _Raw(sign + text if unscaled else "0")


def _double_text(digits: str) -> _Raw | str:
    """Return a number as Java writes it, given its shortest digits."""
    value = float(digits)
    if not math.isfinite(value):
        sign = "-" if value < 0 else ""
        return "NaN" if math.isnan(value) else f"{sign}Infinity"
    if value == 0 or TINY_DOUBLE <= abs(value) < HUGE_DOUBLE:
        text = f"{Decimal(digits):f}"
        return _Raw(text if "." in text else f"{text}.0")
    is_negative, numerals, exponent = Decimal(digits).normalize().as_tuple()
    whole, *rest = map(str, numerals)
    power = int(exponent) + len(rest)
    return _Raw(f"{'-' * is_negative}{whole}.{''.join(rest) or 0}E{power}")


def _floating(code: str) -> Callable[[bytes], _Raw | str]:
    to_digits = (lambda x: str(np.float32(x))) if code == "<f" else repr
    return lambda raw: _double_text(to_digits(struct.unpack(code, raw)[0]))


def _instant(digits: int, *, is_utc: bool) -> Callable[[int], str]:
    def shown(value: int) -> str:
        text = timestamp_json(value, digits, is_utc=False)
        return f"{text}+00:00" if is_utc else text

    return shown


def _stored_instant(digits: int, *, is_utc: bool) -> Callable[[bytes], str]:
    shown = _instant(digits, is_utc=is_utc)
    return lambda raw: shown(int.from_bytes(raw, "little", signed=True))


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


_OTHERWISE: Final[Mapping[int, Callable[[bytes], Any]]] = {
    7: _floating("<d"),
    **dict.fromkeys((8, 9, 10), _decimal),
    12: _stored_instant(MICRO_DIGITS, is_utc=True),
    13: _stored_instant(MICRO_DIGITS, is_utc=False),
    14: _floating("<f"),
    15: _base64,
    18: _stored_instant(NANO_DIGITS, is_utc=True),
    19: _stored_instant(NANO_DIGITS, is_utc=False),
}
_TEXT_PRIMITIVES: Final[Primitives] = tuple(
    (size, _OTHERWISE.get(number, read))
    for number, (size, read) in enumerate(PRIMITIVES)
)
_KINDS: Final = (
    "null", "boolean", "boolean", "tinyint", "smallint", "int", "bigint", "double",
    "decimal", "decimal", "decimal", "date", "timestamp", "timestamp_ntz", "float",
    "binary", "string", "time", "timestamp", "timestamp_ntz", "uuid",
)  # fmt: skip
"""The types of values without parts, by their numbers."""


def _shown_with(kind: str, read: Callable[[bytes], Any]) -> Callable[[bytes], _Raw]:
    return lambda raw: _shown_leaf(kind, read(raw))


def _shown_leaf(kind: str, value: object) -> _Raw:
    return _TYPED_FORM.leaf(kind, value)


_TEXT_FORM: Final = _Form(tells_types=False, primitives=_TEXT_PRIMITIVES)
_TYPED_FORM: Final = _Form(
    tells_types=True,
    primitives=tuple(
        (size, _shown_with(kind, read))
        for kind, (size, read) in zip(_KINDS, _TEXT_PRIMITIVES, strict=True)
    ),
)
_KIND_OF: Final[Sequence[tuple[Callable[[pa.DataType], bool], str]]] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "tinyint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "int"),
    (pa.types.is_integer, "bigint"),
    (pa.types.is_date, "date"),
    (pa.types.is_time, "time"),
    (pa.types.is_decimal, "decimal"),
    (pa.types.is_float32, "float"),
    (pa.types.is_floating, "double"),
    (lambda kind: kind == pa.binary(UUID_BYTES), "uuid"),
    (_is_bytes, "binary"),
)


def _kind_of(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is not None else "timestamp_ntz"
    return next((name for is_kind, name in _KIND_OF if is_kind(kind)), "string")


_UNIT_DIGITS: Final[Mapping[str, int]] = {"ns": 9, "us": 6, "ms": 3, "s": 0}
_SHOWN_AS: Final[
    Sequence[tuple[Callable[[pa.DataType], bool], Callable[[Any], object]]]
] = (
    (pa.types.is_boolean, lambda value: _Raw(json.dumps(value))),
    (pa.types.is_integer, _Raw),
    (pa.types.is_date32, date_json),
    (lambda kind: kind == pa.time64("us"), time_json),
    (pa.types.is_decimal, _decimal_text),
    (pa.types.is_float32, lambda value: _double_text(str(np.float32(value)))),
    (pa.types.is_float64, lambda value: _double_text(repr(value))),
    (lambda kind: kind == pa.binary(UUID_BYTES), uuid_json),
    (_is_bytes, _base64),
    (pa.types.is_string, str),
    (pa.types.is_large_string, str),
)
