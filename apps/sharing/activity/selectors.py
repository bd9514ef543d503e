"""The record of activity: pages of the events of a filter.

A page looks at no more than `SCAN_LENGTH` events, however rare what it looks for is;
what is older than that is on the pages after it. So it is as fast over millions of
events as over none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from apps.audit.models import AuditEvent, AuditEventQuerySet
from apps.pages.lists.paging import Keyset
from apps.pages.page_json import names_of
from apps.sharing.activity.action_words import action_words
from apps.sharing.activity.event_rows import EventResource, EventRow, event_row
from apps.sharing.activity.forms import ActivityFilter
from apps.sharing.activity.refusals import reason_in
from apps.sharing.activity.usage import FIRST_FAILED_STATUS
from apps.tables.models import Table

PAGE_LENGTH = 50
SCAN_LENGTH = 200_000
TEXT_SCAN_LENGTH = 50_000  # a text is looked for in many columns
MAX_COUNT = 10_000
CSV_CHUNK = 2000
_SEARCHED = (
    "recipient",
    "share",
    "schema",
    "table",
    "actor",
    "action",
    "address",
    "user_agent",
    "token_prefix",
    "error_code",
    "request_id",
)
# Where the machine forms name a column in another way than the table does.
_COLUMNS = {"token": "token_prefix"}
_MADE = {"words", "reason"}  # of what the table holds


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityPage:
    """Some events, newest first.

    Attributes:
        searched_until: The time of the oldest event looked at when the page is not
            full although older events exist.
        after: The time of the event that the page comes after, None on the first.
    """

    wanted: ActivityFilter
    rows: list[EventRow]
    paged: Keyset
    searched_until: datetime | None
    after: datetime | None = None


def matching_events(wanted: ActivityFilter) -> AuditEventQuerySet:
    """Return the events of a filter, newest first, of every page."""
    events = AuditEvent.objects.order_by("-at", "-id")
    for name in ("recipient", "share", "action", "kind"):
        if value := getattr(wanted, name):
            events = events.filter(**{name: value})
    if wanted.who:
        events = events.filter(actor=wanted.who)
    if wanted.table:
        events = events.filter(_about_table(wanted.table))
    if wanted.status:
        lookup = "status__gte" if wanted.status == "failed" else "status__lt"
        events = events.filter(**{lookup: FIRST_FAILED_STATUS})
    if wanted.since:
        events = events.filter(at__gte=wanted.since)
    if wanted.until:
        events = events.filter(at__lt=wanted.until)
    if wanted.text:
        found = Q()
        for name in _SEARCHED:
            found |= Q(**{f"{name}__icontains": wanted.text})
        events = events.filter(found)
    return events


def activity_page(
    wanted: ActivityFilter, *, length: int = PAGE_LENGTH, scan: int = SCAN_LENGTH
) -> ActivityPage:
    """Return up to `length` events that pass a filter."""
    if wanted.text:
        scan = min(scan, TEXT_SCAN_LENGTH)
    events = matching_events(wanted)
    start = _older_than(wanted)
    if wanted.before is not None:
        if start is None:
            return _no_events(wanted)
        at, event_id = start
        older = Q(at__lt=at) | Q(at=at, id__lt=event_id)
        page_events = events.filter(older, at__lte=at)
    else:
        page_events = events
    floor = _floor(wanted, start, scan)
    if floor is not None:
        page_events = page_events.filter(at__gte=floor.at)
    found = list(page_events[: length + 1])
    more = len(found) > length
    found = found[:length]
    if wanted.before is None and not more:
        count, counted_all = len(found), floor is None
    else:
        count, counted_all = _count(wanted, scan)
    next_before = found[-1].id if more else floor.id if floor else None
    return ActivityPage(
        wanted=wanted,
        rows=[event_row(event) for event in found],
        paged=Keyset(count=count, is_exact=counted_all, next_key=next_before),
        searched_until=floor.at if floor and not more else None,
        after=start[0] if start else None,
    )


def activity_rows(wanted: ActivityFilter) -> Iterator[tuple[object, ...]]:
    """Yield every event of a filter, newest first, as `EventResource` names its parts.

    They are read as values: there may be millions.
    """
    names = names_of(EventResource)
    stored = [_COLUMNS.get(name, name) for name in names if name not in _MADE]
    for found in matching_events(wanted).values(*stored).iterator(CSV_CHUNK):
        reason = reason_in(found["status"], found["error_code"], found["detail"] or {})
        made = {"words": action_words(found["action"]), "reason": reason}
        yield tuple((found | made)[_COLUMNS.get(name, name)] for name in names)


def action_choices() -> list[tuple[str, str]]:
    """Return the actions that occur, with their words: a walk along their index."""
    actions: list[str] = []
    events = AuditEvent.objects.order_by("action")
    while True:
        later = events.filter(action__gt=actions[-1]) if actions else events
        action = later.values_list("action", flat=True).first()
        if action is None:
            return [(name, action_words(name)) for name in actions]
        actions.append(action)


# === Paging ===


@dataclass(frozen=True, slots=True)
class Floor:
    """The oldest event that a page looks at."""

    id: int
    at: datetime


def _no_events(wanted: ActivityFilter) -> ActivityPage:
    nowhere = Keyset(count=0, is_exact=True, next_key=None)
    return ActivityPage(wanted=wanted, rows=[], paged=nowhere, searched_until=None)


def _older_than(wanted: ActivityFilter) -> tuple[datetime, int] | None:
    """Return time and id of the event that `before` names, or of the nearest one."""
    if wanted.before is None:
        return None
    ids = AuditEvent.objects.filter(id__lte=wanted.before).order_by("-id")
    return ids.values_list("at", "id").first()


def _floor(
    wanted: ActivityFilter, start: tuple[datetime, int] | None, scan: int
) -> Floor | None:
    """Return the oldest event within reach of a page, None when all are."""
    events = AuditEvent.objects.order_by("-id")
    if start is not None:
        events = events.filter(id__lt=start[1])
    elif wanted.until is not None:
        newest = AuditEvent.objects.filter(at__lt=wanted.until).order_by("-at", "-id")
        first = newest.values_list("id", flat=True).first()
        if first is None:
            return None
        events = events.filter(id__lte=first)
    floor = oldest_in_reach(events, scan)
    if floor is None or (wanted.since is not None and floor.at <= wanted.since):
        return None
    return floor


def oldest_in_reach(events: AuditEventQuerySet, scan: int) -> Floor | None:
    """Return the last of `scan` events when there are older ones.

    Ids have few gaps, so the place is found by the id and not by counting.
    """
    newest = events.values_list("id", flat=True).first()
    if newest is None or newest <= scan:
        return None
    oldest = events.filter(id__gte=newest - scan).order_by("id")
    found = oldest.values_list("id", "at").first()
    if found is None or not AuditEvent.objects.filter(id__lt=found[0]).exists():
        return None
    return Floor(*found)


def _count(wanted: ActivityFilter, scan: int) -> tuple[int, bool]:
    """Count the events of a filter, and say whether that is all of them."""
    events = matching_events(wanted)
    if wanted.needs_no_rows:
        return events.count(), True
    floor = _floor(wanted, None, scan)
    if floor is not None:
        events = events.filter(at__gte=floor.at)
    count = events.order_by()[: MAX_COUNT + 1].count()
    if count > MAX_COUNT:
        return MAX_COUNT, False
    return count, floor is None


def _about_table(text: str) -> Q:
    """Match a table by its name in a share or in the catalogue."""
    schema, _, name = text.rpartition(".")
    in_share = Q(table=name, schema=schema) if schema else Q(table=name)
    namespace = schema or "default"
    registered = Table.objects.filter(namespace=namespace, name=name).values("id")
    return in_share | Q(table=text) | Q(table_id__in=registered)
