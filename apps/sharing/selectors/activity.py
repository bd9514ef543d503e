"""The record of activity: pages of events, their counts per day, who reads most.

A page looks at no more than `SCAN_LENGTH` events, however rare what it looks for is;
what is older than that is on the pages after it. So it is as fast over millions of
events as over none.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import CharField, Count, Q, Sum
from django.db.models.functions import Cast, Substr

from apps.audit.models import AuditEvent, AuditEventQuerySet
from apps.sharing.action_words import action_words
from apps.sharing.forms.activity import ActivityFilter
from apps.tables.models import Table

PAGE_LENGTH = 50
SCAN_LENGTH = 200_000
TEXT_SCAN_LENGTH = 50_000  # a text is looked for in many columns
MAX_COUNT = 10_000
COUNTED_LENGTH = 50_000  # events behind the charts
CHART_DAYS = 30
TOP_LENGTH = 8
CSV_CHUNK = 2000
FIRST_FAILED_STATUS = 400
_ISO_DAY_LENGTH = len("2026-11-21")
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
# What a change of something else than shares names in its detail.
_SUBJECTS = ("user", "name", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """One event as a list shows it.

    Attributes:
        event: The event.
        who: The recipient or the user.
        words: What was done, in plain words.
        what: The table, share or recipient that it was done to.
        facts: What came of it: version, files, bytes.
        failed: Whether it was refused or failed.
        details: Labels and texts of the fold-out.
    """

    event: AuditEvent
    who: str
    words: str
    what: str
    facts: str
    failed: bool
    details: list[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityPage:
    """Some events, newest first.

    Attributes:
        rows: The events.
        next_before: What `before` the next page has, or None at the end.
        count: How many events the filter holds, as far as they were counted.
        counted_all: Whether `count` is the whole truth.
        searched_until: The time of the oldest event looked at when the page is not
            full although older events exist.
        after: The time of the event that the page comes after, None on the first.
    """

    rows: list[EventRow]
    next_before: int | None
    count: int
    counted_all: bool
    searched_until: datetime | None
    after: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOfUse:
    """What one day of UTC saw."""

    day: date
    answered: int
    refused: int
    changes: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A table or recipient with what it was asked for or asked."""

    name: str
    share: str
    requests: int
    size_bytes: int
    percent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What a span of days saw, of the events of a filter.

    Attributes:
        days: Every day of the span, ascending.
        tables: The tables that were asked for most.
        recipients: The recipients that asked most.
        since: The first moment that was counted when that is not the span's first.
    """

    days: list[DayOfUse]
    tables: list[Reader]
    recipients: list[Reader]
    since: datetime | None

    @property
    def note(self) -> str:
        """What of the span was counted, when that is not all of it."""
        if self.since is None:
            return ""
        return f"since {self.since:%-d %b %H:%M} UTC: the newest {COUNTED_LENGTH:,}"

    @property
    def num_requests(self) -> int:
        """How many calls the days saw, answered or not."""
        return sum(day.answered + day.refused for day in self.days)

    @property
    def size_bytes(self) -> int:
        """How many bytes were offered."""
        return sum(day.size_bytes for day in self.days)

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened."""
        return not any(day.answered + day.refused + day.changes for day in self.days)


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
            return _no_events()
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
        rows=[event_row(event) for event in found],
        next_before=next_before,
        count=count,
        counted_all=counted_all,
        searched_until=floor.at if floor and not more else None,
        after=start[0] if start else None,
    )


def event_row(event: AuditEvent) -> EventRow:
    """Return an event as a list shows it."""
    words = action_words(event.action)
    table = ".".join(part for part in (event.schema, event.table) if part)
    return EventRow(
        event=event,
        who=event.actor or event.recipient or event.token_prefix or "nobody known",
        words=words,
        what=_what(event, table),
        facts=_facts(event),
        failed=event.status >= FIRST_FAILED_STATUS,
        details=_details(event),
    )


