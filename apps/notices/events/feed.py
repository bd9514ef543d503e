"""Feeds: connections that get events as they happen, as server-sent events.

The web server holds a feed without a thread (`deltaweb.serving.events`). One thread of
each process reads the events of all its feeds, each with the rights that its reader has
then. A feed has at most one page of events that its client has not taken.

Source: HTML standard, "Server-sent events": the lines of a stream.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection
from django.utils import timezone

from apps.accounts.lifetimes.local_accounts import may_have_keys, may_have_session
from apps.accounts.lifetimes.suspension import is_suspended
from apps.accounts.models import APIKey, User
from apps.jobs.running.database_faults import DATABASE_FAULTS
from apps.news.hub import Hub, Subscription, hub
from apps.news.topics import of_session, of_user
from apps.notices.events.errors import CursorGoneError
from apps.notices.events.publisher import TOPIC
from apps.notices.events.reading import (
    EventFilter,
    EventReader,
    EventSlice,
    read_together,
)
from apps.pages.page_json import json_of
from deltaweb.environment.outages import lost_database

logger = logging.getLogger(__name__)

RETRY_MS: Final = 3_000  # before a client connects again
BATCH: Final = 100
LOOK_S: Final = 15.0  # between two looks without news
TOGETHER: Final = 100  # feeds that are read at once
PAUSE_S: Final = 0.2  # between two looks, however many news come
PULSE: Final = b":\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedCaller:
    """The caller that a feed is for; who may no longer call gets nothing more.

    Attributes:
        key_id: The API key of the request, if it has one.
        session_key: The session of the request, if it has one.
        ends_at: When the session ends; None with a key.
    """

    user_id: int
    key_id: UUID | None = None
    session_key: str | None = None
    ends_at: datetime | None = None

    @property
    def ends(self) -> tuple[str, ...]:
        """The topics that end all of the caller's feeds."""
        topics = (of_user(self.user_id), of_session(self.session_key))
        return tuple(filter(None, topics))

    def user(self, now: datetime) -> User | None:
        """Return the user as the database has it; None if the caller may not read."""
        return users_of([self], now).get(self)

    def _is_admitted(
        self, user: User | None, live_keys: Collection[UUID], now: datetime
    ) -> bool:
        if user is None or is_suspended(user, now):
            return False
        if self.key_id is not None:
            return self.key_id in live_keys and may_have_keys(user)
        return (
            self.ends_at is not None and self.ends_at > now and may_have_session(user)
        )


def users_of(callers: Collection[FeedCaller], now: datetime) -> dict[FeedCaller, User]:
    """Return the users of those callers who may read, as the database has them."""
    keys = {one.key_id for one in callers if one.key_id is not None}
    live_keys: set[UUID] = set()
    if keys:
        live = APIKey.objects.live(now).filter(id__in=keys)
        live_keys.update(live.values_list("id", flat=True))
    ids = {one.user_id for one in callers}
    users = User.objects.filter(is_active=True).in_bulk(ids)
    return {
        one: users[one.user_id]
        for one in callers
        if one._is_admitted(users.get(one.user_id), live_keys, now)  # noqa: SLF001 (of this module)
    }


def feed_lines(found: EventSlice, known: dict[str, str]) -> bytes:
    """Return events as lines of a stream, each with its cursor as its id.

    An id without data moves the client's cursor past events that are hidden from it.

    Args:
        known: The lines of events by their cursors; other feeds have the same.
    """
    parts = []
    for one in found.seen:
        if one.cursor not in known:
            text = json.dumps(json_of(one.event), ensure_ascii=False)
            known[one.cursor] = f"id: {one.cursor}\ndata: {text}\n\n"
        parts.append(known[one.cursor])
    if not found.seen or found.seen[-1].cursor != found.next:
        parts.append(f"id: {found.next}\n\n")
    return "".join(parts).encode()


def first_line() -> bytes:
    """Return the line that says when a client connects again."""
    return f"retry: {RETRY_MS}\n\n".encode()


