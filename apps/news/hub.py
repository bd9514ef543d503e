"""Who waits for news in this process, and the one thread that hears them.

However many pages wait, one thread listens, and tells those that wait for a topic. What
comes too soon after the last news of its topic is told a little later, once.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final

from apps.news.channels.channel import Channel, Listener
from apps.news.channels.choice import channel
from apps.news.topics import pace_s

logger = logging.getLogger(__name__)

BEGIN_S: Final = 1.0  # for a channel to be there when the first one waits
CHECK_S: Final = 30.0  # without news, until the channel is asked whether it is cut
FIRST_PAUSE_S: Final = 0.5  # after a channel was cut
LONGEST_PAUSE_S: Final = 30.0
MAX_KNOWN: Final = 1000  # topics, until those that nobody waits for are forgotten
MAX_A_PERSON: Final = 32  # pages of one person that a process holds


class Subscription:
    """Somebody who waits for topics; it may be told in any thread.

    Attributes:
        is_over: Whether it hears nothing any more.
    """

    def __init__(
        self, topics: Iterable[str], *, ends: Iterable[str] = (), owner: object = None
    ) -> None:
        self.topics = frozenset(topics)
        self.ends = frozenset(ends)
        self.owner = owner
        self.is_over = False
        self._news: dict[str, None] = {}
        self._wake: Callable[[], None] | None = None
        self._lock = threading.Lock()

    @property
    def has_news(self) -> bool:
        return bool(self._news) or self.is_over

    def attach(self, wake: Callable[[], None]) -> None:
        """Call this whenever there is something to take, beginning with now."""
        with self._lock:
            self._wake = wake
            is_due = self.has_news
        if is_due:
            wake()

    def tell(self, topics: Iterable[str]) -> None:
        """Add news; wake who waits for them."""
        with self._lock:
            self._news |= dict.fromkeys(topics)
            wake = self._wake if self._news else None
        if wake is not None:
            wake()

    def end(self) -> None:
        """Let it hear nothing any more; wake who waits."""
        with self._lock:
            self.is_over = True
            wake = self._wake
        if wake is not None:
            wake()

    def take(self) -> list[str]:
        """Return the news since the last time."""
        with self._lock:
            news, self._news = list(self._news), {}
        return news


class Hub:
    """All who wait in this process."""

    def __init__(self, way: Channel) -> None:
        self._way = way
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._begun_at_s = 0.0
        self._is_live = threading.Event()
        self._waiting: dict[str, set[Subscription]] = {}
        self._of_owner: dict[object, int] = {}
        self._told_at_s: dict[str, float] = {}
        self._due_s: dict[str, float] = {}

    def begin(self) -> None:
        """Begin to listen, unless that has begun."""
        with self._lock:
            if self._thread is not None:
                return
            self._thread = threading.Thread(
                target=self._listen, name="news", daemon=True
            )
            self._begun_at_s = monotonic()
            self._thread.start()

    def is_live(self, wait_s: float = BEGIN_S) -> bool:
        """Whether news are heard; who asks at the beginning waits until they are."""
        self.begin()
        left_s = self._begun_at_s + wait_s - monotonic()
        return self._is_live.wait(max(0.0, left_s))

    @property
    def is_awaited(self) -> bool:
        """Whether anybody waits."""
        return bool(self._waiting)

    @property
    def num_known(self) -> int:
        return len(self._told_at_s)

    def has_room_for(self, owner: object) -> bool:
        """Whether one more of a person's pages is held."""
        return self._of_owner.get(owner, 0) < MAX_A_PERSON

    def add(self, one: Subscription) -> None:
        """Let somebody hear what comes from now on."""
        with self._lock:
            for topic in one.topics | one.ends:
                self._waiting.setdefault(topic, set()).add(one)
            self._of_owner[one.owner] = self._of_owner.get(one.owner, 0) + 1

    def remove(self, one: Subscription) -> None:
        """Let it hear nothing any more; one that is not there is no error."""
        with self._lock:
            was_there = False
            for topic in one.topics | one.ends:
                others = self._waiting.get(topic, set())
                was_there |= one in others
                others.discard(one)
                if not others:
                    self._waiting.pop(topic, None)
            if was_there:
                left = self._of_owner.get(one.owner, 0) - 1
                self._of_owner[one.owner] = left
                if left <= 0:
                    del self._of_owner[one.owner]

    # === In its thread ===

    def _listen(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                with self._way.listening() as listener:
                    self._is_live.set()
                    pause_s = FIRST_PAUSE_S
                    self._hear(listener)
            except Exception as error:  # noqa: BLE001 (each channel raises its own kinds)
                if pause_s == FIRST_PAUSE_S:  # said once, until it works again
                    kind = type(error).__name__
                    logger.warning("No live updates (%s); pages poll instead.", kind)
            self._is_live.clear()
            self._end_all()
            sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    def _hear(self, listener: Listener) -> None:
        """Tell what is heard until the channel is cut."""
        checked_at_s = monotonic()
        while True:
            now_s = monotonic()
            next_s = min(self._due_s.values(), default=now_s + CHECK_S)
            heard = listener.hear(max(0.0, min(next_s - now_s, CHECK_S)))
            if monotonic() - checked_at_s >= CHECK_S:
                checked_at_s = monotonic()
                listener.check()
            self.hear(heard)

    def hear(self, topics: Sequence[str]) -> None:
        """Tell these topics, and those whose time has come."""
        now_s = monotonic()
        if len(self._told_at_s) > MAX_KNOWN:
            known = self._told_at_s.items()
            self._told_at_s = {t: at for t, at in known if t in self._waiting}
        due = [topic for topic, at_s in self._due_s.items() if at_s <= now_s]
        for topic in due:
            del self._due_s[topic]
        for topic in dict.fromkeys((*due, *topics)):
            told_at_s = self._told_at_s.get(topic, -1.0)
            at_s = told_at_s + pace_s(topic)
            if topic not in self._waiting:
                self._told_at_s.pop(topic, None)
            elif told_at_s >= 0 and at_s > now_s:
                self._due_s.setdefault(topic, at_s)
            else:
                self._told_at_s[topic] = now_s
                self._tell(topic)

    def _tell(self, topic: str) -> None:
        with self._lock:
            waiting = list(self._waiting.get(topic, ()))
        for one in waiting:
            if topic in one.ends:
                one.end()
            else:
                one.tell([topic])

    def _end_all(self) -> None:
        with self._lock:
            everybody = {one for some in self._waiting.values() for one in some}
        for one in everybody:
            one.end()


_hubs: dict[int, Hub] = {}
_hubs_lock = threading.Lock()


def hub() -> Hub:
    """Return the hub of this process: one that was forked has its own."""
    with _hubs_lock:
        if os.getpid() not in _hubs:
            _hubs.clear()
            _hubs[os.getpid()] = Hub(channel())
        return _hubs[os.getpid()]


class Waiter:
    """A thread that waits for topics."""

    def __init__(self, one: Subscription, *, is_live: bool) -> None:
        self.is_live = is_live
        self._one = one
        self._is_told = threading.Event()
        one.attach(self._is_told.set)

    def wait(self, wait_s: float) -> bool:
        """Wait for news, no longer than so; say whether there are any."""
        self._is_told.wait(wait_s)
        self._is_told.clear()
        return bool(self._one.take())


@contextmanager
def waiting_for(*topics: str) -> Iterator[Waiter]:
    """Hear topics in this thread: what happens from the block's begin on."""
    at, one = hub(), Subscription(topics)
    at.add(one)
    try:
        yield Waiter(one, is_live=at.is_live())
    finally:
        at.remove(one)
