"""Who waits in one process, and what they are told."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import Queue

import pytest

from apps.news import hub as hubs
from apps.news.hub import MAX_A_PERSON, Hub, Subscription
from apps.news.topics import Topic, topics

SLOW = Topic(word="slow", revision=lambda _user, _key: "", pace_s=3600.0)


class Cut(Exception):  # noqa: N818 (what a channel raises)
    """The channel is cut."""


class Wire:
    """A channel that a test feeds and cuts."""

    def __init__(self) -> None:
        self.sent: Queue[Sequence[str] | None] = Queue()
        self.begun = 0

    def load(self) -> None:
        """Import nothing."""

    def send(self, told: Sequence[str]) -> None:
        """Tell."""
        self.sent.put(told)

    @contextmanager
    def listening(self) -> Iterator["Wire"]:
        """Listen."""
        self.begun += 1
        yield self

    def hear(self, timeout_s: float) -> Sequence[str]:
        """Wait for what the test sends; None cuts."""
        del timeout_s
        told = self.sent.get(timeout=60)
        if told is None:
            raise Cut
        return told

    def check(self) -> None:
        """Stand."""


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def hub(wire: Wire) -> Hub:
    return Hub(wire)


def told(one: Subscription) -> threading.Event:
    """Set whenever there is something to take."""
    event = threading.Event()
    one.attach(event.set)
    return event


class TestWhoWaits:
    def test_hears_its_own_topics_alone(self, hub: Hub) -> None:
        one, other = Subscription(["job:1"]), Subscription(["job:2"])
        hub.add(one)
        hub.add(other)

        hub.hear(["job:1", "job:3", "job:1"])

        assert one.take() == ["job:1"]
        assert other.take() == []

    def test_is_woken_and_takes_all_news_once(self, hub: Hub) -> None:
        one = Subscription(["job:1", "jobs"])
        hub.add(one)
        event = told(one)

        hub.hear(["job:1"])
        hub.hear(["jobs"])

        assert event.is_set()
        assert one.take() == ["job:1", "jobs"]
        assert not one.has_news

    def test_hears_of_what_came_before_it_was_woken(self, hub: Hub) -> None:
        one = Subscription(["job:1"])
        hub.add(one)
        hub.hear(["job:1"])

        assert told(one).is_set()

    def test_hears_nothing_once_it_is_gone(self, hub: Hub) -> None:
        one = Subscription(["job:1"])
        hub.add(one)
        hub.remove(one)
        hub.remove(one)

        hub.hear(["job:1"])

        assert one.take() == []

    def test_is_ended_by_what_ends_it(self, hub: Hub) -> None:
        one = Subscription(["jobs"], ends=["session:1"])
        other = Subscription(["jobs"], ends=["session:2"])
        hub.add(one)
        hub.add(other)

        hub.hear(["session:1"])

        assert one.is_over
        assert not other.is_over

    def test_is_one_of_so_many_of_a_person(self, hub: Hub) -> None:
        pages = [Subscription(["jobs"], owner="vera") for _ in range(MAX_A_PERSON)]
        for page in pages:
            hub.add(page)

        assert not hub.has_room_for("vera")
        assert hub.has_room_for("eve")
        hub.remove(pages[0])
        assert hub.has_room_for("vera")


class TestNewsThatComeTooSoon:
    @pytest.fixture(autouse=True)
    def _slow(self) -> Iterator[None]:
        topics.register(SLOW)
        yield
        topics.remove(SLOW)

    def test_are_one_a_little_later(self, hub: Hub, monkeypatch: pytest.MonkeyPatch):
        now_s = [1000.0]
        monkeypatch.setattr(hubs, "monotonic", lambda: now_s[0])
        one = Subscription(["slow:1", "slow:2"])
        hub.add(one)

        hub.hear(["slow:1"])
        assert one.take() == ["slow:1"]
        hub.hear(["slow:1"])
        hub.hear(["slow:1", "slow:2"])
        assert one.take() == ["slow:2"]
        now_s[0] += SLOW.pace_s
        hub.hear([])
        assert one.take() == ["slow:1"]
        hub.hear([])
        assert one.take() == []


class TestTopicsThatNobodyWaitsForAnyMore:
    def test_are_forgotten(self, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(hubs, "MAX_KNOWN", 10)
        for number in range(100):
            one = Subscription([f"job:{number}"])
            hub.add(one)
            hub.hear([f"job:{number}"])
            assert one.has_news
            hub.remove(one)

        assert hub.num_known <= 11
        assert not hub.is_awaited


class TestAChannel:
    def test_is_heard_by_one_thread_for_all(self, hub: Hub, wire: Wire) -> None:
        pages = [Subscription(["job:1"]) for _ in range(50)]
        events = [told(page) for page in pages]
        for page in pages:
            hub.add(page)
        assert hub.is_live(60)
        assert hub.is_live()

        wire.send(["job:1"])

        assert all(event.wait(60) for event in events)
        assert wire.begun == 1

    def test_that_is_cut_ends_all_who_wait_and_is_listened_to_again(self, hub, wire):
        one = Subscription(["job:1"])
        event = told(one)
        hub.add(one)
        assert hub.is_live(60)

        wire.sent.put(None)

        assert event.wait(60)
        assert one.is_over
        wire.send(["jobs"])
        while wire.begun < 2:
            wire.send(["jobs"])
            threading.Event().wait(0.05)
