"""Which row groups of a file a condition on one column would read, and why.

What the footer says of a row group rules it out, or does not; nothing of a page is
looked at. A bound that is not believed or not comparable rules nothing out.

Source: Parquet logical types, "sort order"; parquet.thrift, "Statistics".
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apps.pages.page_json import Named, OnPage
from deltaweb.delta.scan.operators import NULL_TESTS, OF_ADDRESSES, Operator
from deltaweb.delta.scan.predicate import And, Comparison, IsNull, Not, Predicate
from deltaweb.delta.scan.skipping import ColumnRange, may_match
from deltaweb.parquet.inspection.chunks import MAX_BOUND_LENGTH

BETWEEN: Final = "between"
OPERATORS: Final = {
    **{name: one.shown for name, one in OF_ADDRESSES.items()},
    BETWEEN: BETWEEN,
    **NULL_TESTS,
}
_READ: Final = (
    *("row_group", "min", "max", "null_count", "num_values"),
    *("ignored_because", "max_is_bound"),
)
_MOMENT: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?Z?", re.ASCII
)
_CLOCK: Final = re.compile(r"(\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?Z?", re.ASCII)
_PATH: Final = ("column",)
_FLOATS: Final = frozenset({"FLOAT", "DOUBLE", "FLOAT16"})
Key: TypeAlias = Any
"""A value that is compared with others of its column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition on the leaf column that is shown.

    Attributes:
        operator: A name of `OPERATORS`.
        value: The value to compare with; the lower one of `between`.
        upper: The upper one of `between`.
    """

    operator: str
    value: str = ""
    upper: Annotated[str, Named("to")] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupVerdict:
    """Whether a condition reads a row group, and why it does or does not."""

    is_read: bool
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedCondition:
    """What a condition reads of a file.

    Attributes:
        fault: Why the condition says nothing; "" where it does.
        num_read: The number of row groups that are read, of `num_groups`.
        read_bytes: The bytes of these row groups, of `total_bytes`.
    """

    condition: Condition
    fault: Annotated[str, Named("error")] = ""
    num_read: int = 0
    num_groups: int = 0
    read_bytes: int = 0
    total_bytes: int = 0
    verdicts: OnPage[Mapping[int, GroupVerdict]]

    @property
    def num_skipped(self) -> int:
        return self.num_groups - self.num_read


def try_condition(
    condition: Condition, column: Mapping[str, Any], chunks: pa.Table, groups: pa.Table
) -> TriedCondition:
    """Return which row groups a condition reads.

    Args:
        column: The row of `NODE_SCHEMA` of its leaf column.
        chunks: `CHUNK_SCHEMA`, of all columns.
        groups: `GROUP_SCHEMA`.
    """
    key_of = _key_of(column)
    try:
        comparisons = _comparisons(condition, key_of)
    except (ValueError, InvalidOperation):
        fault = f"This column is {_kind_words(column)}; the value is not."
        return TriedCondition(condition=condition, fault=fault, verdicts={})
    own = chunks.select(_READ).filter(pc.equal(chunks["column"], column["column"]))
    rows = own.to_pylist()
    verdicts = _verdicts(condition.operator, comparisons, rows, column)
    sizes = pc.fill_null(groups["compressed_bytes"], 0).to_pylist()
    # A row group without the column has no rows that a condition holds for.
    read = [number for number, one in verdicts.items() if one.is_read]
    return TriedCondition(
        condition=condition,
        num_read=len(read),
        num_groups=len(sizes),
        read_bytes=sum(sizes[number] for number in read),
        total_bytes=sum(sizes),
        verdicts=verdicts,
    )


def _verdicts(
    operator: str,
    comparisons: Sequence[tuple[Operator, Key]],
    rows: Sequence[Mapping[str, Any]],
    column: Mapping[str, Any],
) -> dict[int, GroupVerdict]:
    """Judge each row group as readers judge files, by the same comparisons.

    Values are compared by their places among all values, because Arrow has no type
    for some. Places are floats for floats, whose bounds say nothing of NaN.
    """
    if not rows:
        return {}
    bounds = [_bounds(row, _key_of(column)) for row in rows]
    keys = {key for pair in bounds for key in pair if key is not None}
    places = {
        key: place
        for place, key in enumerate(sorted(keys | {key for _, key in comparisons}))
    }
    is_float = _kind(column) in _FLOATS
    kind = pa.float64() if is_float else pa.int64()
    low, high = (
        pa.array([places.get(pair[end]) for pair in bounds], kind) for end in (0, 1)
    )
    nulls = [row["null_count"] for row in rows]
    known = ColumnRange(
        low=low,
        high=high,
        is_exact=False,
        all_null=np.array([row["null_count"] == row["num_values"] for row in rows]),
        some_null=np.array([count != 0 for count in nulls]),
    )
    asked = _predicate(
        operator, [(one, pa.scalar(places[key], kind)) for one, key in comparisons]
    )
    unknown = pa.nulls(len(rows), kind)

    def may(ranges: ColumnRange) -> list[bool]:
        found: list[bool] = may_match(asked, {_PATH: ranges}, len(rows)).tolist()
        return found

    is_read = may(known)
    by_low = may(replace(known, high=unknown))
    by_high = may(replace(known, low=unknown))
    return {
        row["row_group"]: GroupVerdict(
            is_read=is_read[n],
            because=_why_read(operator, row, bounds[n])
            if is_read[n]
            else _why_skipped(operator, row, by_low=by_low[n], by_high=by_high[n]),
        )
        for n, row in enumerate(rows)
    }


def _predicate(
    operator: str, comparisons: Sequence[tuple[Operator, pa.Scalar]]
) -> Predicate:
    if operator in NULL_TESTS:
        return IsNull(_PATH) if operator == "null" else Not(IsNull(_PATH))
    return And(tuple(Comparison(_PATH, one.sign, value) for one, value in comparisons))


def _why_skipped(
    operator: str, row: Mapping[str, Any], *, by_low: bool, by_high: bool
) -> str:
    if operator == "null":
        return "it has no null"
    if row["null_count"] is not None and row["null_count"] == row["num_values"]:
        return "every value is null"
    if not by_low:
        return f"its least value is {row['min']}"
    if not by_high:
        return f"its greatest value is {row['max']}"
    return f"every value is {row['min']}"


def _why_read(
    operator: str, row: Mapping[str, Any], bounds: tuple[Key | None, Key | None]
) -> str:
    nulls = row["null_count"]
    if operator == "null":
        return "nulls are not counted" if nulls is None else f"{nulls:,} nulls"
    if operator == "notnull":
        return "it has values"
    if bounds == (None, None):
        return "no range to rule it out"
    return "its range may hold such a value"


def _bounds(
    row: Mapping[str, Any], key_of: Callable[[str], Key] | None
) -> tuple[Key | None, Key | None]:
    if key_of is None or row["ignored_because"]:
        return None, None
    found: list[Key | None] = []
    for name in ("min", "max"):
        text = row[name]
        # The beginning of a long value is below it, so it bounds nothing from above.
        is_cut = name == "max" and row["max_is_bound"]
        is_text = text is not None and not text.startswith('{"')  # or JSON of bytes
        if not is_text or (is_cut and len(text) >= MAX_BOUND_LENGTH):
            found.append(None)
            continue
        try:
            found.append(key_of(text))
        except (ValueError, InvalidOperation):
            found.append(None)
    return found[0], found[1]


def _comparisons(
    condition: Condition, key_of: Callable[[str], Key] | None
) -> list[tuple[Operator, Key]]:
    """Return what all have to be true of a value."""
    if condition.operator in NULL_TESTS:
        return []
    if key_of is None:
        raise ValueError
    value = key_of(condition.value)
    if condition.operator == BETWEEN:
        upper = key_of(condition.upper)
        return [(OF_ADDRESSES["ge"], value), (OF_ADDRESSES["le"], upper)]
    return [(OF_ADDRESSES[condition.operator], value)]


def _kind(column: Mapping[str, Any]) -> str:
    if column["invalid_annotation"] is not None:
        return ""
    annotation: str = column["effective_type"] or column["physical_type"] or ""
    return annotation.partition("(")[0]


def _key_of(column: Mapping[str, Any]) -> Callable[[str], Key] | None:
    """Return how the text of a value becomes what is compared; None where nothing."""
    return _KEYS.get(_kind(column))


def _kind_words(column: Mapping[str, Any]) -> str:
    stored: str = column["effective_type"] or column["physical_type"] or "of no type"
    key_of = _key_of(column)
    if key_of is None:
        return f"{stored}, without a range"
    if key_of is _number:
        return "of numbers"
    if key_of is _moment:
        return "of times, such as 2026-11-22 or 2026-11-22T10:30:00"
    return "of times of day, such as 10:30:00" if key_of is _clock else stored


def _number(text: str) -> Decimal:
    number = Decimal(text.strip().replace(",", "").replace("_", ""))
    if number.is_nan():
        raise ValueError
    return number


def _moment(text: str) -> str:
    """Return a time as text of one length: its order is that of times."""
    found = _MOMENT.fullmatch(text.strip())
    if found is None:
        raise ValueError
    day, minute, second, fraction = found.groups()
    return (
        f"{day}T{minute or '00:00'}:{second or '00'}.{(fraction or '').ljust(9, '0')}"
    )


def _clock(text: str) -> str:
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        raise ValueError
    return _of_day(*found.groups())


def _of_day(minute: str | None, second: str | None, fraction: str | None) -> str:
    return f"{minute or '00:00'}:{second or '00'}.{(fraction or '').ljust(9, '0')}"


_KEYS: Final[Mapping[str, Callable[[str], Key]]] = {
    **dict.fromkeys(
        ("INT", "INT32", "INT64", "FLOAT", "DOUBLE", "FLOAT16", "DECIMAL"), _number
    ),
    **dict.fromkeys(("STRING", "ENUM", "JSON"), str.encode),
    **dict.fromkeys(("DATE", "TIMESTAMP", "INT96"), _moment),
    "UUID": lambda text: text.strip().lower(),
    "BOOLEAN": lambda text: ("false", "true").index(text.strip().lower()),
    "TIME": _clock,
}
