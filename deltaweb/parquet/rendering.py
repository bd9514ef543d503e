"""Values of Parquet as JSON: by annotation and physical type, from their plain bytes.

Decimals are exact text; an instant ends with `Z`, a local time does not, and the unit
says how many fraction digits there are; bytes that are no text are `{"hex": ...}`.

Source: Parquet logical types; the Parquet format, "PLAIN" encoding.
"""

import math
import struct
from datetime import date
from typing import Any, Final, TypeAlias

from deltaweb.parquet.annotations import UNIT_DIGITS, Annotation

EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
LAST_DAY: Final = date.max.toordinal()
DAY_S: Final = 86_400
PLAIN: Final = {"INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}
LENGTHS: Final = {
    "BOOLEAN": 1,
    "INT32": 4,
    "INT64": 8,
    "INT96": 12,
    "FLOAT": 4,
    "DOUBLE": 8,
}
INT96: Final = Annotation("TIMESTAMP", is_utc=False, unit="NANOS")
MAX_DECIMAL_BYTES: Final = 512  # one beyond is shown as bytes
MAX_SCALE: Final = 2_000  # likewise: its text would take any memory
_JULIAN_OF_EPOCH: Final = 2_440_588
Plain: TypeAlias = bool | int | float | bytes
"""A value as its physical type has it."""
JSON: TypeAlias = Any
"""A value of JSON."""


def needed_length(physical_type: str | None, type_length: int | None) -> int | None:
    """Return how many bytes a value has; None for any number of them."""
    if physical_type == "FIXED_LEN_BYTE_ARRAY":
        return type_length
    return LENGTHS.get(physical_type or "")


def decode_plain(raw: bytes, physical_type: str | None) -> Plain:
    """Return the value that plain bytes of the right length hold."""
    if physical_type == "BOOLEAN":
        return raw != b"\0"
    if physical_type in PLAIN:
        value: int | float = struct.unpack(PLAIN[physical_type], raw)[0]
        return value
    return raw


def render(
    value: Plain, annotation: Annotation | None, physical_type: str | None
) -> JSON:
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return render_float(value)
    if isinstance(value, int):
        return _render_int(value, annotation, physical_type)
    return _render_bytes(value, annotation, physical_type)


def render_float(value: float) -> float | str:
    """Return a number, or the text of one that JSON does not have."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _render_int(  # noqa: PLR0911 (a return for each type)
    value: int, annotation: Annotation | None, physical_type: str | None
) -> JSON:
    if annotation is None:
        return value
    match annotation.kind:
        case "INT" if not annotation.is_signed:
            return value & (2**32 - 1 if physical_type == "INT32" else 2**64 - 1)
        case "DECIMAL":
            return decimal_text(value, annotation.scale)
        case "DATE":
            return date_text(value)
        case "TIME" if annotation.unit in UNIT_DIGITS:
            return time_text(value, annotation)
        case "TIMESTAMP" if annotation.unit in UNIT_DIGITS:
            return timestamp_text(value, annotation)
        case _:
            return value


def _render_bytes(  # noqa: PLR0911 (a return for each type)
    raw: bytes, annotation: Annotation | None, physical_type: str | None
) -> JSON:
    match None if annotation is None else annotation.kind:
        case "STRING" | "ENUM" | "JSON":
            return text_or_hex(raw)
        case "DECIMAL" if annotation is not None and (
            len(raw) <= MAX_DECIMAL_BYTES and annotation.scale <= MAX_SCALE
        ):
            unscaled = int.from_bytes(raw, "big", signed=True)
            return decimal_text(unscaled, annotation.scale)
        case "UUID":
            text = raw.hex()
            return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
        case "FLOAT16":
            return render_float(struct.unpack("<e", raw)[0])
        case "INTERVAL":
            months, days, millis = struct.unpack("<III", raw)
            return {"months": months, "days": days, "millis": millis}
        case _ if physical_type == "INT96":
            return int96_text(raw)
        case _:
            return {"hex": raw.hex()}


def text_or_hex(raw: bytes) -> JSON:
    """Return bytes as text; as `{"hex": ...}` where they are no UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return {"hex": raw.hex()}


def decimal_text(unscaled: int, scale: int) -> str:
    """Return a decimal with exactly `scale` fraction digits, and no exponent."""
    digits = str(abs(unscaled)).zfill(scale + 1)
    whole, fraction = digits[: len(digits) - scale], digits[len(digits) - scale :]
    sign = "-" if unscaled < 0 else ""
    return f"{sign}{whole}.{fraction}" if scale else f"{sign}{whole}"


def date_text(days: int) -> JSON:
    """Return a day as `YYYY-MM-DD`; one outside the years 1 to 9999 as its number."""
    ordinal = EPOCH_DAY + days
    if not 1 <= ordinal <= LAST_DAY:
        return {"raw": days, "unit": "DAYS"}
    return date.fromordinal(ordinal).isoformat()


def time_text(value: int, annotation: Annotation) -> JSON:
    """Return a time of day; `Z` where it is of UTC."""
    digits = UNIT_DIGITS[annotation.unit]
    seconds, fraction = divmod(value, 10**digits)
    if not 0 <= seconds < DAY_S:
        return {"raw": value, "unit": annotation.unit}
    return f"{_clock(seconds)}.{fraction:0{digits}d}{'Z' if annotation.is_utc else ''}"


def timestamp_text(value: int, annotation: Annotation) -> JSON:
    """Return an instant with `Z`, or a local time without."""
    digits = UNIT_DIGITS[annotation.unit]
    seconds, fraction = divmod(value, 10**digits)
    days, into_day_s = divmod(seconds, DAY_S)
    if not 1 <= EPOCH_DAY + days <= LAST_DAY:
        return {"raw": value, "unit": annotation.unit}
    zone = "Z" if annotation.is_utc else ""
    return f"{date_text(days)}T{_clock(into_day_s)}.{fraction:0{digits}d}{zone}"


def int96_text(raw: bytes) -> JSON:
    """Return a timestamp of the old kind: nanoseconds of a day, and a Julian day."""
    nanos, julian = struct.unpack("<qi", raw)
    value = (julian - _JULIAN_OF_EPOCH) * DAY_S * 10**9 + nanos
    return timestamp_text(value, INT96)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
