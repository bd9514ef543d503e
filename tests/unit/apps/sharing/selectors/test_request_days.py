import uuid
from datetime import timedelta

import pytest

from apps.audit.models import AuditEvent
from apps.sharing.selectors.request_days import requests_by_day
from tests.factories import NOW

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def call(token_id: uuid.UUID, *, days_ago: int, **fields: object) -> None:
    values: dict[str, object] = {
        "at": NOW - days_ago * DAY,
        "kind": AuditEvent.Kind.CALL,
        "action": "table.query",
        "token_id": token_id,
    }
    AuditEvent.objects.create(**(values | fields))


def test_calls_are_counted_by_day_and_token() -> None:
    old, new, other = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()
    for days_ago in (0, 0, 2, 3, 4):
        call(old, days_ago=days_ago)
    call(new, days_ago=1)
    call(other, days_ago=0)
    call(old, days_ago=0, kind=AuditEvent.Kind.CHANGE)

    use = requests_by_day("token_id", [old, new], num_days=4, now=NOW)

    assert [day.day for day in use.days] == [18, 19, 20, 21]
    assert use.counts == {old: (1, 1, 0, 2), new: (0, 0, 1, 0)}
    assert (use.today(old), use.total(old)) == (2, 4)


def test_days_begin_at_midnight_in_utc() -> None:
    token = uuid.uuid4()
    midnight = NOW.replace(hour=0)
    call(token, days_ago=0, at=midnight)
    call(token, days_ago=0, at=midnight - timedelta(microseconds=1))

    use = requests_by_day("token_id", [token], num_days=2, now=NOW)

    assert use.counts[token] == (1, 1)


def test_days_beyond_the_events_looked_at_are_unknown() -> None:
    token = uuid.uuid4()
    for days_ago in (5, 4, 3, 2, 1, 0):
        call(token, days_ago=days_ago)

    use = requests_by_day("token_id", [token], num_days=6, now=NOW, scan=3)

    assert use.counts[token] == (None, None, None, 1, 1, 1)
    assert use.total(token) == 3
    assert use.num_known_days == 3
    assert use.partly_since == use.days[3]


def test_of_nobody_every_day_counts() -> None:
    use = requests_by_day("token_id", [], num_days=6, now=NOW)

    assert (use.num_known_days, use.partly_since) == (6, None)
