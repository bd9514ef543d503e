"""Counts, sizes, lengths of time and long texts as people read them, one way each."""

from typing import Final

BYTE_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
COUNT_UNITS: Final = ("", "k", "M", "bn", "tn")  # a B would be read as bytes
FIRST_SHORTENED: Final = 10_000  # of counts: those below are said whole
LENGTHS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_UNIT_BITS: Final = 10  # a unit is 1024 of the one before
_FEW: Final = 100
_THOUSAND: Final = 1_000
_MINUTE_S, _HOUR_S = 60, 3_600
_SHORT_S: Final = 0.9995  # below, a length is said in milliseconds
_TENTHS_S: Final = 10  # of seconds: those below have a digit behind the point


def counted(count: int, noun: str) -> str:
    """Say a count with its noun: `1 file`, `1,284 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def compact_text(count: int) -> str:
    """Say a count in three digits or so: `18.4 M`."""
    if abs(count) < FIRST_SHORTENED:
        return f"{count:,}"
    value, unit = _shortened(count)
    return f"{value:,.{1 if abs(value) < _FEW else 0}f} {unit}"


def count_text(count: int, *, digits: int = 10) -> str:
    """Say a count as an axis does, without zeros behind the point: `20 bn`."""
    if count < FIRST_SHORTENED:
        return f"{count:,}"
    value, unit = _shortened(count)
    return f"{_in_digits(value, digits)} {unit}"


def _shortened(count: int) -> tuple[float, str]:
    value, unit = float(count), 0
    while abs(value) >= _THOUSAND and unit < len(COUNT_UNITS) - 1:
        value, unit = value / _THOUSAND, unit + 1
    return value, COUNT_UNITS[unit]


def size_text(size_bytes: int) -> str:
    """Say a size in binary units: `9.1 GiB`."""
    unit = min((size_bytes.bit_length() - 1) // _UNIT_BITS, len(BYTE_UNITS) - 1)
    if unit < 1:
        return f"{size_bytes:,} B"
    value = size_bytes / (1 << (unit * _UNIT_BITS))
    digits = 1 if abs(value) < _FEW else 0
    return f"{value:,.{digits}f} {BYTE_UNITS[unit]}"


def bytes_text(size_bytes: float, *, digits: int = 4) -> str:
    """Say a size as an axis does, without zeros behind the point: `64 KiB`."""
    value, unit = float(size_bytes), 0
    while value >= 1 << _UNIT_BITS and unit < len(BYTE_UNITS) - 1:
        value, unit = value / (1 << _UNIT_BITS), unit + 1
    return f"{_in_digits(value, digits)} {BYTE_UNITS[unit]}"


def _in_digits(value: float, digits: int) -> str:
    is_whole = value >= 10**digits - 0.5  # as `g` would say it with an exponent
    return f"{value:,.0f}" if is_whole else f"{value:,.{digits}g}"


def length_text(seconds: int) -> str:
    """Say a length of time by the largest unit that divides it: `7 days`."""
    length, unit = next(one for one in LENGTHS if not seconds % one[0])
    return counted(seconds // length, unit)


def duration_text(seconds: float) -> str:
    """Say how long something took: `40 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`."""
    if seconds < _SHORT_S:
        return f"{round(seconds * _THOUSAND)} ms"
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s" if seconds < _TENTHS_S else f"{int(seconds)} s"
    if seconds < _HOUR_S:
        return f"{int(seconds // _MINUTE_S)} min {int(seconds % _MINUTE_S)} s"
    return f"{int(seconds // _HOUR_S)} h {int(seconds % _HOUR_S // _MINUTE_S)} min"


def cut(text: str, length: int) -> str:
    """Return a text of at most `length` characters, the last an ellipsis if cut."""
    return text if len(text) <= length else f"{text[: length - 1]}…"
