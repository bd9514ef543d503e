"""Scripts get events as they happen, by a connection that the server holds."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone

from apps.accounts.models import APIKey, User
from apps.news import hub as hubs
from apps.news.hub import MAX_A_PERSON
from apps.news.publishing import publish
from apps.news.topics import of_user
from apps.news.views import HOLDS
from apps.notices.events import feed as feeds
from apps.notices.events.feed import EventFeed
from apps.tables.models import Table
from tests.functional.events.test_events import commit, read
from tests.support.pages.factories import new_api_key, new_table
from tests.support.processes.installation import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

URL = "/api/v1/events"


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins with nobody who waits, and no thread outlives its database."""
    feeders: dict[int, feeds.Feeder] = {}
    monkeypatch.setattr(hubs, "_hubs", {})
    monkeypatch.setattr(feeds, "_feeders", feeders)
    yield
    for feeder in feeders.values():
        thread = feeder._thread  # noqa: SLF001 (nothing else ends it so early)
        for feed in [*feeder._feeds]:  # noqa: SLF001 (as above)
            feeder.remove(feed)
        if thread is not None:
            thread.join(timeout=60)


def ask(
    client: Client, last: str = "", *, holds: bool = True, after: str = ""
) -> HttpResponseBase:
    headers = {"Accept": "text/event-stream"}
    if last:
        headers["Last-Event-ID"] = last
    environment: dict[str, Any] = {HOLDS: holds}
    return client.get(URL, {"after": after}, headers=headers, **environment)


def feed_of(answer: HttpResponseBase) -> EventFeed:
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/event-stream"
    held: Any = answer
    found: EventFeed = held.events
    return found


class Listening:
    """A client that keeps all that a feed sends."""

    def __init__(self, feed: EventFeed) -> None:
        self.feed = feed
        self.text = ""

    def versions(self) -> list[int]:
        self.text += self.feed.take().decode()
        return versions(self.text)

    def hears(self, *expected: int) -> bool:
        return wait_for(lambda: self.versions() == [*expected])

    @property
    def cursor(self) -> str:
        ids = [line for line in self.text.splitlines() if line.startswith("id: ")]
        return ids[-1].removeprefix("id: ")


def versions(text: str) -> list[int]:
    lines = [line for line in text.splitlines() if line.startswith("data: ")]
    found = [json.loads(line.removeprefix("data: ")) for line in lines]
    return [event["data"]["version"] for event in found]


def listen(client: Client, last: str = "", after: str = "") -> Listening:
    return Listening(feed_of(ask(client, last, after=after)))


class TestAStream:
    def test_begins_with_the_events_after_the_cursor(self, viewer: Client) -> None:
        table = new_table()
        commit(table, 1, 2)
        cursor = read(viewer, limit=1)["next"]

        assert listen(viewer).hears(1, 2)
        assert listen(viewer, after=cursor).hears(2)
        assert listen(viewer, cursor, after="now").hears(2)

    def test_has_what_happens_later(self, viewer: Client) -> None:
        table = new_table()
        commit(table, 1)
        listening = listen(viewer, after="now")

        commit(table, 2, 3)
        assert listening.hears(2, 3)
        commit(table, 4)
        assert listening.hears(2, 3, 4)

    def test_that_was_cut_continues_at_its_last_id(self, viewer: Client) -> None:
        table = new_table()
        listening = listen(viewer, after="now")
        commit(table, 1)
        assert listening.hears(1)
        listening.feed.close()
        commit(table, 2)

        assert listen(viewer, listening.cursor).hears(2)

    def test_of_more_events_than_a_page_has_all(
        self, viewer: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(feeds, "BATCH", 3)
        commit(new_table(), *range(10))

        assert listen(viewer).hears(*range(10))

    def test_has_no_event_that_is_hidden_at_that_moment(self, viewer: Client) -> None:
        table = new_table()
        listening = listen(viewer, after="now")
        assert listening.hears()
        Table.objects.update(is_private=True)
        commit(table, 1)
        assert wait_for(lambda: bool(listening.versions()) or "-1" in listening.text)
        Table.objects.update(is_private=False)
        commit(table, 2)

        assert listening.hears(2)

    def test_is_refused_with_a_cursor_that_is_gone(self, viewer: Client) -> None:
        assert ask(viewer, "0123abcd-1").status_code == 410

    def test_of_a_server_that_holds_none_ends_after_what_there_is(
        self, viewer: Client
    ) -> None:
        commit(new_table(), 1)

        answer: Any = ask(viewer, holds=False)

        text = answer.content.decode()
        assert text.startswith("retry: 3000\n\n")
        assert versions(text) == [1]

    def test_beyond_those_of_one_person_ends_after_what_there_is(
        self, viewer: Client
    ) -> None:
        for _ in range(MAX_A_PERSON):
            feed_of(ask(viewer))

        assert not hasattr(ask(viewer), "events")


class TestAStreamEnds:
    def test_with_the_session(self, viewer: Client) -> None:
        feed = feed_of(ask(viewer))
        publish(of_user(User.objects.get().pk))

        assert wait_for(lambda: feed.is_over)

    def test_with_the_key(self) -> None:
        table = new_table()
        user = User.objects.create(username="kim")
        feed = feed_of(ask(Client(headers=new_api_key(user)), after="now"))
        feed.take()
        APIKey.objects.update(revoked_at=timezone.now())
        commit(table, 1)

        assert wait_for(lambda: feed.is_over)
        assert b"data" not in feed.take()

    @pytest.mark.parametrize("fields", [{"is_signed_out": True}, {"is_active": False}])
    def test_with_the_account(self, fields: dict[str, bool]) -> None:
        table = new_table()
        user = User.objects.create(username="kim")
        feed = feed_of(ask(Client(headers=new_api_key(user)), after="now"))
        feed.take()
        User.objects.update(**fields)
        commit(table, 1)

        assert wait_for(lambda: feed.is_over)
        assert b"data" not in feed.take()
