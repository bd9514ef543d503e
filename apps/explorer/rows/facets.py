"""The values of columns that have few, with their rows: one click filters by a value.

The values of partition columns come from the index, and those of other columns from
the profiles that jobs have made. No file is opened.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Final

from apps.explorer.rows.filters import is_plain, row_filter
from apps.explorer.rows.plan import RowPlan
from apps.pages.page_json import OnPage
from apps.pages.request.parameters import QueryError
from apps.tables.index.counted import Counted
from apps.tables.work.profile import KnownProfile
from deltaweb.delta.profile.described import ColumnProfile
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import python_values
from deltaweb.index.query.value_counts import ROWS, VALUE, ValueCounts

MAX_FACETS: Final = 6  # that nobody has chosen
MAX_VALUES: Final = 8  # of a facet that nobody has chosen
MAX_CHOSEN_VALUES: Final = 100
MAX_SUGGESTIONS: Final = 20
MAX_LENGTH: Final = 200  # characters of a value that a condition holds

EXACT: Final = "exact"
AT_MOST: Final = "at most"
ESTIMATED: Final = "estimated"
ALL_ROWS: Final = "all rows"

Profiles = Mapping[tuple[str, ...], KnownProfile]


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetValue:
    """A value of a column.

    Attributes:
        text: The value as a condition has it; None for NULL.
        rows: The number of its rows; None if it is unknown.
        condition: As the address has it; "" for a value that no condition can have.
        is_chosen: Whether the page has this condition.
    """

    text: str | None
    rows: int | None
    condition: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """The values of a column, the most frequent first.

    Attributes:
        num_values: How many different values there are; None if it is unknown.
        counts: How exact the numbers of rows are: `exact`, `estimated`, `at most`
            (files with rows of other values are counted too) or `all rows` (of the
            version, without the conditions of the page).
        is_whole: Whether all values are listed.
        is_chosen: Whether the address names the column.
        job_id: The job that counted them; None if the log says it.
    """

    column: str
    values: Sequence[FacetValue]
    num_values: int | None
    counts: str
    is_whole: bool
    is_chosen: OnPage[bool]
    job_id: OnPage[str | None] = None

    @property
    def num_more(self) -> int:
        """The number of values that are not listed."""
        return max((self.num_values or 0) - len(self.values), 0)


def row_facets(
    plan: RowPlan,
    counted: Counted | None,
    profiles: Profiles,
    chosen: Sequence[str],
) -> list[Facet]:
    """Return the facets of a page.

    Args:
        counted: What the index says of the partition columns.
        profiles: Of the version, by column.
        chosen: The columns whose values the address asks for; without any, those of
            partition columns, and columns of which a profile knows every value.
    """
    if chosen:
        names = [name for name in chosen if plan.schema.find(name)]
        found = [
            _facet(plan, counted, profiles, name, is_chosen=True) for name in names
        ]
        return [one for one in found if one is not None]
    partitions = [*counted.values] if counted else []
    few = [path[0] for path, one in profiles.items() if _is_short(path, one.profile)]
    names = [*dict.fromkeys([*partitions, *few])]
    found = [_facet(plan, counted, profiles, name) for name in names]
    return [one for one in found if one and one.values][:MAX_FACETS]


def suggestions(
    plan: RowPlan, counted: Counted | None, profiles: Profiles, column: str, text: str
) -> list[FacetValue]:
    """Return values of a column that hold a text, the most frequent first."""
    one = _facet(plan, counted, profiles, column, is_chosen=True, limit=None)
    needle = text.casefold()
    found = [
        value
        for value in (one.values if one else ())
        if value.text and value.condition and needle in value.text.casefold()
    ]
    return found[:MAX_SUGGESTIONS]


def _is_short(path: tuple[str, ...], profile: ColumnProfile) -> bool:
    """Whether a profile has every value of a column at the top."""
    is_known = profile.num_distinct == len(profile.top) and not profile.top_error
    return len(path) == 1 and is_known and len(profile.top) > 1


def _facet(  # noqa: PLR0913 (what is known, and how much is listed)
    plan: RowPlan,
    counted: Counted | None,
    profiles: Profiles,
    name: str,
    *,
    is_chosen: bool = False,
    limit: int | None = MAX_CHOSEN_VALUES,
) -> Facet | None:
    field = plan.schema.find(name)
    if field is None or not is_plain(field.data_type):
        return None
    most = limit if is_chosen else MAX_VALUES
    if counted and name in counted.values:
        return _of_index(plan, name, counted.values[name], most, is_chosen=is_chosen)
    known = profiles.get((name,))
    if known is not None:
        return _of_profile(plan, name, known, most, is_chosen=is_chosen)
    if not is_chosen:
        return None
    return Facet(
        column=name,
        values=(),
        num_values=None,
        counts=ALL_ROWS,
        is_whole=False,
        is_chosen=True,
    )


def _of_index(
    plan: RowPlan, name: str, found: ValueCounts, most: int | None, *, is_chosen: bool
) -> Facet:
    shown = found.values.slice(0, most)
    pairs = zip(python_values(shown[VALUE]), shown[ROWS].to_pylist(), strict=True)
    values = [
        _value(plan, name, None if value is None else cell_text(value), rows)
        for value, rows in pairs
        if rows != 0
    ]
    return Facet(
        column=name,
        values=values,
        num_values=found.values.num_rows,
        counts=EXACT if found.is_exact else AT_MOST,
        is_whole=len(values) == found.values.num_rows,
        is_chosen=is_chosen,
    )


def _of_profile(
    plan: RowPlan, name: str, known: KnownProfile, most: int | None, *, is_chosen: bool
) -> Facet:
    profile = known.profile
    pairs: list[tuple[str | None, int]] = [*profile.top]
    if profile.num_nulls:
        pairs.append((None, profile.num_nulls))
        pairs.sort(key=lambda pair: -pair[1])
    values = [_value(plan, name, text, rows) for text, rows in pairs[:most]]
    kind = ESTIMATED if profile.top_error else EXACT
    num_values = None
    if profile.num_distinct is not None:
        num_values = profile.num_distinct + bool(profile.num_nulls)
    return Facet(
        column=name,
        values=values,
        num_values=num_values,
        counts=ALL_ROWS if plan.conditions else kind,
        is_whole=len(values) == num_values and not profile.top_error,
        is_chosen=is_chosen,
        job_id=str(known.job.id),
    )


def _value(plan: RowPlan, name: str, text: str | None, rows: int | None) -> FacetValue:
    condition = f"{name}:null" if text is None else f"{name}:eq:{text}"
    if not _is_condition(plan, condition):
        condition = ""
    return FacetValue(
        text=text,
        rows=rows,
        condition=condition,
        is_chosen=any(wanted.raw == condition for wanted in plan.filters),
    )


def _is_condition(plan: RowPlan, text: str) -> bool:
    """Whether a text is read as a condition: long texts and NaN are not."""
    if len(text) > MAX_LENGTH:
        return False
    try:
        row_filter(plan.schema, text, UTC)
    except QueryError:
        return False
    return True


def other_conditions(plan: RowPlan, column: str) -> list[str]:
    """Return the conditions of a page but those that choose a value of a column."""
    starts = (f"{column}:eq:", f"{column}:null")
    return [one.raw for one in plan.conditions if not one.raw.startswith(starts)]


def choosable(plan: RowPlan, shown: Sequence[Facet]) -> Iterator[str]:
    """Yield the other columns whose values may be listed."""
    names = {one.column for one in shown}
    yield from (name for name in plan.filterable if name not in names | {*plan.parts})
