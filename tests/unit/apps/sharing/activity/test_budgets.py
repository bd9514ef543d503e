"""What a recipient may be offered in a month, and how it is counted."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.sharing.activity.budgets import (
    RECOUNT_INTERVAL,
    check_budget,
    note_offered,
    parse_limit,
)
from apps.sharing.errors import LimitInvalidError
from apps.sharing.models import Recipient
from deltaweb.sharing.errors import BudgetSpentError
from tests.support.pages.factories import new_call, new_recipient

NOW = datetime(2026, 12, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        (" 500 ", 500),
        ("1 KB", 1 << 10),
        ("3.5 TiB", 7 << 39),
        ("2g", 2 << 30),
        ("0", 0),
    ],
)
def test_a_limit_is_a_size_or_nothing(text: str, expected: int | None) -> None:
    assert parse_limit(text) == expected


@pytest.mark.parametrize("text", ["much", "-1", "1e9", "9999999999999999999 PB"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(LimitInvalidError):
        parse_limit(text)


@pytest.mark.django_db
class TestChecks:
    @pytest.fixture
    def recipient(self) -> Recipient:
        return new_recipient("acme", hard_limit_bytes=1000)

    @staticmethod
    def offer(recipient: Recipient, size: int, at: datetime = NOW) -> None:
        new_call(at=at, recipient_id=recipient.id, size_bytes=size)

    def test_cost_no_query_without_a_limit(self, django_assert_num_queries):
        recipient = new_recipient("free")
        with django_assert_num_queries(0):
            check_budget(recipient, now=NOW)

    def test_count_once_in_an_interval(self, recipient, django_assert_num_queries):
        with django_assert_num_queries(1):
            for _ in range(50):
                check_budget(recipient, now=NOW)

    def test_refuse_at_the_limit_until_the_month_is_over(self, recipient) -> None:
        self.offer(recipient, 999, NOW.replace(month=11, day=30))
        self.offer(recipient, 1000)

        with pytest.raises(BudgetSpentError) as refused:
            check_budget(recipient, now=NOW)
        check_budget(recipient, now=datetime(2027, 1, 1, tzinfo=UTC))

        assert refused.value.retry_after_s == 36 * 3600
        assert "1,000 B a month" in str(refused.value)
        assert "2027-01-01 00:00 UTC" in str(refused.value)

    def test_know_at_once_what_this_process_offers(self, recipient) -> None:
        check_budget(recipient, now=NOW)
        note_offered(recipient.id, 1000)

        with pytest.raises(BudgetSpentError):
            check_budget(recipient, now=NOW)

    def test_know_soon_what_other_processes_offer(self, recipient) -> None:
        check_budget(recipient, now=NOW)
        self.offer(recipient, 1000)
        check_budget(recipient, now=NOW + timedelta(seconds=1))

        with pytest.raises(BudgetSpentError):
            check_budget(recipient, now=NOW + RECOUNT_INTERVAL)
