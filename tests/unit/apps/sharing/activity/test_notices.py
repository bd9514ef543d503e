"""First reads and reached limits are events, each once."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.accounts.models import User
from apps.notices.events.visibility import visible_events
from apps.notices.models import Event
from apps.sharing.activity.notices import report_reached_limits
from apps.sharing.api.audit import note_read
from apps.sharing.models import Recipient
from tests.support.pages.factories import (
    new_call,
    new_recipient,
    new_shared_table,
    new_token,
    new_user,
)
from tests.support.pages.reported import reported, sentences

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NOW = datetime(2026, 12, 30, 12, tzinfo=UTC)


class TestFirstReads:
    def test_are_reported_once_for_a_recipient_and_a_table(self) -> None:
        shared, recipient = new_shared_table(), new_recipient()
        first, second = new_token(recipient)[0], new_token(recipient)[0]
        note_read(first, shared, version=3, now=NOW)
        note_read(first, shared, version=4, now=NOW)
        note_read(second, shared, version=4, now=NOW)

        assert [one["version"] for one in reported("recipient.first_read")] == [3]
        assert sentences() == [
            "acme read sales/crm.orders for the first time, at version 3."
        ]

    def test_are_seen_by_administrators(self) -> None:
        note_read(new_token()[0], new_shared_table(), version=3, now=NOW)
        events = list(Event.objects.all())

        assert visible_events(new_user(role=User.Role.EDITOR), events) == []
        assert visible_events(new_user("ada", role=User.Role.ADMIN), events) == events


class TestBudgets:
    @pytest.fixture
    def recipient(self) -> Recipient:
        return new_recipient(soft_limit_bytes=1000, hard_limit_bytes=3000)

    def offer(self, recipient: Recipient, size_bytes: int, at: datetime = NOW) -> None:
        new_call(at=at, recipient_id=recipient.id, size_bytes=size_bytes)

    def limits(self, now: datetime = NOW) -> list[object]:
        report_reached_limits(now)
        return [one["limit"] for one in reported("recipient.budget")]

    def test_are_reported_when_they_are_reached(self, recipient: Recipient) -> None:
        self.offer(recipient, 999)
        assert self.limits() == []
        self.offer(recipient, 1)
        assert self.limits() == ["soft"]
        self.offer(recipient, 2000)
        assert self.limits() == ["soft", "hard"]
        assert sentences()[0] == (
            "acme was offered 1,000 B in 2026-12: the soft limit is 1,000 B."
        )

    def test_are_reported_once_a_month(self, recipient: Recipient) -> None:
        self.offer(recipient, 1000)
        assert self.limits() == self.limits() == ["soft"]

        later = NOW + timedelta(days=9)
        assert self.limits(later) == ["soft"]
        self.offer(recipient, 1000, at=later)
        assert self.limits(later) == ["soft", "soft"]
