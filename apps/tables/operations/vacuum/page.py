"""The page of a vacuum: what the folder holds, and what any retention would take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms

from apps.pages.changes.forms import form_of
from apps.pages.figures import percent
from apps.pages.page_json import json_of
from apps.tables.operations.pages.page import OperationPage
from apps.tables.operations.stored import StoredPreview
from apps.tables.operations.vacuum.operation import (
    VACUUM,
    Vacuum,
    VacuumCurve,
    VacuumDetail,
    VacuumStep,
    step_at,
)
from apps.tables.operations.vacuum.storage_ledger import ledger_parts
from deltaweb.words import counted

MAX_HOURS: Final = 24 * 366 * 10
PLOT_HEIGHT: Final = 104  # pixels of the highest bar
MAX_TICKS: Final = 7
HOURS_A_DAY: Final = 24


class RetentionForm(forms.Form):
    """How long what left the table is kept."""

    hours = forms.IntegerField(
        min_value=0,
        max_value=MAX_HOURS,
        error_messages={"invalid": "Give a whole number of hours."},
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """The bytes that the table stopped using on one day."""

    x: float
    width: float
    y: float
    height: float
    days: int
    size_bytes: int
    goes: bool


@dataclass(frozen=True, slots=True)
class Bands:
    """The versions that can be read now and afterwards, on the axis of time.

    A version stands where the longest retention does that takes it. Places and widths
    are percent of the axis.

    Attributes:
        begin: Where those that can be read now begin.
        now_width: From there to the present.
        lost_width: From there to where those begin that stay.
        stay: Where those begin that stay.
        stay_width: From there to the present.
        num_gone: How many cannot be read already.
    """

    begin: float
    now_width: float
    lost_width: float
    stay: float
    stay_width: float
    num_now: int
    num_after: int
    num_gone: int


def what_if(
    query: Mapping[str, str], look: StoredPreview[VacuumDetail]
) -> Mapping[str, Any]:
    """Return what a retention of the query takes, and the picture of all of them."""
    detail, curve = look.detail, look.detail.curve
    if curve is None:
        return {}
    least = detail.least_hours
    asked = RetentionForm(query if "hours" in query else {"hours": least})
    hours = asked.cleaned_data["hours"] if asked.is_valid() else least
    axis = curve.axis_hours
    needless = curve.steps[0]
    step = step_at(detail, hours) or needless
    bands = _bands(curve, hours, step)
    return {
        "whatif": {
            "hours": hours,
            "is_too_short": hours < least,
            "errors": asked.errors.get("hours", []),
            "words": span_words(hours),
            "least_words": span_words(least),
            "step": step.deletion,
            "stays": needless.deletion.size_bytes - step.deletion.size_bytes,
            "axis": axis,
            "cut": percent(axis - min(hours, axis), axis, digits=3),
            "floor": percent(axis - min(least, axis), axis, digits=3),
            "floor_width": percent(min(least, axis), axis, digits=3),
            "bars": _bars(curve.bars, hours),
            "bands": bands,
            "ticks": _ticks(axis),
            "data": {
                "least": least,
                "axis": axis,
                "steps": json_of(curve.steps),
                **({"begin": bands.begin, "now": bands.num_now} if bands else {}),
            },
        },
        "ledger": ledger_parts(detail.ledger),
        "stored": {
            "num_files": sum(part.num_files for part in detail.ledger),
            "size_bytes": sum(part.size_bytes for part in detail.ledger),
        },
    }


def span_words(hours: int) -> str:
    """Return hours as a person says them: `7 days`, `1 day 12 hours`."""
    days, rest = divmod(hours, HOURS_A_DAY)
    words = [
        counted(count, word) for count, word in ((days, "day"), (rest, "hour")) if count
    ]
    return " ".join(words) or "no time"


def _bars(sizes: Sequence[int], hours: int) -> list[Bar]:
    most = max(sizes, default=0) or 1
    width = 100 / len(sizes)
    found = []
    for day, size in enumerate(sizes):
        height = round(PLOT_HEIGHT * size / most, 1)
        found.append(
            Bar(
                x=round(100 - (day + 1) * width + width * 0.08, 3),
                width=round(width * 0.84, 3),
                y=round(22 + PLOT_HEIGHT - max(height, 1), 1),
                height=max(height, 1) if size else 0,
                days=day,
                size_bytes=size,
                goes=(day + 1) * HOURS_A_DAY > hours,
            )
        )
    return [bar for bar in found if bar.size_bytes]


def _bands(curve: VacuumCurve, hours: int, step: VacuumStep) -> Bands | None:
    """Return the bands; None where no retention takes a version."""
    versions = curve.versions
    if versions is None or versions.oldest_hours is None:
        return None
    axis = curve.axis_hours
    oldest = min(versions.oldest_hours + 1, axis)
    begin = percent(axis - oldest, axis, digits=3)
    stay = percent(axis - min(hours, oldest), axis, digits=3)
    return Bands(
        begin=begin,
        now_width=round(100 - begin, 3),
        lost_width=round(stay - begin, 3),
        stay=stay,
        stay_width=round(100 - stay, 3),
        num_now=versions.num_readable,
        num_after=versions.num_readable - step.deletion.num_lost,
        num_gone=versions.num_gone,
    )


def _ticks(axis: int) -> list[dict[str, Any]]:
    days = axis // HOURS_A_DAY
    step = next(step for step in (1, 2, 5, 7, 10, 15, 30) if days / step <= MAX_TICKS)
    return [
        {"x": percent(axis - day * HOURS_A_DAY, axis, digits=3), "days": day}
        for day in range(0, days + 1, step)
    ]


VACUUM_PAGE: Final = OperationPage(
    operation=VACUUM,
    form=form_of(Vacuum),
    choice=RetentionForm,
    heading="Vacuum",
    about="Deletes files that only older versions need, and files that no version "
    "has, if they are older than the retention period. The preview lists the folder "
    "once and shows what each retention period would delete.",
    icon="trash",
    failed="Nothing more was deleted",
    preview_words="List what could be deleted",
    weigh=what_if,
)
