"""Who may go on reading a feed."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from apps.accounts.models import User
from apps.notices.events.feed import FeedCaller
from tests.support.pages.factories import new_user

NOW = datetime(2026, 11, 30, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
pytestmark = pytest.mark.django_db


def reader(ends_at: datetime | None = LATER) -> FeedCaller:
    user = User.objects.filter(username="ann").first() or new_user("ann")
    return FeedCaller(user_id=user.id, session_key="a", ends_at=ends_at)


def test_a_user_in_a_session_reads() -> None:
    assert reader().user(NOW) == User.objects.get()


@pytest.mark.parametrize("ends_at", [None, NOW])
def test_nobody_reads_without_a_session_or_after_its_end(
    ends_at: datetime | None,
) -> None:
    assert reader(ends_at).user(NOW) is None


@pytest.mark.parametrize(
    "facts",
    [
        {"is_active": False},
        {"is_signed_out": True},
        {"signed_on_at": NOW - timedelta(days=8)},
    ],
)
def test_a_user_who_is_suspended_or_disabled_reads_no_more(facts) -> None:
    one = reader()
    User.objects.update(**facts)
    assert one.user(NOW) is None


def test_a_local_account_reads_no_more_once_these_are_off(settings: Settings) -> None:
    one = reader()
    settings.LOCAL_ACCOUNTS = "false"
    assert one.user(NOW) is None