def use(  # noqa: PLR0913 (each bounds what is counted)
    events: AuditEventQuerySet,
    *,
    now: datetime,
    last_day: date | None = None,
    first_day: date | None = None,
    by_index: bool = False,
    scan: int = COUNTED_LENGTH,
) -> Use:
    """Count events by day, table and recipient in one pass.

    Args:
        events: The events, of any filter.
        now: The time that the span ends at without `last_day`.
        last_day: The last day of the span.
        first_day: The first one, by default `CHART_DAYS` before the last.
        by_index: Whether an index holds the filter in the order of time; only then
            can `scan` count the events of the filter, and not all that passed by.
        scan: How many of the newest events are counted at most.
    """
    last = min(last_day or now.date(), now.astimezone(UTC).date())
    earliest = last - timedelta(days=CHART_DAYS - 1)
    first = earliest if first_day is None or first_day < earliest else first_day
    first = min(first, last)
    start = datetime(first.year, first.month, first.day, tzinfo=UTC)
    if by_index:
        newest = events.order_by("-at").values_list("at", flat=True)
        reach = next(iter(newest[scan : scan + 1]), None)
    else:
        floor = _oldest_in_reach(AuditEvent.objects.order_by("-id"), scan)
        reach = floor.at if floor else None
    counted = events.filter(at__gte=max(start, reach) if reach else start)
    groups = (
        counted.order_by()
        .annotate(day=Substr(Cast("at", CharField()), 1, _ISO_DAY_LENGTH))
        .values_list("day", "kind", "recipient", "share", "schema", "table", "status")
        .annotate(events=Count("id"), bytes=Sum("size_bytes"))
    )
    return _added_up(
        groups,
        [first + timedelta(days=n) for n in range((last - first).days + 1)],
        since=reach if reach and reach > start else None,
    )


def event_data(event: AuditEvent) -> dict[str, Any]:
    """Return an event as the JSON form shows it."""
    return {
        "id": event.id,
        "at": event.at,
        "kind": event.kind,
        "action": event.action,
        "words": action_words(event.action),
        "actor": event.actor or None,
        "recipient": event.recipient or None,
        "token": event.token_prefix or None,
        "address": event.address or None,
        "user_agent": event.user_agent or None,
        "share": event.share or None,
        "schema": event.schema or None,
        "table": event.table or None,
        "version": event.version,
        "status": event.status,
        "error_code": event.error_code or None,
        "duration_ms": event.duration_ms,
        "num_files": event.num_files,
        "total_files": event.total_files,
        "size_bytes": event.size_bytes,
        "request_id": event.request_id or None,
        "detail": event.detail,
    }


def activity_csv(wanted: ActivityFilter) -> Iterator[list[object]]:
    """Yield a header and every event of a filter, newest first."""
    header = list(event_data(AuditEvent()))
    yield list(header)
    stored = [_COLUMNS.get(name, name) for name in header if name != "words"]
    words = header.index("words")
    action = header.index("action")
    for row in matching_events(wanted).values_list(*stored).iterator(CSV_CHUNK):
        yield [*row[:words], action_words(row[action]), *row[words:]]


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
class _Floor:
    """The oldest event that a page looks at."""

    id: int
    at: datetime


def _no_events() -> ActivityPage:
    return ActivityPage(
        rows=[], next_before=None, count=0, counted_all=True, searched_until=None
    )


def _older_than(wanted: ActivityFilter) -> tuple[datetime, int] | None:
    """Return time and id of the event that `before` names, or of the nearest one."""
    if wanted.before is None:
        return None
    ids = AuditEvent.objects.filter(id__lte=wanted.before).order_by("-id")
    return ids.values_list("at", "id").first()


def _floor(
    wanted: ActivityFilter, start: tuple[datetime, int] | None, scan: int
) -> _Floor | None:
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
    floor = _oldest_in_reach(events, scan)
    if floor is None or (wanted.since is not None and floor.at <= wanted.since):
        return None
    return floor


def _oldest_in_reach(events: AuditEventQuerySet, scan: int) -> _Floor | None:
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
    return _Floor(*found)


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


# === Counts ===


