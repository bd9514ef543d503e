"""Reading the stream of events: what a person may see, after a cursor."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from apps.accounts.models import User
from apps.jobs.waiting import place_to_wait
from apps.news.hub import waiting_for
from apps.notices.events.cloud_event import CloudEvent, cloud_event
from apps.notices.events.cursors import check_kept, cursor_text, number_of_cursor
from apps.notices.events.errors import CursorGoneError
from apps.notices.events.publisher import TOPIC, the_sequence
from apps.notices.events.visibility import event_viewers, visible_events
from apps.notices.models import Event, EventSequence
from apps.notices.models.events import EventQuerySet

DEFAULT_LIMIT: Final = 100
MAX_LIMIT: Final = 1_000
MAX_WAIT_S: Final = 30
MAX_SCANNED: Final = 5_000  # events that one request looks at
LOOK_S: Final = 1.0  # between two looks while a request waits


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """The events that a reader wants.

    Attributes:
        kinds: Names of kinds; all kinds if there are none.
        table_id: None for events of all tables, and of no table.
    """

    kinds: Collection[str] = ()
    table_id: UUID | None = None

    def apply(self, events: EventQuerySet) -> EventQuerySet:
        """Return the events that match."""
        if self.kinds:
            events = events.filter(kind__in=self.kinds)
        if self.table_id is not None:
            events = events.filter(table_id=self.table_id)
        return events


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenEvent:
    """An event that a reader may see, with the cursor after it."""

    cursor: str
    event: CloudEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSlice:
    """Consecutive events, as far as a reader may see and wants them.

    Attributes:
        start: The cursor that the reader gave, also if it gave none.
        next: The cursor after all events that were looked at.
    """

    seen: tuple[SeenEvent, ...]
    start: str
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReader:
    """The events that a request reads."""

    user: User
    wanted: EventFilter = field(default_factory=EventFilter)
    limit: int = DEFAULT_LIMIT

    def read(self, after: str) -> EventSlice:
        """Return the oldest events after a cursor, without waiting.

        An answer without events has another cursor if hidden events were skipped.

        Raises:
            CursorGoneError: If the cursor is not valid any more.
            QueryError: If it is not a cursor.
        """
        [found] = read_together([(self, after)])
        if isinstance(found, CursorGoneError):
            raise found
        return found

    def wait(self, after: str, wait_s: float) -> EventSlice:
        """Return events after a cursor; wait a while if there are none.

        Raises:
            CursorGoneError: If the cursor is not valid any more.
            QueryError: If it is not a cursor.
        """
        found = self.read(after)
        if found.seen or wait_s <= 0:
            return found
        deadline_s = time.monotonic() + wait_s
        with place_to_wait() as has_place, waiting_for(TOPIC) as news:
            found = self.read(found.next)
            while has_place and not found.seen:
                left_s = deadline_s - time.monotonic()
                if left_s <= 0:
                    break
                news.wait(min(left_s, LOOK_S))
                found = self.read(found.next)
        return found


@dataclass(slots=True, kw_only=True)
class _Reading:
    """How far a reader has read.

    Attributes:
        number: The number of the last event that was looked at.
        length: How many events it looks at next.
    """

    reader: EventReader
    start: int
    number: int
    length: int
    num_scanned: int = 0
    found: list[Event] = field(default_factory=list)
    is_done: bool = False

    @property
    def stretch(self) -> tuple[frozenset[str], UUID | None, int, int]:
        """The events that it looks at next; equal ones are the same events."""
        wanted = self.reader.wanted
        return frozenset(wanted.kinds), wanted.table_id, self.number, self.length

    def load(self, end: int) -> list[Event]:
        """Load these events, up to a number."""
        rows = self.reader.wanted.apply(Event.objects.after(self.number, end))
        return list(rows[: self.length])

    def take(self, scanned: Sequence[Event], seen: Iterable[Event], end: int) -> None:
        """Add the events that the reader may see among those that were loaded."""
        self.found += seen
        if len(self.found) >= self.reader.limit:
            self.found = self.found[: self.reader.limit]
            self.number, self.is_done = self.found[-1].number or end, True
        elif len(scanned) < self.length:
            self.number, self.is_done = end, True
        else:
            self.number = scanned[-1].number or end
            self.num_scanned += self.length
            self.length = MAX_LIMIT
            self.is_done = self.num_scanned >= MAX_SCANNED


def read_together(
    places: Sequence[tuple[EventReader, str]],
) -> list[EventSlice | CursorGoneError]:
    """Return what each reader finds after its cursor, without waiting.

    Readers of the same events share the rows. Who may see them is asked once for all
    readers, and again by the next call.

    Raises:
        QueryError: If one of the cursors is not a cursor.
    """
    sequence = the_sequence()
    answers: list[CursorGoneError | _Reading] = []
    for reader, after in places:
        try:
            start = number_of_cursor(sequence, after)
        except CursorGoneError as gone:
            answers.append(gone)
            continue
        length = min(2 * reader.limit, MAX_LIMIT)
        answers.append(
            _Reading(reader=reader, start=start, number=start, length=length)
        )
    pending = [one for one in answers if isinstance(one, _Reading)]
    while pending:
        _read_on(pending, sequence.last_number)
        pending = [one for one in pending if not one.is_done]
    # Events that were removed meanwhile are not among those that were found.
    sequence.refresh_from_db(fields=["pruned_to"])
    known: dict[int, SeenEvent] = {}
    return [
        _slice(sequence, one, known) if isinstance(one, _Reading) else one
        for one in answers
    ]


def _read_on(readings: Sequence[_Reading], end: int) -> None:
    """Let each reader look at its next events."""
    loaded: dict[object, list[Event]] = {}
    for one in readings:
        if one.stretch not in loaded:
            loaded[one.stretch] = one.load(end)
    if len(readings) == 1:
        [one] = readings
        scanned = loaded[one.stretch]
        one.take(scanned, visible_events(one.reader.user, scanned), end)
        return
    people = {one.reader.user.pk: one.reader.user for one in readings}
    readers: dict[object, set[int]] = defaultdict(set)
    for one in readings:
        readers[one.stretch].add(one.reader.user.pk)
    events = {event.id: event for rows in loaded.values() for event in rows}
    wanted: dict[int, set[int]] = defaultdict(set)
    for stretch, rows in loaded.items():
        for event in rows:
            wanted[event.id] |= readers[stretch]
    viewers = event_viewers(list(events.values()), wanted, people)
    for one in readings:
        scanned, pk = loaded[one.stretch], one.reader.user.pk
        one.take(scanned, [each for each in scanned if pk in viewers[each.id]], end)


def _slice(
    sequence: EventSequence, reading: _Reading, known: dict[int, SeenEvent]
) -> EventSlice | CursorGoneError:
    """Return what was found; `known` has the events that others have found."""
    try:
        check_kept(sequence, reading.start)
    except CursorGoneError as gone:
        return gone
    for one in reading.found:
        if one.id not in known:
            cursor = cursor_text(sequence, one.number or 0)
            known[one.id] = SeenEvent(cursor=cursor, event=cloud_event(one))
    return EventSlice(
        seen=tuple(known[one.id] for one in reading.found),
        start=cursor_text(sequence, reading.start),
        next=cursor_text(sequence, reading.number),
    )