class EventFeed:
    """One connection that gets events.

    Args:
        after: The cursor of its client.
    """

    def __init__(
        self, feeder: "Feeder", caller: FeedCaller, wanted: EventFilter, after: str
    ) -> None:
        self.caller = caller
        self.wanted = wanted
        self.after = after
        self.is_due = True  # whether there may be events that it has not read
        self.ending = Subscription((), ends=caller.ends, owner=caller.user_id)
        self._feeder = feeder
        self._unsent = first_line()
        self._is_ended = False
        self._wake: Callable[[], None] | None = None
        self._lock = threading.Lock()

    @property
    def has_news(self) -> bool:
        return bool(self._unsent)

    @property
    def is_over(self) -> bool:
        return self._is_ended or self.ending.is_over

    @property
    def is_hungry(self) -> bool:
        """Whether it may read: its client has taken all of before."""
        return self.is_due and not self._unsent and not self.is_over

    def attach(self, wake: Callable[[], None]) -> None:
        """Call this in any thread, whenever there is something to send."""
        with self._lock:
            self._wake = wake
        self.ending.attach(wake)
        wake()

    def add(self, text: bytes) -> None:
        """Add lines; wake who sends them."""
        with self._lock:
            self._unsent += text
            wake = self._wake
        if wake is not None:
            wake()

    def take(self) -> bytes:
        """Return the lines that are to be sent, and let more be read."""
        with self._lock:
            text, self._unsent = self._unsent, b""
            self.is_due = True
        self._feeder.wake()
        return text

    def pulse(self) -> bytes:
        """Return what keeps the connection."""
        return PULSE

    def end(self) -> None:
        """Send no more; its client connects again with its last cursor."""
        with self._lock:
            self._is_ended = True
            wake = self._wake
        if wake is not None:
            wake()

    def close(self) -> None:
        """Forget it."""
        self._feeder.remove(self)


class Feeder:
    """The feeds of this process, and the thread that reads for them."""

    def __init__(self, at: Hub) -> None:
        self._hub = at
        self._feeds: set[EventFeed] = set()
        self._lock = threading.Lock()
        self._is_due = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, feed: EventFeed) -> None:
        """Read for a feed from now on."""
        self._hub.add(feed.ending)
        with self._lock:
            self._feeds.add(feed)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="event feeds", daemon=True
                )
                self._thread.start()
        self.wake()

    def remove(self, feed: EventFeed) -> None:
        """Forget a feed; one that is not there is no error."""
        self._hub.remove(feed.ending)
        with self._lock:
            self._feeds.discard(feed)
        self.wake()

    def wake(self) -> None:
        """Let the thread look at once."""
        self._is_due.set()

    # === In its thread ===

    def _run(self) -> None:
        news = Subscription([TOPIC])
        news.attach(self.wake)
        self._hub.add(news)
        try:
            while self._has_feeds():
                is_woken = self._is_due.wait(LOOK_S)
                self._is_due.clear()
                if news.take() or not is_woken:
                    self._all_are_due()
                if news.is_over:  # the channel was cut: clients connect again
                    self._end_all()
                    return
                self._read_all()
                time.sleep(PAUSE_S)
        finally:
            self._hub.remove(news)

    def _has_feeds(self) -> bool:
        with self._lock:
            if not self._feeds:
                self._thread = None
            return bool(self._feeds)

    def _all_are_due(self) -> None:
        with self._lock:
            for feed in self._feeds:
                feed.is_due = True

    def _end_all(self) -> None:
        with self._lock:
            feeds, self._thread = list(self._feeds), None
        for feed in feeds:
            feed.end()

    def _read_all(self) -> None:
        with self._lock:
            hungry = [feed for feed in self._feeds if feed.is_hungry]
        try:
            for first in range(0, len(hungry), TOGETHER):
                self._read(hungry[first : first + TOGETHER])
        finally:
            connection.close()

    def _read(self, feeds: Sequence[EventFeed]) -> None:
        """Read for some feeds; a failure ends them, and their clients connect again."""
        for feed in feeds:
            feed.is_due = False
        try:
            users = users_of([feed.caller for feed in feeds], timezone.now())
            admitted = [feed for feed in feeds if feed.caller in users]
            slices = read_together(
                [
                    (
                        EventReader(
                            user=users[feed.caller], wanted=feed.wanted, limit=BATCH
                        ),
                        feed.after,
                    )
                    for feed in admitted
                ]
            )
        except DATABASE_FAULTS as error:
            kind, lost = type(error).__name__, lost_database(error)
            logger.warning("Feeds of events end (%s).", kind, exc_info=lost)
            for feed in feeds:
                feed.end()
            return
        for feed in feeds:
            if feed.caller not in users:
                feed.end()
        known: dict[str, str] = {}
        for feed, found in zip(admitted, slices, strict=True):
            if isinstance(found, CursorGoneError):
                feed.end()
            elif found.next != feed.after:
                feed.after = found.next
                feed.add(feed_lines(found, known))


_feeders: dict[int, Feeder] = {}
_feeders_lock: Final = threading.Lock()


def feeder() -> Feeder:
    """Return the feeder of this process's hub."""
    at = hub()
    with _feeders_lock:
        if id(at) not in _feeders:
            _feeders.clear()
            _feeders[id(at)] = Feeder(at)
        return _feeders[id(at)]


def open_feed(caller: FeedCaller, wanted: EventFilter, after: str) -> EventFeed | None:
    """Return a feed after a cursor; None if this process cannot hold one more."""
    at = hub()
    if not at.has_room_for(caller.user_id) or not at.is_live():
        return None
    feed = EventFeed(feeder(), caller, wanted, after)
    feeder().add(feed)
    return feed
