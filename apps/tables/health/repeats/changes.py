"""What editors change of repeated maintenance: they set a schedule, or end it."""

from dataclasses import dataclass
from datetime import UTC, time
from typing import Any, Final, NamedTuple

from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.accounts.selectors import user_of
from apps.pages.actions import Action, Stamp, report
from apps.pages.changes.change import (
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.errors import PageError
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.tables.catalogue.names import find_table
from apps.tables.head.finding import OF_TABLE, check_own, get_own_table
from apps.tables.health.repeats.resources import (
    LABELS,
    RepeatResource,
    repeat_resource,
)
from apps.tables.models import RepeatedOperation, Table
from apps.tables.models.repeats import EVERY, Every, next_run
from apps.tables.operations.vacuum.hours import hours_of
from deltaweb.words import length_text

FIRST_EVERY: Final = "sunday"
FIRST_AT: Final = "03:00"
MAX_KEEP_HOURS: Final = 24 * 366 * 10
VACUUM: Final = "vacuum"
ROUTE: Final = f"{OF_TABLE}/repeats/<str:operation>"


class RepeatInvalidError(PageError, code="repeat-invalid"):
    """A schedule that cannot be kept."""

    reason: str
    status = 422
    message = "The schedule is not valid: {reason}."
    hint = "Give a day, a time such as 03:00, and for a vacuum a span such as 30d."


class RepeatUnknownError(PageError, code="repeat-unknown"):
    """An operation that is not repeated by a schedule."""

    operation: str
    status = 404
    message = "{operation:.40r} cannot be repeated by a schedule."
    hint = "Give one of optimize, vacuum, checkpoint, cleanup."


class Repeated(NamedTuple):
    """A table and the operation on it that is repeated."""

    table: Table
    operation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRepeat:
    """When an operation is repeated; a value that is left out stays.

    Attributes:
        every: How often: some hours, each day, or a day of the week; the first time
            `sunday`.
        at: The time of day in UTC, such as 03:00, which is the first one.
        keep: How long a vacuum keeps removed files, such as `30d`; null for the
            table's setting.
    """

    every: Every | Unchanged = parameter(
        UNCHANGED,
        "--every",
        line=Line(label="Every", wrong="Choose how often it is repeated."),
        choices=list(EVERY),
        help=f"a day of the week, `day`, `12h` or `6h`; default: {FIRST_EVERY}",
    )
    at: str | Unchanged = parameter(
        UNCHANGED,
        "--at",
        line=Line(label="At", most=5, codes=("repeat-invalid",)),
        metavar="HH:MM",
        help=f"time of day in UTC; default: {FIRST_AT}",
    )
    keep: str | Unchanged | None = parameter(
        UNCHANGED,
        "--keep",
        removed_by="--no-keep",
        line=Line(label="Keep", most=20),
        metavar="30d",
        help="how long a vacuum keeps removed files; default: the table's retention",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedRepeat:
    """An operation that is no longer repeated.

    Attributes:
        ended: Whether it was.
    """

    table: str
    operation: str
    ended: bool


def repeated(name: str, operation: str) -> Repeated:
    """Return a table of this server and an operation, by their names.

    Raises:
        RepeatUnknownError: If the operation cannot be repeated.
    """
    table = find_table(name)
    check_own(table)
    return Repeated(table, _known(operation))


def seen_repeated(caller: User, namespace: str, name: str, operation: str) -> Repeated:
    """Return a table that a user may change and an operation."""
    return Repeated(get_own_table(caller, namespace, name), _known(operation))


def _known(operation: str) -> str:
    if operation not in LABELS:
        raise RepeatUnknownError(operation=operation)
    return operation


def repeat(subject: Repeated, new: NewRepeat, stamp: Stamp) -> RepeatResource:
    """Repeat an operation by a schedule, or change its schedule.

    Raises:
        RepeatInvalidError: If the time or the span cannot be read.
    """
    table, operation = subject
    found = RepeatedOperation.objects.filter(table=table, operation=operation).first()
    if found is None:
        found = RepeatedOperation(
            table=table,
            operation=operation,
            every=FIRST_EVERY,
            at=_time(FIRST_AT),
            created_at=stamp.at,
            created_by=user_of(stamp),
        )
    if not isinstance(new.every, Unchanged):
        found.every = new.every
    if not isinstance(new.at, Unchanged):
        found.at = _time(new.at)
    if not isinstance(new.keep, Unchanged):
        found.parameters = _parameters(operation, new.keep or "")
    found.due_at = next_run(found.every, found.at, after=stamp.at.astimezone(UTC))
    found.save()
    return repeat_resource(found)


def end_repeat(subject: Repeated, _: Nothing, stamp: Stamp) -> EndedRepeat:
    """End a schedule; a run that has begun goes on."""
    table, operation = subject
    found = RepeatedOperation.objects.filter(table=table, operation=operation)
    ended, _more = found.delete()
    if ended:
        detail = {"operation": operation}
        report(Action(name="repeat.end", stamp=stamp, detail=detail, **_about(subject)))
    return EndedRepeat(table=table.full_name, operation=operation, ended=bool(ended))


def _time(text: str) -> time:
    try:
        found = time.fromisoformat(text.strip().rjust(5, "0"))
    except ValueError as error:
        reason = f"{text[:20]!r} is not a time of day"
        raise RepeatInvalidError(reason=reason) from error
    return found.replace(second=0, microsecond=0, tzinfo=None)


def _parameters(operation: str, keep: str) -> dict[str, float]:
    if not keep.strip():
        return {}
    if operation != VACUUM:
        raise RepeatInvalidError(reason="only a vacuum keeps files for a time")
    try:
        hours = hours_of(keep)
    except Exception as error:
        reason = f"{keep[:20]!r} is not a span such as 30d"
        raise RepeatInvalidError(reason=reason) from error
    if not 0 < hours <= MAX_KEEP_HOURS:
        longest = length_text(MAX_KEEP_HOURS * 3600)
        reason = f"files are kept for more than nothing and at most {longest}"
        raise RepeatInvalidError(reason=reason)
    return {"hours": hours}


def _about(subject: Repeated) -> dict[str, Any]:
    return {"table": subject.table.full_name, "table_id": subject.table.id}


def _said(one: RepeatResource) -> str:
    kept = f", {one.keep_words}" if one.keep_words else ""
    due = f"{one.due_at:%Y-%m-%d %H:%M} UTC"
    return f"{one.label} of {one.table}: {one.words}{kept}. The next run is at {due}."


def _said_ended(one: EndedRepeat) -> str:
    if one.ended:
        return f"{one.operation} of {one.table} is no longer repeated."
    return f"{one.operation} of {one.table} was not repeated."


def _would_repeat(one: RepeatResource) -> tuple[RepeatResource, str]:
    return one, f"{one.label} of {one.table} would be repeated {one.words}."


def _would_end(one: EndedRepeat) -> tuple[EndedRepeat, str]:
    said = "would be" if one.ended else "is already"
    return one, f"The schedule of {one.operation} of {one.table} {said} ended."


def _maintenance(subject: Repeated) -> str:
    names = (subject.table.namespace, subject.table.name)
    return f"{resolve_url('tables:table-maintenance', *names)}#repeat"


REPEATED: Final = Subject(
    noun="table", role=VIEWER, scope="write", find=repeated, about=_about
)
REPEAT: Final = Change(
    of=REPEATED,
    name="repeat",
    help="Repeat maintenance of a table by a schedule.",
    more="Each run is a job. It respects holds and the retention of the table.",
    parameters=NewRepeat,
    do=repeat,
    result=RepeatResource,
    says=_said,
    record=Record("repeat.set"),
    verb=Verb(would=_would_repeat),
    call=Call("PUT", ROUTE, view="Repeat", status=200, find=seen_repeated),
    page=Page(
        "t/<str:namespace>/<str:name>/repeat", back=_maintenance, find=seen_repeated
    ),
)
END_REPEAT: Final = Change(
    of=REPEATED,
    name="repeat",
    help="End the schedule of an operation.",
    parameters=Nothing,
    do=end_repeat,
    result=EndedRepeat,
    says=_said_ended,
    record=("repeat.end",),
    verb=Verb(flag="--end", would=_would_end),
    call=Call("DELETE", ROUTE, view="Repeat", status=200, find=seen_repeated),
    page=Page(
        "t/<str:namespace>/<str:name>/end-repeat",
        back=_maintenance,
        name="table-end-repeat",
        find=seen_repeated,
    ),
)
