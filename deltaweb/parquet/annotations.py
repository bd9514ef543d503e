"""Annotations of the schema: what the logical type of a node is, and whether it may be.

An annotation is what LogicalType says, else what ConvertedType says. One that does not
fit its physical type is kept, with the reason: the column is invalid, not the file.

Source: Parquet logical types, "Compatibility" of each type and "Embedded Types".
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from deltaweb.parquet.metadata import SchemaElement, member_of, name_of, text_of

UNSIGNED: Final = "unsigned"
SIGNED: Final = "signed"
UNDEFINED: Final = "undefined"

UNITS: Final[Mapping[int, str]] = {1: "MILLIS", 2: "MICROS", 3: "NANOS"}
UNIT_DIGITS: Final[Mapping[str, int]] = {"MILLIS": 3, "MICROS": 6, "NANOS": 9}
ALGORITHMS: Final = ("SPHERICAL", "VINCENTY", "THOMAS", "ANDOYER", "KARNEY")
NESTED: Final = frozenset({"LIST", "MAP", "MAP_KEY_VALUE", "VARIANT"})

_PLAIN_MEMBERS: Final[Mapping[int, str]] = {
    1: "STRING",
    2: "MAP",
    3: "LIST",
    4: "ENUM",
    6: "DATE",
    11: "UNKNOWN",
    12: "JSON",
    13: "BSON",
    14: "UUID",
    15: "FLOAT16",
}
_TIME, _GEOGRAPHY = 7, 18
_NAMED: Final[Mapping[int, str]] = {19: "FILE"}
"""Members that have a name, and whose values are not known here."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A logical type with its parameters.

    Attributes:
        kind: `STRING`, `DECIMAL`, `TIMESTAMP`, ...; `UNRECOGNIZED` for a LogicalType of
            an unknown number, `UNRECOGNIZED_CONVERTED` for such a ConvertedType.
        precision: Digits of a DECIMAL; None if absent.
        unit: `MILLIS`, `MICROS`, `NANOS` or `UNKNOWN(n)` of a TIME or TIMESTAMP.
        crs: The coordinate reference system of a GEOMETRY or GEOGRAPHY; None if absent.
        algorithm: How edges of a GEOGRAPHY are interpolated; None if absent.
        version: The version of a VARIANT; None if absent.
    """

    kind: str
    number: int | None = None
    bit_width: int = 0
    is_signed: bool = True
    precision: int | None = None
    scale: int = 0
    is_utc: bool = True
    unit: str = ""
    crs: str | None = None
    algorithm: str | None = None
    version: int | None = None

    @property
    def text(self) -> str:
        """The canonical text, such as `DECIMAL(10,2)` or `INT(8,true)`."""
        match self.kind:
            case "UNRECOGNIZED" if name := _NAMED.get(self.number or 0):
                return name
            case "DECIMAL":
                digits = "?" if self.precision is None else self.precision
                parameters = f"{digits},{self.scale}"
            case "INT":
                parameters = f"{self.bit_width},{_truth(self.is_signed)}"
            case "TIME" | "TIMESTAMP":
                parameters = f"isAdjustedToUTC={_truth(self.is_utc)},unit={self.unit}"
            case "VARIANT":
                parameters = "" if self.version is None else str(self.version)
            case "UNRECOGNIZED" | "UNRECOGNIZED_CONVERTED":
                parameters = str(self.number)
            case _:
                named = {"crs": self.crs, "algorithm": self.algorithm}
                known = {key: value for key, value in named.items() if value}
                parameters = ",".join(f"{key}={known[key]}" for key in known)
        return f"{self.kind}({parameters})" if parameters else self.kind


_PLAIN_ANNOTATIONS: Final[Mapping[int, Annotation]] = {
    member: Annotation(kind) for member, kind in _PLAIN_MEMBERS.items()
}


def _truth(value: bool) -> str:  # noqa: FBT001 (a value, not a switch)
    return "true" if value else "false"


def stored_annotation(  # noqa: PLR0911 (a return for each shape of type)
    element: SchemaElement,
) -> Annotation | None:
    """Return what LogicalType says of an element; None where it has none."""
    if element.logical_type is None:
        return None
    member, fields = element.logical_type
    match member:
        case 5:
            precision = fields.get(2)
            return Annotation("DECIMAL", precision=precision, scale=fields.get(1, 0))
        case 7 | 8:
            kind = "TIME" if member == _TIME else "TIMESTAMP"
            unit = _unit(fields.get(2, {}))
            return Annotation(kind, is_utc=fields.get(1) is True, unit=unit)
        case 10:
            width, is_signed = fields.get(1, 0), fields.get(2) is True
            return Annotation("INT", bit_width=width, is_signed=is_signed)
        case 16:
            return Annotation("VARIANT", version=fields.get(1))
        case 17 | 18:
            return _geospatial(member, fields)
    plain = _PLAIN_ANNOTATIONS.get(member)
    return plain or Annotation("UNRECOGNIZED", number=member)


def _unit(union: object) -> str:
    member = member_of(union) if isinstance(union, Mapping) else 0
    return UNITS.get(member, f"UNKNOWN({member})")


def _geospatial(member: int, fields: Mapping[int, Any]) -> Annotation:
    crs, algorithm = fields.get(1), fields.get(2)
    named = None
    if member == _GEOGRAPHY and isinstance(algorithm, int):
        named = name_of(ALGORITHMS, algorithm)
    return Annotation(
        "GEOGRAPHY" if member == _GEOGRAPHY else "GEOMETRY",
        crs=text_of(crs) if isinstance(crs, bytes) else None,
        algorithm=named,
    )


_CONVERTED: Final[Mapping[str, Annotation]] = {
    "UTF8": Annotation("STRING"),
    **{
        kind: Annotation(kind)
        for kind in ("MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DATE", "JSON", "BSON")
    },
    "INTERVAL": Annotation("INTERVAL"),
    **{
        f"{kind}_{unit}": Annotation(kind, unit=unit)
        for kind in ("TIME", "TIMESTAMP")
        for unit in ("MILLIS", "MICROS")
    },
    **{
        f"{prefix}_{width}": Annotation(
            "INT", bit_width=width, is_signed=prefix == "INT"
        )
        for prefix in ("INT", "UINT")
        for width in (8, 16, 32, 64)
    },
}


def effective_annotation(
    element: SchemaElement, *, is_in_map: bool
) -> Annotation | None:
    """Return what an element is, by LogicalType or else by ConvertedType.

    Args:
        is_in_map: Whether its parent is a MAP: then MAP_KEY_VALUE says nothing.

    Source: Parquet logical types, "ConvertedType" under each type, "Maps".
    """
    stored = stored_annotation(element)
    if stored is not None or element.converted_type is None:
        return stored
    converted = element.converted_type
    if converted == "DECIMAL":
        scale = element.scale or 0
        return Annotation("DECIMAL", precision=element.precision, scale=scale)
    if converted == "MAP_KEY_VALUE" and not is_in_map:
        return Annotation("MAP")
    known = _CONVERTED.get(converted)
    if known is not None:
        return known
    number = int(converted.removeprefix("UNKNOWN(").removesuffix(")"))
    return replace(Annotation("UNRECOGNIZED_CONVERTED"), number=number)


def invalid_reason(
    annotation: Annotation, physical_type: str | None, type_length: int | None
) -> str | None:
    """Return why an annotation does not fit a leaf; None where it does.

    Source: Parquet logical types, the physical types that each type may annotate.
    """
    if annotation.kind == "DECIMAL":
        return _decimal_reason(annotation, physical_type, type_length)
    allowed = _allowed(annotation)
    if allowed is None or (physical_type, type_length) in allowed:
        return None
    if (physical_type, None) in allowed:
        return None
    length = f"({type_length})" if physical_type == "FIXED_LEN_BYTE_ARRAY" else ""
    return f"{annotation.text} cannot annotate {physical_type}{length}"


_BYTES: Final = frozenset({("BYTE_ARRAY", None)})
_INT32: Final = frozenset({("INT32", None)})
_INT64: Final = frozenset({("INT64", None)})
_WIDTHS: Final = {8: _INT32, 16: _INT32, 32: _INT32, 64: _INT64}
_FIXED: Final = {
    **dict.fromkeys(("STRING", "ENUM", "JSON", "BSON"), _BYTES),
    **dict.fromkeys(("GEOMETRY", "GEOGRAPHY"), _BYTES),
    **dict.fromkeys(NESTED, frozenset[tuple[str, int | None]]()),
    "DATE": _INT32,
    "TIMESTAMP": _INT64,
    "UUID": frozenset({("FIXED_LEN_BYTE_ARRAY", 16)}),
    "FLOAT16": frozenset({("FIXED_LEN_BYTE_ARRAY", 2)}),
    "INTERVAL": frozenset({("FIXED_LEN_BYTE_ARRAY", 12)}),
}


def _allowed(annotation: Annotation) -> frozenset[tuple[str, int | None]] | None:
    """Which physical types an annotation may have; None for any."""
    if annotation.kind == "INT":
        return _WIDTHS.get(annotation.bit_width, frozenset())
    if annotation.kind == "TIME":
        return _INT32 if annotation.unit == "MILLIS" else _INT64
    return _FIXED.get(annotation.kind)


def _decimal_reason(
    annotation: Annotation, physical_type: str | None, type_length: int | None
) -> str | None:
    precision, scale = annotation.precision, annotation.scale
    if physical_type not in {"INT32", "INT64", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}:
        return f"{annotation.text} cannot annotate {physical_type}"
    if precision is None:
        return "DECIMAL without precision"
    if precision < 1:
        return f"{annotation.text}: precision must be at least 1"
    if not 0 <= scale <= precision:
        return f"{annotation.text}: scale must be between 0 and the precision"
    most = _most_digits(physical_type, type_length)
    if most is not None and precision > most:
        where = (
            f"FIXED_LEN_BYTE_ARRAY({type_length})"
            if physical_type == "FIXED_LEN_BYTE_ARRAY"
            else physical_type
        )
        return f"{annotation.text}: precision too large for {where}, at most {most}"
    return None


def _most_digits(physical_type: str, type_length: int | None) -> int | None:
    """How many decimal digits a physical type surely holds; None for any number."""
    if physical_type == "BYTE_ARRAY":
        return None
    widths = {"INT32": 4, "INT64": 8}
    width = widths.get(physical_type, type_length or 0)
    # No power of two is one of ten, so the one that is left out does not count.
    return int(max(0, 8 * width - 1) * math.log10(2))


def sort_order(annotation: Annotation | None, physical_type: str | None) -> str:
    """Return how the values of a leaf are ordered: `signed`, `unsigned`, `undefined`.

    Source: Parquet logical types, "sort order" of each type; parquet.thrift,
    "TypeDefinedOrder".
    """
    if annotation is None:
        if physical_type in {"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}:
            return UNSIGNED
        known = physical_type in {"BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE"}
        return SIGNED if known else UNDEFINED
    if annotation.kind in {"STRING", "ENUM", "UUID", "JSON", "BSON"}:
        return UNSIGNED
    if annotation.kind == "INT":
        return SIGNED if annotation.is_signed else UNSIGNED
    if annotation.kind in {"TIME", "TIMESTAMP"}:
        return SIGNED if annotation.unit in UNIT_DIGITS else UNDEFINED
    return SIGNED if annotation.kind in {"DECIMAL", "DATE", "FLOAT16"} else UNDEFINED
