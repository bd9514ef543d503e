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

from deltaweb.delta.protocol.schema import PrimitiveType, type_text
from deltaweb.writer.importing.batches import BadValue, Lines
from deltaweb.writer.importing.options import TextForm
from deltaweb.writer.importing.text_values import parse_texts, why_none

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
    """

    type_name: str
    num_fitting: int
    num_values: int
    misfits: tuple[BadValue, ...]
    is_of_first: bool = False

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

    def find_type(
        self, candidates: Sequence[PrimitiveType], form: TextForm
    ) -> tuple[str, NarrowerType | None]:
        """Return the narrowest type of all values; of text, what most values are."""
        best, best_bad, fewest = None, None, len(self.texts)
        for data_type in candidates:
            bad = parse_texts(self.texts, data_type, form).is_none
            if not bad.true_count:
                return type_text(data_type), None
            if bad.true_count < fewest:
                best, best_bad, fewest = data_type, bad, bad.true_count
        if best is None or best_bad is None or not _is_most(fewest, len(self.texts)):
            return "string", None
        return "string", self._narrower(best, best_bad)

    def _narrower(self, data_type: PrimitiveType, bad: pa.BooleanArray) -> NarrowerType:
        misfits = []
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
        )


def of_all(type_name: str, num_values: int) -> NarrowerType | None:
    """Return a type that all values have; None for one that nothing is told of."""
    if type_name not in WORDS:
        return None
    return NarrowerType(
        type_name=type_name, num_fitting=num_values, num_values=num_values, misfits=()
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
    )


def _is_most(num_misfits: int, num_values: int) -> bool:
    return 2 * num_misfits < num_values


def known_texts(texts: pa.Array, form: TextForm) -> pa.BooleanArray:
    """Tell which texts are no null."""
    return pc.and_(texts.is_valid(), pc.not_equal(texts, form.null_text)).fill_null(
        False  # noqa: FBT003  # pyarrow's own
    )
