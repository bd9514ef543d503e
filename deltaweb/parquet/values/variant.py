"""Values of VARIANT as JSON: numbers as numbers, times and bytes as SQL writes them.

Every offset is checked against the bytes that are there, and values nest at most 64
deep, so that no value takes more than its own bytes.

Source: Parquet's "Variant Binary Encoding".
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final

from deltaweb.parquet.rendering import EPOCH_DAY, JSON, LAST_DAY, render_float

MAX_DEPTH: Final = 64
_PRIMITIVE, _SHORT_TEXT, _OBJECT = 0, 1, 2
_DAY_S: Final = 86_400
_PRINTABLE: Final = frozenset(range(0x20, 0x7F)) - frozenset(b"\\'\"")


class VariantError(ValueError):
    """The bytes are no value of a variant; the text says why."""


def parse_dictionary(metadata: bytes) -> list[str]:
    """Return the names that a variant's metadata holds."""
    header = _byte(metadata, 0)
    if header & 0x0F != 1:
        reason = f"the version {header & 0x0F} of its metadata is not known"
        raise VariantError(reason)
    width = (header >> 6) + 1
    count = _number(metadata, 1, width)
    start = 1 + width
    if (count + 1) * width > len(metadata) - start:
        reason = f"its metadata says that it has {count:,} names, but is too short"
        raise VariantError(reason)
    offsets = [_number(metadata, start + i * width, width) for i in range(count + 1)]
    text = start + (count + 1) * width
    return [
        _slice(metadata, text + low, text + high).decode("utf-8", "replace")
        for low, high in pairwise(offsets)
    ]


Primitives = Sequence[tuple[int, Callable[[bytes], Any]]]
"""For each type its size in bytes, -1 where the value says it, and what reads it."""


def decode_variant(
    value: bytes, names: Sequence[str], primitives: Primitives | None = None
) -> JSON:
    """Return a value as JSON.

    Args:
        primitives: What reads values without parts; as JSON for None.
    """
    decoder = _Decoder(names, len(value) + 1, primitives or PRIMITIVES)
    return decoder.decode(value, 0)


class _Decoder:
    """Decodes one value; of those inside it there are no more than it has bytes.

    Several members may lie at one place, and so on below them: without that bound a
    few bytes would be more values than any machine holds.
    """

    def __init__(
        self, names: Sequence[str], most_values: int, primitives: Primitives
    ) -> None:
        self.names = names
        self.left = most_values
        self.primitives = primitives

    def decode(self, value: bytes, depth: int) -> JSON:
        self.left -= 1
        if depth > MAX_DEPTH or self.left < 0:
            reason = (
                f"it is nested more than {MAX_DEPTH} levels deep, or contains itself"
            )
            raise VariantError(reason)
        header = _byte(value, 0)
        kind, detail = header & 3, header >> 2
        if kind == _PRIMITIVE:
            return _primitive(value, detail, self.primitives)
        if kind == _SHORT_TEXT:
            return _slice(value, 1, 1 + detail).decode("utf-8", "replace")
        if kind == _OBJECT:
            return self.object(value, detail, depth)
        return self.array(value, detail, depth)

    def object(self, value: bytes, detail: int, depth: int) -> dict[str, JSON]:
        offset_width, id_width = (detail & 3) + 1, (detail >> 2 & 3) + 1
        size = 4 if detail >> 4 & 1 else 1
        count = _number(value, 1, size)
        ids, offsets = 1 + size, 1 + size + count * id_width
        data = offsets + (count + 1) * offset_width
        _check(data, value)
        members = {}
        for at in range(count):
            name = _number(value, ids + at * id_width, id_width)
            if name >= len(self.names):
                reason = "an object has a name that is not in its metadata"
                raise VariantError(reason)
            start = data + _number(value, offsets + at * offset_width, offset_width)
            members[self.names[name]] = self.decode(value[start:], depth + 1)
        return members

    def array(self, value: bytes, detail: int, depth: int) -> list[JSON]:
        width, size = (detail & 3) + 1, 4 if detail >> 2 & 1 else 1
        count = _number(value, 1, size)
        offsets = 1 + size
        data = offsets + (count + 1) * width
        _check(data, value)
        starts = (
            data + _number(value, offsets + at * width, width) for at in range(count)
        )
        return [self.decode(value[start:], depth + 1) for start in starts]


