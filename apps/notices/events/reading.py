"""Reading the stream of events: what a person may see, after a cursor."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from apps.accounts.models import User
from apps.jobs.waiting import place_to_wait
from apps.news.hub import waiting_for
from apps.notices.events.cloud_event import CloudEvent, cloud_event
from apps.notices.events.cursors import check_kept, cursor_text, number_of_cursor
from apps.notices.events.publisher import TOPIC, the_sequence
from apps.notices.events.visibility import visible_events
from apps.notices.models import Event
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
        sequence = the_sequence()
        end, start = sequence.last_number, number_of_cursor(sequence, after)
        found, number = self._seen(start, end)
        # What was removed meanwhile is not among the events that were found.
        sequence.refresh_from_db(fields=["pruned_to"])
        check_kept(sequence, start)
        return EventSlice(
            seen=tuple(
                SeenEvent(
                    cursor=cursor_text(sequence, one.number or 0),
                    event=cloud_event(one),
                )
                for one in found
            ),
            start=cursor_text(sequence, start),
            next=cursor_text(sequence, number),
        )

    def _seen(self, start: int, end: int) -> tuple[list[Event], int]:
        """Return events after a number, and the number up to which it looked."""
        found: list[Event] = []
        number, num_scanned, length = start, 0, min(2 * self.limit, MAX_LIMIT)
        while num_scanned < MAX_SCANNED:
            rows = self.wanted.apply(Event.objects.after(number, end))
            scanned = list(rows[:length])
            found += visible_events(self.user, scanned)
            if len(found) >= self.limit:
                found = found[: self.limit]
                return found, found[-1].number or end
            if len(scanned) < length:
                return found, end
            number, num_scanned = scanned[-1].number or end, num_scanned + length
            length = MAX_LIMIT
        return found, number

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
