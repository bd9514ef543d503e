"""What a span of days saw, whether an index answers or the newest events do."""

import itertools
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.sharing.activity.forms import ActivityFilter
from apps.sharing.activity.use_spans import use_of
from apps.sharing.models import Recipient
from tests.support import cases
from tests.support.pages.factories import NOW, new_call, new_recipient

pytestmark = [pytest.mark.django_db, pytest.mark.database]
DAY = timedelta(days=1)
ALL = ActivityFilter()
BY_ROWS = ActivityFilter(action="table.query")


@pytest.fixture
def acme() -> Recipient:
    return new_recipient("acme")


def new_event(at: datetime = NOW, **fields: Any) -> None:  # noqa: ANN401 (columns)
    new_call(at=at, **fields)


@pytest.mark.parametrize("wanted", [ALL, BY_ROWS], ids=["by index", "by rows"])
class TestUseOf:
    def test_gives_every_day_its_place(self, wanted: ActivityFilter) -> None:
        for days_ago in range(4):
            new_event(
                NOW - days_ago * DAY,
                status=200 if days_ago else 404,
                size_bytes=100 * days_ago or None,
            )
        new_event(kind=AuditEvent.Kind.ACTIVATION)

        found = use_of(wanted, now=NOW)

        assert len(found.days) == 30
        assert [day.num_answered for day in found.days[-4:]] == [1, 1, 1, 0]
        assert [day.num_refused for day in found.days[-4:]] == [0, 0, 0, 1]
        assert [day.num_others for day in found.days[-4:]] == [0, 0, 0, 1]
        assert [day.size_bytes for day in found.days[-4:]] == [300, 200, 100, 0]
        assert (found.note, found.top_note, found.size_bytes) == ("", "", 600)
        assert not found.is_empty

    def test_of_nothing_is_empty(self, wanted: ActivityFilter) -> None:
        new_event(NOW - 30 * DAY)

        assert use_of(wanted, now=NOW).is_empty

    def test_orders_tables_and_recipients_by_their_requests(self, wanted):
        names = itertools.cycle(["often", "often", "seldom"])
        for name in itertools.islice(names, 9):
            new_event(recipient=name, share="s", table=name)
        new_event(recipient="ended", kind=AuditEvent.Kind.ACTIVATION)

        found = use_of(wanted, now=NOW)

        assert [(one.name, one.requests) for one in found.recipients] == [
            ("often", 6),
            ("seldom", 3),
        ]
        assert [(one.share, one.percent) for one in found.tables] == [
            ("s", 100),
            ("s", 50),
        ]


def test_days_are_those_of_utc_and_no_more_than_the_chart_holds() -> None:
    new_event(datetime(2026, 11, 20, 23, 59, tzinfo=UTC))
    new_event(datetime(2026, 11, 21, tzinfo=UTC))
    wanted = ActivityFilter(first_day=date(2020, 1, 1), last_day=date(2026, 11, 20))

    found = use_of(wanted, now=NOW)

    assert len(found.days) == 30
    assert found.days[-1].day == date(2026, 11, 20)
    assert found.days[-1].num_answered == 1


class TestReach:
    @pytest.fixture(autouse=True)
    def events(self) -> None:
        for hours_ago in reversed(range(1, 31)):
            new_event(NOW - timedelta(hours=hours_ago), recipient="acme", share="s")

    def test_ends_at_the_newest_where_rows_are_read(self) -> None:
        found = use_of(BY_ROWS, now=NOW, scan=10)

        assert found.days_since == found.top_since == NOW - timedelta(hours=11)
        assert found.note.startswith("since 21 Nov")
        assert sum(day.num_requests for day in found.days) == 11

    @cases(
        "wanted",
        {
            "everything": ALL,
            "a share": ActivityFilter(share="s", status="ok"),
            "a kind": ActivityFilter(kind="CALL"),
        },
    )
    def test_of_days_has_no_end_where_an_index_answers(self, wanted: ActivityFilter):
        found = use_of(wanted, now=NOW, scan=10)

        assert (found.days_since, found.note) == (None, "")
        assert sum(day.num_requests for day in found.days) == 30
        assert found.top_since == NOW - timedelta(hours=11)
        assert found.recipients[0].requests == 11


class TestRecipient:
    wanted = ActivityFilter(recipient="acme")

    @pytest.fixture(autouse=True)
    def events(self, acme: Recipient) -> None:
        for _ in range(9):
            new_event(recipient="acme", recipient_id=acme.id)
        for _ in range(3):
            new_event(recipient="other")

    def test_is_counted_by_its_index(self) -> None:
        found = use_of(self.wanted, now=NOW, scan=1)

        assert (found.days[-1].num_requests, found.days_since) == (9, None)

    def test_is_counted_by_rows_when_others_had_its_name(self, acme: Recipient) -> None:
        acme.delete()
        new_event(kind="CHANGE", action="recipient.delete", recipient="acme")
        again = new_recipient("acme")
        new_event(recipient="acme", recipient_id=again.id)

        found = use_of(self.wanted, now=NOW)

        assert (found.days[-1].num_requests, found.days[-1].num_others) == (10, 1)
