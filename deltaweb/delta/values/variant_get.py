"""Parts of variants as values of a type: `variant_get` of SQL, over the text of a scan.

The text of a variant keeps every digit, so that a part of it is what it was, whatever
type is asked for.

Source: Spark SQL, "variant_get" and "try_variant_get".
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructType,
    arrow_type,
    type_text,
)
from deltaweb.delta.protocol.schema_ddl import parse_type_ddl
from deltaweb.delta.values.exact_json import exact_json, parse_exact

_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]'"]+)
      | \[(?P<position>\d{1,9})\]
      | \['(?P<quoted>[^']*)'\]
      | \["(?P<doubled>[^"]*)"\]""",
    re.VERBOSE,
)

Steps = Sequence[str | int]


class VariantPathError(DeltaError, code="variant-path"):
    """A path leads nowhere: it is not of the form that SQL has."""

    path: str
    message = "{path!r} is no path in a variant."
    hint = "Begin with $, then .name, ['any name'] or [0]: $.items[0].price"


class VariantCastError(DeltaError, code="variant-cast"):
    """A part of a variant is no value of the type that is asked for."""

    path: str
    type_name: str
    value: str
    message = "{value:.200} at {path} of a variant is no {type_name}."
    hint = "Ask for another type, or for null where a value is of none."


def variant_get(
    variants: pa.Array | pa.ChunkedArray,
    path: str,
    data_type: DataType | str = "string",
    *,
    or_null: bool = False,
) -> pa.Array:
    """Return a part of each variant as a value of a type.

    Args:
        variants: As a scan returns them: JSON text.
        path: Where the part is: `$.items[0].price`, `$['a name']`; `$` for all.
        data_type: Its type, or that as SQL spells it: `DECIMAL(10, 2)`.
        or_null: Whether a part that is of another type is null; it is an error else.

    Returns:
        Null where a variant has no such part.

    Raises:
        VariantPathError: If the path is none.
        VariantCastError: If a part is no value of the type.
        SchemaError: If the type is none.
        TypeError: If it is nested.
    """
    wanted = parse_type_ddl(data_type) if isinstance(data_type, str) else data_type
    if isinstance(wanted, StructType | ArrayType | MapType):
        message = "a part of a variant is read as a type that is not nested"
        raise TypeError(message)
    steps, target = parse_path(path), arrow_type(wanted)
    texts = [_part_text(text, steps) for text in variants.to_pylist()]
    cast = _as_bytes if pa.types.is_binary(target) else partial(_cast, target)
    try:
        return cast(texts)
    except ValueError:  # that of Arrow is one, too
        found = [_or_none(cast, text) for text in texts]
    if not or_null:
        bad = next(
            text
            for text, part in zip(texts, found, strict=True)
            if text is not None and part is None
        )
        raise VariantCastError(path=path, type_name=type_text(wanted), value=bad)
    return pa.array(found, target)


def parse_path(path: str) -> Steps:
    """Return the steps of a path: names, and positions in arrays.

    Raises:
        VariantPathError: If it is none.
    """
    text = path.strip()
    if not text.startswith("$"):
        raise VariantPathError(path=path)
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            raise VariantPathError(path=path)
        position = match["position"]
        name = next((match[n] for n in ("name", "quoted", "doubled") if match[n]), "")
        steps.append(name if position is None else int(position))
        at = match.end()
    return steps


def _part_text(text: str | None, steps: Steps) -> str | None:
    """Return a part as the text of its value; None where there is none."""
    if text is None:
        return None
    part = parse_exact(text)
    for step in steps:
        if isinstance(step, str):
            part = part.get(step) if isinstance(part, dict) else None
        else:
            is_there = isinstance(part, list) and step < len(part)
            part = part[step] if is_there else None
    if part is None or isinstance(part, str):
        return part
    return exact_json(part)


def _cast(target: pa.DataType, texts: Iterable[str | None]) -> pa.Array:
    return pa.array(texts, pa.string()).cast(target)


def _as_bytes(texts: Iterable[str | None]) -> pa.Array:
    return pa.array(
        [None if t is None else base64.b64decode(t, validate=True) for t in texts],
        pa.binary(),
    )


def _or_none(cast: Callable[[list[str | None]], pa.Array], text: str | None) -> object:
    try:
        return cast([text])[0].as_py()
    except (ValueError, binascii.Error):
        return None
