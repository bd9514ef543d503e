"""Readers who read together: the same events as alone, and as many queries as one."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.models import User
from apps.notices.events import EventSubject, emit
from apps.notices.events.errors import CursorGoneError
from apps.notices.events.feed import FeedCaller, feed_lines, users_of
from apps.notices.events.publisher import prune_events, publish_events, the_sequence
from apps.notices.events.reading import (
    EventFilter,
    EventReader,
    EventSlice,
    read_together,
)
from apps.notices.kinds.table_version import NEW_VERSION
from apps.notices.models import Event
from apps.tables.models import Grant, Table
from tests.support.pages.factories import NOW, new_table, new_user
from tests.unit.apps.notices.events.test_emitting import version

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def commit(table: Table, *numbers: int) -> None:
    subject = EventSubject("table", str(table.id), table.full_name)
    for number in numbers:
        emit(NEW_VERSION, subject, version(number), now=NOW, table_id=table.id)
    publish_events()


def let_view(table: Table, user: User) -> None:
    Grant.objects.create(table=table, user=user, right="view", given_at=NOW)


@pytest.fixture
def secret() -> Table:
    """A private table with five versions, between those of an open one."""
    table, public = new_table("secret", is_private=True), new_table("public")
    commit(public, 0, 1)
    commit(table, 0, 1, 2, 3, 4)
    commit(public, 2)
    return table


def sentences(found: EventSlice | CursorGoneError) -> list[str]:
    assert isinstance(found, EventSlice)
    return [one.event.subject for one in found.seen]


def test_readers_find_together_what_each_finds_alone(secret: Table) -> None:
    ann, bob, admin = (
        new_user("ann"),
        new_user("bob"),
        new_user("carla", role=User.Role.ADMIN),
    )
    let_view(secret, bob)
    cursor = f"{the_sequence().epoch}-2"
    of_secret = EventFilter(kinds=["table.version"], table_id=secret.id)
    places = [
        (EventReader(user=one, wanted=wanted, limit=limit), after)
        for one in (ann, bob, admin)
        for wanted in (EventFilter(), EventFilter(kinds=["job.failed"]), of_secret)
        for limit in (1, 2, 100)
        for after in ("", cursor, "now")
    ]

    assert read_together(places) == [reader.read(after) for reader, after in places]


def test_each_reader_finds_what_that_person_may_see(secret: Table) -> None:
    ann, bob = new_user("ann"), new_user("bob")
    let_view(secret, bob)

    places = [(EventReader(user=one), "") for one in (ann, bob)]
    of_ann, of_bob = map(sentences, read_together(places))

    assert of_ann == ["table:public"] * 3
    assert of_bob.count("table:secret") == 5


def test_a_permission_that_ends_counts_for_the_next_call(secret: Table) -> None:
    ann, bob = new_user("ann"), new_user("bob")
    let_view(secret, bob)
    places = [(EventReader(user=one), "") for one in (ann, bob)]
    assert "table:secret" in sentences(read_together(places)[1])

    Grant.objects.all().delete()

    assert "table:secret" not in sentences(read_together(places)[1])


def test_more_readers_need_no_more_queries(secret: Table) -> None:
    def queries_of(people: list[User]) -> int:
        with CaptureQueriesContext(connection) as queries:
            read_together([(EventReader(user=one), "") for one in people])
        return len(queries)

    people = [new_user(f"person{number}") for number in range(20)]
    let_view(secret, people[0])

    assert queries_of(people) == queries_of(people[:2])


def test_a_cursor_that_is_gone_is_the_answer_to_its_reader_alone(
    secret: Table,
) -> None:
    ann = new_user("ann")
    epoch = the_sequence().epoch
    prune_events(before=NOW.replace(year=NOW.year + 1))
    commit(secret, 5)
    commit(Table.objects.get(name="public"), 3)

    gone, found = read_together(
        [(EventReader(user=ann), f"{epoch}-1"), (EventReader(user=ann), "")]
    )

    assert isinstance(gone, CursorGoneError)
    assert sentences(found) == ["table:public"]
    assert Event.objects.count() == 2


def test_the_users_of_feeds_need_one_query() -> None:
    people = [new_user(f"person{number}") for number in range(9)]
    later = NOW.replace(year=NOW.year + 1)
    callers = [FeedCaller(user_id=one.id, ends_at=later) for one in people]

    with CaptureQueriesContext(connection) as queries:
        found = users_of(callers, NOW)

    assert [found[one] for one in callers] == people
    assert len(queries) == 1


@pytest.mark.usefixtures("secret")
def test_lines_that_another_feed_has_are_the_same() -> None:
    ann, admin = new_user("ann"), new_user("carla", role=User.Role.ADMIN)
    known: dict[str, str] = {}
    for found in read_together([(EventReader(user=one), "") for one in (admin, ann)]):
        assert isinstance(found, EventSlice)
        assert feed_lines(found, known) == feed_lines(found, {})
    assert len(known) == 8
