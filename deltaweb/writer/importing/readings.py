"""The ways in which the texts of a column can be read: its decimal sign and date order.

A way that all texts fit, or most of them, is taken if it is the only one. If two ways
give different values, a person has to choose: `UnclearReadingError` lists them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    type_text,
)
from deltaweb.writer.importing.options import TextForm
from deltaweb.writer.importing.text_values import INTEGER_BITS, parse_texts

FORMAT_WORDS: Final = {
    ",": "decimal comma",
    ".": "decimal point",
    "dmy": "DD.MM.YYYY",
    "mdy": "MM/DD/YYYY",
    "ymd": "YYYY-MM-DD",
}
_NUMBERS: Final = frozenset({*INTEGER_BITS, "float", "double"})
_DAYS: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_PLAIN_NUMBER: Final = r"^\s*[+-]?[0-9]*\.?[0-9]*\s*$"


class UnclearReadingError(DeltaError, code="import-reading-unclear"):
    """Texts of a file can be read in two ways, and none was chosen.

    Attributes:
        choices: One sentence for each column.
    """

    path: str
    choices: Sequence[str]
    message = "{path} can be read in two ways: {_each}"
    hint = (
        "Give the decimal sign (--decimal) or the order of dates (--dates), or make "
        "the columns text (--types)."
    )

    @property
    def _each(self) -> str:
        return " ".join(self.choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """A type, and how its texts are written.

    Attributes:
        data_type: Of the values.
        decimal_sign: One of "." and ","; empty for numbers without a doubt, and dates.
        day_order: One of `DAY_ORDERS`; empty for ISO dates, and for numbers.
        text: A text that the readings of a column take differently.
        value: What this reading makes of it.
    """

    data_type: DataType
    decimal_sign: str = ""
    day_order: str = ""
    text: str = ""
    value: str = ""

    @property
    def format(self) -> str:
        """The decimal sign or the order of dates; empty for the usual ones."""
        return self.decimal_sign or self.day_order

    @property
    def words(self) -> str:
        """How the texts are written."""
        return FORMAT_WORDS[self.format or ("ymd" if is_day(self.data_type) else ".")]

    @property
    def option(self) -> str:
        """The option of a command that chooses it; empty for the usual one."""
        if is_day(self.data_type):
            return f"--dates {self.day_order or 'ymd'}"
        return f"--decimal {self.decimal_sign or '.'}"

    def describe(self) -> dict[str, str]:
        """Return it as JSON."""
        return {
            "type": type_text(self.data_type),
            "format": self.format or ("" if is_day(self.data_type) else "."),
            "words": self.words,
            "text": self.text,
            "value": self.value,
        }


def widest_of(readings: Sequence[TextReading]) -> DataType:
    """Return the type that the values of all readings have."""
    for one in readings:
        if isinstance(one.data_type, PrimitiveType) and one.data_type.name == "double":
            return one.data_type
    return readings[0].data_type


def readings_of_both(
    one: tuple[TextReading, ...], other: tuple[TextReading, ...]
) -> tuple[TextReading, ...] | None:
    """Return the readings that the values of two files have; None for no common one.

    A file of numbers or dates without a doubt goes with every reading of the other.
    """
    if not one or not other:
        return one or other
    if {is_day(reading.data_type) for reading in (*one, *other)} == {True, False}:
        return one  # their types differ, which is found out elsewhere
    ways = {_way(reading) for reading in other}
    kept = one if None in ways else tuple(r for r in one if _way(r) in ways | {None})
    if all(_way(reading) is None for reading in kept):
        return other if kept else None
    return kept or None


def _way(reading: TextReading) -> str | None:
    """Return the format of a reading; None for texts that are the same in every one."""
    kind = reading.data_type
    if is_day(kind):
        return reading.day_order or None
    is_whole = isinstance(kind, PrimitiveType) and kind.name in INTEGER_BITS
    return reading.decimal_sign or (None if is_whole else ".")


@dataclass(frozen=True, slots=True, eq=False)
class FoundReadings:
    """The readings that most texts of a column fit.

    Attributes:
        readings: One, or several with different values; empty if no text fits any.
        is_none: Which texts do not fit the first.
    """

    readings: tuple[TextReading, ...]
    is_none: pa.BooleanArray


def find_readings(
    texts: pa.Array,
    candidates: Sequence[DataType],
    form: TextForm,
    delimiter: str | None = None,
    *,
    has_more: bool = False,
) -> FoundReadings:
    """Return how texts can be read.

    Args:
        texts: string, without nulls.
        candidates: The types to try, the best first.
        form: What is known of the file: a sign or an order that it has is the only one.
        delimiter: Of the file; None for one that writes every number and date in the
            usual form. One between whose fields a comma is has a point between
            thousands in no field without quotes, so 1.234 is a fraction there.
        has_more: Whether the file has more texts, which may differ in the readings.
    """
    best: list[tuple[TextReading, pa.Array, pa.BooleanArray]] = []
    fewest = len(texts)
    for way in _ways(texts, form, delimiter):
        found = _narrowest(texts, candidates, way, form)
        if found is None:
            continue
        num_bad = found[2].true_count
        if num_bad < fewest:
            best, fewest = [found], num_bad
        elif num_bad == fewest and best:
            best.append(found)
    if not best:
        return FoundReadings((), pa.nulls(0, pa.bool_()))
    kept = [best[0]]
    for other in best[1:]:
        is_new = all(_differ(one, other, has_more=has_more) for one in kept)
        if is_new:
            kept.append(other)
    return FoundReadings(tuple(_with_examples(kept, texts)), best[0][2])


def _ways(texts: pa.Array, form: TextForm, delimiter: str | None) -> Iterator[TextForm]:
    """Yield the forms that texts may have: the usual one first."""
    yield form
    if delimiter is None:
        return
    if not form.decimal_sign:
        has_comma = pc.any(pc.match_substring(texts, ",")).as_py()
        if delimiter != "," or has_comma:
            yield replace(form, decimal_sign=",")
        if not pc.all(pc.match_substring_regex(texts, _PLAIN_NUMBER)).as_py():
            yield replace(form, decimal_sign=".")
    if not form.day_order:
        yield replace(form, day_order="dmy")
        yield replace(form, day_order="mdy")


def _narrowest(
    texts: pa.Array, candidates: Sequence[DataType], way: TextForm, form: TextForm
) -> tuple[TextReading, pa.Array, pa.BooleanArray] | None:
    """Return the type that most texts have in one form; None for no text."""
    best, fewest = None, len(texts)
    for kind in candidates:
        if way.decimal_sign != form.decimal_sign and not is_number(kind):
            continue
        if way.day_order != form.day_order and not is_day(kind):
            continue
        parsed = parse_texts(texts, kind, way)
        num_bad = parsed.is_none.true_count
        if num_bad < fewest:
            reading = TextReading(
                data_type=kind,
                decimal_sign=way.decimal_sign if is_number(kind) else "",
                day_order=way.day_order if is_day(kind) else "",
            )
            best, fewest = (reading, parsed.values, parsed.is_none), num_bad
        if not fewest:
            break
    return best


def is_number(kind: DataType) -> bool:
    """Return whether a decimal sign matters for values of a type."""
    is_primitive = isinstance(kind, PrimitiveType) and kind.name in _NUMBERS
    return is_primitive or isinstance(kind, DecimalType)


def is_day(kind: DataType) -> bool:
    """Return whether an order of dates matters for values of a type."""
    return isinstance(kind, PrimitiveType) and kind.name in _DAYS


def _differ(
    one: tuple[TextReading, pa.Array, pa.BooleanArray],
    other: tuple[TextReading, pa.Array, pa.BooleanArray],
    *,
    has_more: bool,
) -> bool:
    """Return whether two readings give different values, or may in later rows."""
    kind, values, _ = one
    if not kind.format:  # the usual form has no room for doubt in later rows
        has_more = False
    return has_more or _unequal(values, other[1]) is not None


def _unequal(one: pa.Array, other: pa.Array) -> int | None:
    """Return the first place at which two columns of values differ."""
    if pa.types.is_integer(one.type) or pa.types.is_floating(one.type):
        one, other = (
            one.cast(pa.float64(), safe=False),
            other.cast(pa.float64(), safe=False),
        )
    elif one.type != other.type:
        return 0
    for place, pair in enumerate(zip(one.to_pylist(), other.to_pylist(), strict=True)):
        if pair[0] != pair[1] and any(value == value for value in pair):  # noqa: PLR0124  # NaN
            return place
    return None


def _with_examples(
    found: Sequence[tuple[TextReading, pa.Array, pa.BooleanArray]], texts: pa.Array
) -> Iterator[TextReading]:
    """Yield readings with what each makes of the first text that they differ in."""
    place = _unequal(found[0][1], found[1][1]) if len(found) > 1 else 0
    for reading, values, _ in found:
        value = values[place or 0].as_py()
        text = texts[place or 0].as_py()[:60]
        yield replace(reading, text=text, value=_shown(value))


def _shown(value: object) -> str:
    if value is None:
        return "no value"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)
