"""Parts of variants as values of a type: `variant_get` of SQL, over the text of a scan.

The text of a variant keeps every digit, so that a part of it is what it was, whatever
type is asked for. Text with types tells days, times and bytes from texts as well.

Source: Spark SQL, "variant_get" and "try_variant_get".
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructType,
    type_text,
)
from deltaweb.delta.protocol.schema_ddl import parse_type_ddl
from deltaweb.delta.values.exact_json import ExactNumber, exact_json, parse_exact
from deltaweb.delta.values.text_casts import NoCastError, cast_variant
from deltaweb.delta.values.value_text import Value, arrow_array
from deltaweb.delta.values.variant_tree import plain_variant

_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]'"]+)
      | \[(?P<position>\d{1,9})\]
      | \['(?P<quoted>[^']*)'\]
      | \["(?P<doubled>[^"]*)"\]""",
    re.VERBOSE,
)

_PLAIN_NAME: Final = re.compile(r"[\w-]+")

Steps = Sequence[str | int]

VARIANT: Final = PrimitiveType("variant")
_MISSING: Final = object()
"""What is nowhere; a null of a variant is somewhere."""


class VariantPathError(DeltaError, code="variant-path"):
    """A path leads nowhere: it is not of the form that SQL has."""

    path: str
    message = "{path!r} is not a valid variant path."
    hint = "Begin with $, then .name, ['any name'] or [0]: $.items[0].price"


class VariantCastError(DeltaError, code="variant-cast"):
    """A part of a variant is no value of the type that is asked for."""

    path: str
    type_name: str
    value: str
    message = "{value:.200} at {path} of a variant is not a valid {type_name}."
    hint = "Choose another type, or read values of other types as null."


def variant_get(
    variants: pa.Array | pa.ChunkedArray,
    path: str,
    data_type: DataType | str = "string",
    *,
    or_null: bool = False,
    typed_variants: bool = False,
) -> pa.Array:
    """Return a part of each variant as a value of a type.

    Args:
        variants: As a scan returns them: JSON text.
        path: Where the part is: `$.items[0].price`, `$['a name']`; `$` for all.
        data_type: Its type, or that as SQL spells it: `DECIMAL(10, 2)`. A part that
            is a variant itself is JSON text, as variants of a scan are.
        or_null: Whether a part that is of another type is null, as `try_variant_get`
            has it; it is an error else.
        typed_variants: Whether the texts are those of a scan with typed variants.
            Without, a text may be bytes, and a time: it is read as either.

    Returns:
        Null where a variant has no such part.
    """
    wanted = part_type(data_type) if isinstance(data_type, str) else data_type
    if isinstance(wanted, StructType | ArrayType | MapType):
        raise TypeError(NESTED)
    steps = parse_path(path)
    if wanted == VARIANT:
        as_json = _typed_json if typed_variants else _plain_json
        return pa.array(
            [
                None if text is None else as_json(text, steps)
                for text in variants.to_pylist()
            ],
            pa.string(),
        )
    part = _typed_part if typed_variants else _plain_part
    found: list[Value | None] = []
    for text in variants.to_pylist():
        kind, value = ("null", None) if text is None else part(text, steps)
        try:
            found.append(None if value is None else _cast(kind, value, wanted))
        except NoCastError:
            if not or_null:
                raise VariantCastError(
                    path=path, type_name=type_text(wanted), value=_shown(value)
                ) from None
            found.append(None)
    return arrow_array(found, wanted)


def _cast(kind: str, value: object, wanted: DataType) -> Value:
    if kind not in _WITH_PARTS:
        return cast_variant(kind, value, wanted)
    if not isinstance(wanted, PrimitiveType) or wanted.name != "string":
        raise NoCastError(kind)
    return str(value)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def part_type(text: str) -> DataType:
    """Return the type of a part as SQL spells it, `variant` among them."""
    return VARIANT if text.strip().lower() == VARIANT.name else parse_type_ddl(text)


def parse_path(path: str) -> Steps:
    """Return the steps of a path: names, and positions in arrays."""
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


def format_path(steps: Steps) -> str:
    """Return the path of steps; "" where none leads there: a name has both quotes."""
    parts = [_step_text(step) for step in steps]
    return "".join(["$", *parts]) if all(parts) else ""


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN_NAME.fullmatch(step):
        return f".{step}"
    quote = next((quote for quote in ("'", '"') if quote not in step), "")
    return f"[{quote}{step}{quote}]" if quote else ""


def _plain_part(text: str, steps: Steps) -> tuple[str, Any]:
    """Return a part by what JSON says of it: its kind and value; None for none."""
    part = _plain_below(text, steps)
    if part is _MISSING:
        return "null", None
    if isinstance(part, dict | list):
        return "object", exact_json(part)
    return "decimal" if isinstance(part, ExactNumber) else "text", part


def _typed_part(text: str, steps: Steps) -> tuple[str, Any]:
    """Return a part that tells its type: its kind and value; None for none."""
    part = _typed_below(text, steps)
    if part is _MISSING:
        return "null", None
    kind: str = part["type"]
    if kind in _WITH_PARTS:
        return kind, plain_variant(exact_json(part))
    return kind, part["value"]


def _plain_json(text: str, steps: Steps) -> str | None:
    part = _plain_below(text, steps)
    return None if part is _MISSING else exact_json(part)


def _typed_json(text: str, steps: Steps) -> str | None:
    part = _typed_below(text, steps)
    return None if part is _MISSING else plain_variant(exact_json(part))


def _plain_below(text: str, steps: Steps) -> Any:  # noqa: ANN401  # any JSON
    part = parse_exact(text)
    for step in steps:
        part = _below(part, step)
    return part


def _typed_below(text: str, steps: Steps) -> Any:  # noqa: ANN401  # as above
    part = parse_exact(text)
    for step in steps:
        part = _below(part["value"], step)
        if part is _MISSING:
            break
    return part


def _below(part: Any, step: str | int) -> Any:  # noqa: ANN401  # as above
    if isinstance(step, str):
        return part.get(step, _MISSING) if isinstance(part, dict) else _MISSING
    is_there = isinstance(part, list) and step < len(part)
    return part[step] if is_there else _MISSING


NESTED: Final = "a part of a variant is read as a type that is not nested"
_WITH_PARTS: Final = frozenset({"object", "array"})
