"""Pages and counts of the record, within the reach that keeps them quick."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.sharing.activity import selectors as activity
from apps.sharing.activity.forms import ActivityFilter

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def new_events(count: int, make: Callable[[int], dict[str, Any]]) -> None:
    """Events a minute apart, the last one at `NOW`."""
    AuditEvent.objects.bulk_create(
        AuditEvent(
            **{
                "at": NOW - timedelta(minutes=count - 1 - number),
                "kind": AuditEvent.Kind.CALL,
                "action": "table.query",
                "recipient": "acme",
                **make(number),
            }
        )
        for number in range(count)
    )


def walk(wanted: ActivityFilter, *, length: int, scan: int) -> list[int]:
    """The ids of every page of a filter, in the order of the pages."""
    ids: list[int] = []
    for _ in range(1000):
        page = activity.activity_page(wanted, length=length, scan=scan)
        ids += [row.event.id for row in page.rows]
        if page.paged.next_key is None:
            return ids
        values = {name: getattr(wanted, name) for name in ActivityFilter.__slots__}
        wanted = ActivityFilter(**{**values, "before": page.paged.next_key})
    pytest.fail("the pages never end")


class TestActivityPage:
    @pytest.mark.parametrize("scan", [1, 7, 1000])
    @pytest.mark.parametrize("length", [1, 20])
    @pytest.mark.parametrize("every", [1, 9, 100])
    def test_pages_hold_every_event_once_whatever_their_reach(
        self, scan: int, length: int, every: int
    ) -> None:
        new_events(24, lambda n: {"recipient": "rare" if n % every == 0 else "acme"})

        ids = walk(ActivityFilter(recipient="rare"), length=length, scan=scan)

        rare = AuditEvent.objects.filter(recipient="rare").order_by("-at", "-id")
        assert ids == list(rare.values_list("id", flat=True))

    def test_events_of_one_moment_and_out_of_order_are_paged_alike(self) -> None:
        moments = random.Random(5)
        new_events(80, lambda _: {"at": NOW - timedelta(minutes=moments.randrange(5))})

        ids = walk(ActivityFilter(), length=7, scan=1000)

        every = AuditEvent.objects.order_by("-at", "-id")
        assert ids == list(every.values_list("id", flat=True))

    def test_says_how_far_it_looked_when_nothing_was_found(self) -> None:
        new_events(20, lambda _: {})

        page = activity.activity_page(ActivityFilter(recipient="nobody"), scan=5)

        assert page.rows == []
        assert page.searched_until == NOW - timedelta(minutes=5)
        assert page.paged.next_key is not None
        assert not page.paged.is_exact

    def test_days_reach_back_from_their_end_and_not_from_today(self) -> None:
        new_events(20, lambda n: {"at": NOW - timedelta(days=20 - n)})
        wanted = ActivityFilter(first_day=date(2026, 11, 3), last_day=date(2026, 11, 4))

        page = activity.activity_page(wanted, scan=5)

        days = {row.event.at.date() for row in page.rows}
        assert days == {date(2026, 11, 3), date(2026, 11, 4)}
        assert page.paged.count == 2
        assert page.paged.is_exact

    def test_counts_no_further_than_its_bound(self, monkeypatch: pytest.MonkeyPatch):
        new_events(20, lambda _: {})
        monkeypatch.setattr(activity, "MAX_COUNT", 10)

        page = activity.activity_page(ActivityFilter(recipient="acme"), length=5)

        assert (page.paged.count, page.paged.is_exact) == (10, False)

    def test_a_place_before_every_event_has_none(self) -> None:
        page = activity.activity_page(ActivityFilter(before=5))

        assert (page.rows, page.paged.next_key, page.paged.count) == ([], None, 0)


def test_choices_are_the_actions_that_occur_with_their_words() -> None:
    new_events(
        6, lambda n: {"action": ["table.query", "share.list", "x.odd_one"][n % 3]}
    )

    assert activity.action_choices() == [
        ("share.list", "listed the shares"),
        ("table.query", "read data"),
        ("x.odd_one", "odd one (x)"),
    ]
