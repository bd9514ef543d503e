"""What the values of a column look like, whoever has added them up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final

from deltaweb.delta.profile.column import ProfiledColumn
from deltaweb.delta.profile.histogram import Edges
from deltaweb.delta.protocol.schema import DataType, PrimitiveType, type_text
from deltaweb.delta.values.cell_text import cell_text

QUANTILES: Final = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
TOP_VALUES: Final = 30
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnProfile:
    """What the values of a column look like; values are text, None is unknown.

    Attributes:
        num_distinct: Distinct values, about 2 % off where they are many.
        minimum, maximum: The extremes; text is cut.
        mean, deviation: Of numbers.
        quantiles: (share, value); about 0.01 % off in rank.
        min_length, max_length, mean_length: Characters of text, bytes of binary.
        top: (value, count), the most frequent first.
        top_error: How far the counts of `top` may be off; values that are not more
            frequent than that are left out.
        histogram: (from, to, count) in equal steps of numbers, days and times; `to` is
            part of the next bin. Without NaN and infinity.
        is_histogram_exact: Whether its counts are exact; others are about 1 % off.
    """

    version: int
    column: tuple[str, ...]
    type_text: str
    num_rows: int
    num_nulls: int
    num_nan: int | None = None
    num_distinct: int | None = None
    minimum: str | None = None
    maximum: str | None = None
    mean: float | None = None
    deviation: float | None = None
    quantiles: tuple[tuple[float, str], ...] = ()
    min_length: int | None = None
    max_length: int | None = None
    mean_length: float | None = None
    num_empty: int | None = None
    top: tuple[tuple[str, int], ...] = ()
    top_error: int = 0
    histogram: tuple[tuple[str, str, int], ...] = ()
    is_histogram_exact: bool = True


def describe(
    column: ProfiledColumn, version: int, sums: Mapping[str, Any], *, top_error: int = 0
) -> ColumnProfile:
    """Say in text what an engine has added up.

    Args:
        sums: Named as the attributes of `ColumnProfile` are, and `present`, the rows
            with a value. Values are Python's, those of times are counts of days or
            microseconds; `quantiles` has those of `QUANTILES`, `top` pairs and
            `histogram` the edges and counts of bins. What is missing is unknown.
        top_error: How far counts of `top` may be off.
    """
    say = partial(_value_text, column.data_type)
    shares = zip(QUANTILES, sums.get("quantiles") or (), strict=False)
    said = {
        "num_nulls": sums["num_rows"] - sums["present"],
        "minimum": say(sums.get("minimum")),
        "maximum": say(sums.get("maximum")),
        "quantiles": tuple((share, say(value) or "") for share, value in shares),
        "top": tuple(
            (say(value) or "", count)
            for value, count in sums.get("top") or ()
            if value is not None and count > top_error
        ),
        "histogram": _bins(column, *sums.get("histogram", ((), ()))),
    }
    kept = {name: value for name, value in sums.items() if name != "present"}
    return ColumnProfile(
        version=version,
        column=tuple(column.path),
        type_text=type_text(column.data_type),
        top_error=top_error,
        **{**kept, **said},
    )


def _bins(
    column: ProfiledColumn, edges: Edges, counts: Sequence[int]
) -> tuple[tuple[str, str, int], ...]:
    texts = [_edge_text(column, edge) for edge in edges]
    return tuple(zip(texts, texts[1:], counts, strict=False))


def _edge_text(column: ProfiledColumn, edge: float) -> str:
    if column.kind in {"double", "decimal"}:
        return f"{edge:.12g}"
    return _value_text(column.data_type, edge) or ""


def _value_text(data_type: DataType, value: Any) -> str | None:  # noqa: ANN401 (a value of any column)
    if value is None:
        return None
    name = data_type.name if isinstance(data_type, PrimitiveType) else ""
    is_time = name == "date" or name.startswith("timestamp")
    return _time_text(name, value) if is_time else cell_text(value)


def _time_text(name: str, value: int) -> str:
    """Return a count of days or microseconds since 1970 as people read it."""
    try:
        if name == "date":
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        text = (EPOCH + timedelta(microseconds=value)).isoformat()
    except OverflowError:
        return f"{value} {'days' if name == 'date' else 'µs'} since 1970"
    return text.replace("+00:00", "Z" if name == "timestamp" else "")
