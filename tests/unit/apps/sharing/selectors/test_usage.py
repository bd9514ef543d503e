from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.audit.models import AuditEvent
from apps.sharing.selectors.usage import DailyUse, calls, daily_use, last_use
from tests.factories import NOW

pytestmark = pytest.mark.django_db
ACME, TOKEN, TABLE = (UUID(int=number) for number in (1, 2, 3))
OTHER = UUID(int=9)


def call(at: datetime = NOW, **fields: Any) -> AuditEvent:  # noqa: ANN401 (columns)
    defaults: dict[str, Any] = {
        "kind": AuditEvent.Kind.CALL,
        "action": "table.query",
        "recipient_id": ACME,
        "token_id": TOKEN,
        "table_id": TABLE,
        "share": "sales",
        "size_bytes": 100,
    }
    return AuditEvent.objects.create(at=at, **(defaults | fields))


class TestDailyUse:
    def test_counts_by_day_in_utc_oldest_first(self) -> None:
        midnight = datetime(2026, 11, 21, tzinfo=UTC)
        call(midnight)
        call(midnight - timedelta(microseconds=1), size_bytes=None)
        call(midnight - timedelta(days=2))  # before the first day
        call(NOW, status=403, size_bytes=None)
        call(NOW, kind=AuditEvent.Kind.CHANGE, action="share.create")

        assert daily_use(calls(), now=NOW, num_days=2) == [
            DailyUse(
                day=date(2026, 11, 20), num_requests=1, num_refused=0, size_bytes=0
            ),
            DailyUse(
                day=date(2026, 11, 21), num_requests=2, num_refused=1, size_bytes=100
            ),
        ]

    def test_a_day_without_calls_has_a_row(self) -> None:
        days = daily_use(calls(), now=NOW)

        assert len(days) == 30
        assert days[-1].day == NOW.date()
        assert {day.num_requests for day in days} == {0}

    @pytest.mark.parametrize(
        ("wanted", "other"),
        [
            ({"recipient_id": ACME}, {"recipient_id": OTHER}),
            ({"token_id": TOKEN}, {"token_id": OTHER}),
            ({"table_id": TABLE}, {"table_id": OTHER}),
            ({"share": "sales"}, {"share": "stock"}),
        ],
        ids=["a recipient", "a token", "a table", "a share"],
    )
    def test_counts_those_of_one_by_its_index_alone(
        self, wanted: dict[str, Any], other: dict[str, Any]
    ) -> None:
        call()
        call(**other)

        with CaptureQueriesContext(connection) as queries:
            days = daily_use(calls(**wanted), now=NOW, num_days=1)

        assert days[0].num_requests == 1
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
                plan = str(cursor.fetchall())
            assert "COVERING INDEX audit_" in plan


class TestLastUse:
    def test_is_the_newest_that_was_answered(self) -> None:
        used = call(NOW - timedelta(hours=2))
        call(NOW - timedelta(hours=3))
        call(NOW - timedelta(hours=1), status=429)

        assert last_use(calls(recipient_id=ACME)) == used

    def test_is_none_where_there_was_none(self) -> None:
        assert last_use(calls(share="sales")) is None