def _added_up(
    groups: Any,  # noqa: ANN401 (annotated rows)
    days: list[date],
    *,
    since: datetime | None,
) -> Use:
    by_day: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    tables: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    recipients: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for day, kind, recipient, share, schema, table, status, events, size in groups:
        counts = by_day[day]
        if kind == AuditEvent.Kind.CHANGE:
            counts[2] += events
            continue
        counts[1 if status >= FIRST_FAILED_STATUS else 0] += events
        counts[3] += size or 0
        if recipient:
            _add(recipients[recipient, ""], events, size)
        if table and share:
            name = ".".join(part for part in (schema, table) if part)
            _add(tables[name, share], events, size)
    rows = []
    for day in days:
        answered, refused, changes, size = by_day[day.isoformat()]
        rows.append(
            DayOfUse(
                day=day,
                answered=answered,
                refused=refused,
                changes=changes,
                size_bytes=size,
            )
        )
    return Use(days=rows, tables=_top(tables), recipients=_top(recipients), since=since)


def _add(total: list[int], events: int, size_bytes: int | None) -> None:
    total[0] += events
    total[1] += size_bytes or 0


def _top(totals: Mapping[tuple[str, str], list[int]]) -> list[Reader]:
    ordered = sorted(totals.items(), key=lambda item: (-item[1][0], item[0]))
    highest = ordered[0][1][0] if ordered else 1
    return [
        Reader(
            name=name,
            share=share,
            requests=requests,
            size_bytes=size,
            percent=max(1, round(100 * requests / highest)),
        )
        for (name, share), (requests, size) in ordered[:TOP_LENGTH]
    ]


# === Words ===


def _what(event: AuditEvent, table: str) -> str:
    if table:
        return f"{table} of {event.share}" if event.share else table
    if event.share and event.actor and event.recipient:
        return f"{event.share} for {event.recipient}"
    if event.share:
        return event.share
    if event.recipient:
        return event.recipient if event.actor else ""
    detail = event.detail if isinstance(event.detail, dict) else {}
    named = (detail.get(name) for name in _SUBJECTS)
    return next((text for text in named if isinstance(text, str)), "")


def _facts(event: AuditEvent) -> str:
    parts = []
    if event.version is not None:
        parts.append(f"v{event.version}")
    if event.num_files is not None:
        of = f" of {event.total_files:,}" if event.total_files is not None else ""
        parts.append(f"{event.num_files:,}{of} files")
    return ", ".join(parts)


def _details(event: AuditEvent) -> list[tuple[str, str]]:
    """Return what the fold-out says beside what the row shows."""
    pairs = [
        ("Action", event.action),
        ("Token", f"{event.token_prefix}…" if event.token_prefix else ""),
        ("Address", event.address),
        ("Agent", event.user_agent),
        ("Answer", f"{event.status} {event.error_code}".strip()),
        (
            "Duration",
            "" if event.duration_ms is None else f"{event.duration_ms:,.1f} ms",
        ),
        ("Pruning", _pruning(event)),
        ("Request", event.request_id),
    ]
    detail = event.detail if isinstance(event.detail, dict) else {}
    pairs += [(_label(name), _plain(value)) for name, value in detail.items()]
    return [(label, text) for label, text in pairs if text]


def _pruning(event: AuditEvent) -> str:
    if event.num_files is None or not event.total_files:
        return ""
    skipped = event.total_files - event.num_files
    if not skipped:
        return f"all {event.total_files:,} files offered"
    return f"{event.num_files:,} of {event.total_files:,} files offered"


def _label(name: object) -> str:
    words = str(name).replace("_", " ")
    return (
        f"Number of {words.removeprefix('num ')}"
        if words.startswith("num ")
        else words.capitalize()
    )


def _plain(value: object) -> str:
    """Render a value of `detail`: lists by commas, nested values by name."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if value.keys() == {"text", "reason"}:  # something left out, and why
            return f"{value['text']}: {value['reason']}"
        parts = [
            f"{_label(k).lower()}: {_plain(v) or 'none'}" for k, v in value.items()
        ]
        return "; ".join(parts)
    if isinstance(value, list | tuple):
        between = "\n" if any(isinstance(item, Mapping) for item in value) else ", "
        return between.join(_plain(item) or "none" for item in value)
    return str(value)
