"""The type that most values of a column of texts have, and what the others are.

One value that is not one makes a column text: whoever imports it is told how many there
are, and can leave these rows out instead.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.schema import DataType, type_text
from deltaweb.writer.importing.batches import BadValue, Lines
from deltaweb.writer.importing.options import TextForm
from deltaweb.writer.importing.readings import (
    FoundReadings,
    TextReading,
    find_readings,
    readings_of_both,
    widest_of,
)
from deltaweb.writer.importing.text_values import why_none

SHOWN_MISFITS: Final = 3
WORDS: Final[Mapping[str, str]] = {
    "bigint": "whole numbers",
    "double": "numbers",
    "boolean": "true or false",
    "date": "dates",
    "timestamp": "times",
}
NUMBERS: Final = frozenset({"bigint", "double"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowerType:
    """A type that most values of a column have.

    Attributes:
        num_fitting: How many values have it.
        num_values: Of how many: those that are looked at for a proposal, without
            nulls.
        misfits: The first of the others, in their lines.
        is_of_first: Whether there are more values, which nobody has looked at yet.
        readings: The ways to read them; more than one if a person has to choose.
    """

    type_name: str
    num_fitting: int
    num_values: int
    misfits: tuple[BadValue, ...]
    is_of_first: bool = False
    readings: tuple[TextReading, ...] = ()

    @property
    def sentence(self) -> str:
        """How many values have it, and which of the others is first."""
        first = "the first " if self.is_of_first else ""
        counts = f"{self.num_fitting:,} of {first}{self.num_values:,} values are"
        shown = ", ".join(
            f"{one.value!r} ({one.file}, line {one.line:,})" for one in self.misfits
        )
        more = ", ..." if self.num_misfits > len(self.misfits) else ""
        return f"{counts} {WORDS[self.type_name]}; not {shown}{more}"

    @property
    def num_misfits(self) -> int:
        return self.num_values - self.num_fitting

    def describe(self) -> dict[str, Any]:
        return {
            "type": self.type_name,
            "words": WORDS[self.type_name],
            "num_fitting": self.num_fitting,
            "num_values": self.num_values,
            "is_of_first": self.is_of_first,
            "readings": [
                one.describe()
                for one in self.readings
                if one.format or len(self.readings) > 1
            ],
            "misfits": [
                {"file": one.file, "line": one.line, "value": one.value}
                for one in self.misfits
            ],
        }


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTexts:
    """The first values of a column, none of them null."""

    file: str
    column: str
    texts: pa.Array
    lines: Lines
    has_more: bool = False
    delimiter: str | None = None

    def find_readings(
        self, candidates: Sequence[DataType], form: TextForm
    ) -> FoundReadings:
        """Return how most values can be read."""
        return find_readings(
            self.texts, candidates, form, self.delimiter, has_more=self.has_more
        )

    def find_type(
        self, candidates: Sequence[DataType], form: TextForm
    ) -> tuple[tuple[TextReading, ...], NarrowerType | None]:
        """Return how all values can be read; of text, how most values can be."""
        found = self.find_readings(candidates, form)
        num_bad = found.is_none.true_count
        if not found.readings or not num_bad:
            return found.readings, None
        if not _is_most(num_bad, len(self.texts)):
            return (), None
        return (), self._narrower(found.readings, found.is_none)

    def _narrower(
        self, readings: tuple[TextReading, ...], bad: pa.BooleanArray
    ) -> NarrowerType:
        misfits = []
        data_type = widest_of(readings)
        for position in np.flatnonzero(np.asarray(bad))[:SHOWN_MISFITS]:
            value = self.texts[int(position)].as_py()
            line, reason = int(self.lines[position]), why_none(value, data_type)
            misfits.append(BadValue(self.file, line, self.column, value[:60], reason))
        return NarrowerType(
            type_name=type_text(data_type),
            num_fitting=len(self.texts) - bad.true_count,
            num_values=len(self.texts),
            misfits=tuple(misfits),
            is_of_first=self.has_more,
            readings=readings,
        )


def of_all(
    type_name: str, num_values: int, readings: tuple[TextReading, ...]
) -> NarrowerType | None:
    """Return a type that all values have; None for one that nothing is told of."""
    if type_name not in WORDS:
        return None
    return NarrowerType(
        type_name=type_name,
        num_fitting=num_values,
        num_values=num_values,
        misfits=(),
        readings=readings,
    )


def narrower_of_both(
    one: NarrowerType | None, other: NarrowerType | None
) -> NarrowerType | None:
    """Return what most values of two files are; None where they have no such type."""
    if one is None or other is None:
        return None
    types = {one.type_name, other.type_name}
    if len(types) > 1 and types != NUMBERS:
        return None
    readings = readings_of_both(one.readings, other.readings)
    if readings is None:
        return None
    num_values = one.num_values + other.num_values
    num_fitting = one.num_fitting + other.num_fitting
    if not _is_most(num_values - num_fitting, num_values):
        return None
    return NarrowerType(
        type_name="double" if len(types) > 1 else one.type_name,
        num_fitting=num_fitting,
        num_values=num_values,
        misfits=(*one.misfits, *other.misfits)[:SHOWN_MISFITS],
        is_of_first=one.is_of_first or other.is_of_first,
        readings=readings,
    )


def _is_most(num_misfits: int, num_values: int) -> bool:
    return 2 * num_misfits < num_values


def known_texts(texts: pa.Array, form: TextForm) -> pa.BooleanArray:
    """Tell which texts are no null."""
    return pc.and_(texts.is_valid(), pc.not_equal(texts, form.null_text)).fill_null(
        False  # noqa: FBT003  # pyarrow's own
    )