def _primitive(value: bytes, kind: int, primitives: Primitives) -> JSON:
    if kind >= len(primitives):
        reason = f"the type {kind} of a value is not known"
        raise VariantError(reason)
    size, read = primitives[kind]
    start = 1
    if size < 0:
        size, start = _number(value, 1, 4), 5
    found: JSON = read(_slice(value, start, start + size))
    return found


def _decimal(raw: bytes) -> int | float:
    unscaled = int.from_bytes(raw[1:], "little", signed=True)
    return decimal_json(Decimal(unscaled).scaleb(-raw[0]))


def decimal_json(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def date_json(days: int) -> str:
    if not 1 <= EPOCH_DAY + days <= LAST_DAY:
        return f"{days} days since 1970-01-01"
    return date.fromordinal(EPOCH_DAY + days).isoformat()


def timestamp_json(value: int, digits: int, *, is_utc: bool) -> str:
    """Return a timestamp as SQL writes it; an instant with its offset."""
    seconds, fraction = divmod(value, 10**digits)
    days, into_day_s = divmod(seconds, _DAY_S)
    time = _clock(into_day_s, fraction, digits)
    return f"{date_json(days)} {time}{'+00' if is_utc else ''}"


def time_json(micros: int) -> str:
    seconds, fraction = divmod(micros, 10**6)
    return _clock(seconds, fraction, 6)


def bytes_json(raw: bytes) -> str:
    r"""Return bytes as text: what is printable ASCII as it is, the rest as `\xNN`."""
    return "".join(chr(b) if b in _PRINTABLE else f"\\x{b:02X}" for b in raw)


def uuid_json(raw: bytes) -> str:
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _clock(seconds: int, fraction: int, digits: int) -> str:
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    decimals = f"{fraction:0{digits}d}".rstrip("0")
    return f"{text}.{decimals}" if decimals else text


def _integer(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)


def _float(code: str) -> Callable[[bytes], float | str]:
    return lambda raw: render_float(struct.unpack(code, raw)[0])


def _instant(digits: int, *, is_utc: bool) -> Callable[[bytes], str]:
    return lambda raw: timestamp_json(_integer(raw), digits, is_utc=is_utc)


PRIMITIVES: Final[Primitives] = (
    (0, lambda _: None),
    (0, lambda _: True),
    (0, lambda _: False),
    (1, _integer),
    (2, _integer),
    (4, _integer),
    (8, _integer),
    (8, _float("<d")),
    (5, _decimal),
    (9, _decimal),
    (17, _decimal),
    (4, lambda raw: date_json(_integer(raw))),
    (8, _instant(6, is_utc=True)),
    (8, _instant(6, is_utc=False)),
    (4, _float("<f")),
    (-1, bytes_json),
    (-1, lambda raw: raw.decode("utf-8", "replace")),
    (8, lambda raw: time_json(_integer(raw))),
    (8, _instant(9, is_utc=True)),
    (8, _instant(9, is_utc=False)),
    (16, uuid_json),
)


def _byte(data: bytes, at: int) -> int:
    _check(at + 1, data)
    return data[at]


def _number(data: bytes, at: int, width: int) -> int:
    return int.from_bytes(_slice(data, at, at + width), "little")


def _slice(data: bytes, start: int, end: int) -> bytes:
    if start > end:
        reason = "an offset goes backwards"
        raise VariantError(reason)
    _check(end, data)
    return data[start:end]


def _check(end: int, data: bytes) -> None:
    if end > len(data):
        reason = "it ends in the middle of a value"
        raise VariantError(reason)


def merge_objects(typed: Mapping[str, JSON], rest: JSON) -> JSON:
    """Return an object of which some members are shredded and the rest is not."""
    return {**rest, **typed} if isinstance(rest, dict) else dict(typed)
