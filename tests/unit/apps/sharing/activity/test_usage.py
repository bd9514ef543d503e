from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.audit.models import AuditEvent
from apps.sharing.activity.usage import (
    DailyUse,
    calls,
    daily_requests,
    daily_use,
    last_days,
    last_use,
    reads,
)
from tests.support.pages.factories import (
    NOW,
    new_call,
    new_recipient,
    new_share,
    new_token,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]
ACME, TOKEN, TABLE = (UUID(int=number) for number in (1, 2, 3))
OTHER = UUID(int=9)


def call(at: datetime = NOW, **fields: Any) -> AuditEvent:  # noqa: ANN401 (columns)
    defaults: dict[str, Any] = {
        "recipient_id": ACME,
        "token_id": TOKEN,
        "table_id": TABLE,
        "share": "sales",
        "size_bytes": 100,
    }
    return new_call(at=at, **(defaults | fields))


def plan_of(queries: CaptureQueriesContext) -> str:
    """How SQLite answers the only query."""
    (query,) = queries.captured_queries
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
        return str(cursor.fetchall())


class TestDailyUse:
    def test_adds_up_sizes_of_any_claim(self) -> None:
        for _ in range(3):
            call(size_bytes=2**63 - 1)

        (day,) = daily_use(AuditEvent.objects.all(), days=last_days(1, now=NOW))

        assert day.num_requests == 3
        assert day.size_bytes == pytest.approx(3 * 2**63)

    def test_counts_by_day_in_utc_oldest_first(self) -> None:
        midnight = datetime(2026, 11, 21, tzinfo=UTC)
        call(midnight)
        call(midnight - timedelta(microseconds=1), size_bytes=None)
        call(midnight - timedelta(days=2))  # before the first day
        call(NOW, status=403, size_bytes=None)
        call(NOW, kind="CHANGE", action="share.create", size_bytes=None)
        call(NOW, kind="ACTIVATION", status=410, size_bytes=None)

        days = daily_use(AuditEvent.objects.all(), days=last_days(2, now=NOW))

        assert days == [
            DailyUse(day=date(2026, 11, 20), num_requests=1),
            DailyUse(
                day=date(2026, 11, 21),
                num_requests=2,
                num_refused=1,
                num_others=2,
                size_bytes=100,
            ),
        ]
        assert [day.num_answered for day in days] == [1, 1]

    def test_counts_a_share_that_is_named_as_a_day_is(self) -> None:
        for name in ("2026-11-20", "2026-11-21", "2026-11-20 00:00:00"):
            call(share=name)

            days = daily_use(calls(share=name), days=last_days(2, now=NOW))

            assert [day.num_requests for day in days] == [0, 1]

    @pytest.mark.parametrize("num_days", [0, 1, 30])
    def test_a_day_without_events_has_its_place(self, num_days: int) -> None:
        days = last_days(num_days, now=NOW)

        assert daily_use(calls(), days=days) == [DailyUse(day=day) for day in days]

    @pytest.mark.parametrize(
        ("wanted", "other"),
        [
            ({}, {"kind": AuditEvent.Kind.CHANGE}),
            ({"recipient_id": ACME}, {"recipient_id": OTHER}),
            ({"token_id": TOKEN}, {"token_id": OTHER}),
            ({"table_id": TABLE}, {"table_id": OTHER}),
            ({"share": "sales"}, {"share": "stock"}),
        ],
        ids=["all", "a recipient", "a token", "a table", "a share"],
    )
    def test_counts_by_an_index_alone(self, wanted, other):
        call()
        call(**other)

        with CaptureQueriesContext(connection) as queries:
            days = daily_use(calls(**wanted), days=last_days(2, now=NOW))

        assert [day.num_requests for day in days] == [0, 1]
        if connection.vendor == "sqlite":
            assert plan_of(queries).count("COVERING INDEX audit_") == 2


class TestDailyRequests:
    @pytest.mark.parametrize("column", ["recipient_id", "token_id", "share"])
    def test_counts_those_of_each_by_an_index_alone(self, column: Any) -> None:  # noqa: ANN401 (a literal)
        share, idle_share = new_share("sales"), new_share("idle")
        token, idle_token = (
            new_token(new_recipient())[0],
            new_token(new_recipient("b"))[0],
        )
        of_one: dict[str, Any] = {
            "recipient_id": token.recipient_id,
            "token_id": token.id,
        }
        keys: dict[str, list[Any]] = {
            "recipient_id": [token.recipient_id, idle_token.recipient_id],
            "token_id": [token.id, idle_token.id],
            "share": [share.name, idle_share.name],
        }
        busy, idle = keys[column]
        for days_ago in (0, 0, 2, 3):  # the last one is before the first day
            call(NOW - timedelta(days=days_ago), status=429, **of_one)
        call(kind=AuditEvent.Kind.CHANGE, **of_one)
        call(recipient_id=OTHER, token_id=OTHER, share="other")

        with CaptureQueriesContext(connection) as queries:
            counts = daily_requests(column, [busy, idle], days=last_days(3, now=NOW))

        assert counts == {busy: (1, 0, 2), idle: (0, 0, 0)}
        if connection.vendor == "sqlite":
            assert plan_of(queries).count("COVERING INDEX audit_") == 3

    def test_of_nobody_nothing_is_counted(self) -> None:
        assert daily_requests("share", [], days=last_days(3, now=NOW)) == {}


class TestReads:
    def test_are_the_queries_newest_first(self) -> None:
        older, newer = call(NOW), call(NOW + timedelta(minutes=1))
        call(NOW, action="table.version")

        assert list(reads(AuditEvent.objects.all())) == [newer, older]

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="a plan of SQLite")
    @pytest.mark.parametrize("column", ["recipient_id", "table_id", "share"])
    def test_pass_by_no_event_of_others(self, column: str) -> None:
        wanted = {"share": "sales", "table_id": TABLE, "recipient_id": ACME}
        with CaptureQueriesContext(connection) as queries:
            reads(AuditEvent.objects.filter(**{column: wanted[column]})).first()

        assert f"({column}=?" in plan_of(queries)


class TestLastUse:
    def test_is_the_newest_that_was_answered(self) -> None:
        used = call(NOW - timedelta(hours=2))
        call(NOW - timedelta(hours=3))
        call(NOW - timedelta(hours=1), status=429)

        assert last_use(calls(recipient_id=ACME)) == used

    def test_is_none_where_there_was_none(self) -> None:
        assert last_use(calls(share="sales")) is None
