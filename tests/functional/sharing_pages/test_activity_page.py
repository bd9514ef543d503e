"""The record of activity over HTTP: its filters, its pages, JSON and CSV."""

import csv
import html
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.audit.models import AuditEvent
from tests.functional.sharing_pages.pages import page
from tests.support import cases
from tests.support.pages.factories import new_call, new_table
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
EVIL = "<script>alert(1)</script>"


def new_event(**fields: Any) -> AuditEvent:  # noqa: ANN401 (columns)
    """A query of sales.orders in the share retail by acme, just now."""
    defaults = {
        "recipient": "acme",
        "share": "retail",
        "schema": "sales",
        "table": "orders",
        "version": 7,
        "num_files": 3,
        "total_files": 1284,
        "size_bytes": 3072,
    }
    return new_call(**(defaults | fields))


def new_change(**fields: Any) -> AuditEvent:  # noqa: ANN401 (columns)
    """A share that bob has made."""
    defaults = {
        "at": timezone.now(),
        "kind": AuditEvent.Kind.CHANGE,
        "action": "share.create",
        "actor": "bob",
        "share": "retail",
    }
    return AuditEvent.objects.create(**(defaults | fields))


def text(client: Client, **query: str) -> str:
    return page(client, "/activity/", **query)


def found(client: Client, **query: str) -> list[int]:
    """The ids that a filter finds."""
    answer = json.loads(client.get("/activity.json", query).content)
    assert answer["count"] == len(answer["events"])
    return [event["id"] for event in answer["events"]]


def test_a_refusal_says_why(admin: Client) -> None:
    why = "Share 'nope' does not exist, or is not granted to you."
    new_event(status=404, detail={"reason": why})
    new_event()

    assert text(admin).count(html.escape(why, quote=True)) == 2  # and folded out
    answer = json.loads(admin.get("/activity.json").content)
    assert [event["reason"] for event in answer["events"]] == [None, why]
    lines = b"".join(admin.get("/activity.csv")).decode().splitlines()
    assert [row["reason"] for row in csv.DictReader(lines)] == ["", why]


class TestList:
    def test_says_in_plain_words_who_did_what_to_what(self, admin: Client) -> None:
        new_event()
        new_event(action="table.version", status=404, error_code="not-granted")
        new_change()

        shown = text(admin)

        assert "read data" in shown
        assert "v7, 3 of 1,284 files, 3.0 KiB" in shown
        assert "sales.orders of retail" in shown
        assert "refused" in shown
        assert "created the share" in shown
        assert ">bob<" in shown

    def test_the_newest_day_is_today(self, admin: Client) -> None:
        now = timezone.now()
        for days in (-3, 0, 1):
            new_event(at=now + timedelta(days=days))

        shown = text(admin)

        assert shown.count('<h3 class="dw-day">') == 3
        assert shown.count('<h3 class="dw-day">Today<span>') == 1

    def test_what_callers_send_is_never_markup(self, admin: Client) -> None:
        new_event(
            recipient=EVIL,
            user_agent=EVIL,
            table=EVIL,
            share=EVIL,
            action=EVIL[:20],
            detail={EVIL: [EVIL]},
        )

        assert EVIL not in text(admin)
        assert EVIL not in text(admin, q="<script>")

    def test_tells_nothing_yet_from_nothing_like_this(self, admin: Client) -> None:
        assert "No activity yet" in text(admin)

        new_event()
        shown = text(admin, recipient="nobody")
        assert "No event matches these filters" in shown
        assert "Clear the filters" in shown

    def test_days_are_typed_as_they_are_shown(self, admin: Client) -> None:
        new_event(at=datetime(2026, 11, 5, 12, tzinfo=UTC))
        new_event(at=datetime(2026, 11, 6, 12, tzinfo=UTC))

        shown = text(admin, **{"from": "6 Nov 2026", "to": "2026-11-06"})

        assert 'type="date"' not in shown
        assert shown.count('value="6 Nov 2026"') == 2
        assert "6 Nov 2026, UTC" in words(shown)
        assert "5 Nov 2026" not in shown
        assert len(found(admin, **{"from": "6 Nov 2026"})) == 1

    def test_names_who_asked_most_and_for_what(self, admin: Client) -> None:
        for _ in range(3):
            new_event()
        new_event(recipient="initech", table="items")

        shown = text(admin)

        tables = shown.split('id="top-tables"')[1].split("</section>")[0]
        assert tables.index("sales.orders") < tables.index("sales.items")
        assert "recipient=initech" in shown


class TestFilters:
    @cases(
        "query, expected",
        {
            "recipient": ({"recipient": "acme"}, {"read", "refused"}),
            "share": ({"share": "retail"}, {"read", "change"}),
            "shared table": ({"table": "sales.orders"}, {"read"}),
            "bare name": ({"table": "orders"}, {"read"}),
            "registered table": ({"table": "crm.o"}, {"refused"}),
            "action": ({"action": "table.query"}, {"read"}),
            "kind": ({"kind": "CHANGE"}, {"change"}),
            "who": ({"who": "bob"}, {"change"}),
            "failed": ({"status": "failed"}, {"refused"}),
            "answered": ({"status": "ok"}, {"read", "change"}),
            "agent": ({"q": "PANDAS"}, {"read"}),
            "address": ({"q": "10.9."}, {"refused"}),
            "from": ({"from": "2026-11-20"}, {"read", "change"}),
            "to": ({"to": "2026-11-20"}, {"read", "refused"}),
            "a day": ({"from": "2026-11-20", "to": "2026-11-20"}, {"read"}),
            "three": ({"share": "retail", "status": "ok", "kind": "CALL"}, {"read"}),
        },
    )
    def test_keep_what_matches(self, admin, query, expected):
        table = new_table("crm.o")
        ids = {
            new_event(
                at=datetime(2026, 11, 19, 23, 59, 59, tzinfo=UTC),
                action="table.version",
                share="other",
                schema="x",
                table="y",
                table_id=table.id,
                address="10.9.8.7",
                status=404,
            ).id: "refused",
            new_event(
                at=datetime(2026, 11, 20, 0, 0, tzinfo=UTC), user_agent="pandas/2"
            ).id: "read",
            new_change(
                at=datetime(2026, 11, 21, 12, 0, tzinfo=UTC), table=""
            ).id: "change",
        }

        assert {ids[event] for event in found(admin, **query)} == expected

    def test_stand_in_the_address_and_as_chips_that_remove_them(self, admin: Client):
        new_event()

        shown = text(admin, share="retail", status="ok")

        assert (
            'href="/activity/?status=ok" aria-label="Remove filter: share retail"'
            in shown
        )
        assert 'name="share" value="retail"' in shown
        assert "/activity.csv?share=retail&amp;status=ok" in shown

    @pytest.mark.parametrize(
        "query",
        [{"kind": "NO"}, {"from": "tomorrow"}, {"before": "-1"}, {"status": "x"}],
        ids=["kind", "day", "place", "status"],
    )
    def test_a_hand_edited_one_that_makes_no_sense_is_a_400(self, admin, query):
        answer = admin.get("/activity/", query)

        assert answer.status_code == 400
        assert next(iter(query)) in answer.content.decode()


class TestPages:
    def test_events_that_come_meanwhile_do_not_move_the_next_page(self, admin: Client):
        for _ in range(60):
            new_event()
        first = json.loads(admin.get("/activity.json").content)
        new_event()

        second = json.loads(admin.get(first["next"]).content)

        ids = [event["id"] for event in first["events"] + second["events"]]
        assert len(ids) == len(set(ids))

    def test_htmx_gets_the_next_rows_alone(self, admin: Client) -> None:
        for _ in range(60):
            new_event()

        first = json.loads(admin.get("/activity.json").content)
        next_path = first["next"].replace("/activity.json", "/activity/")

        htmx = admin.get(next_path, headers={"HX-Request": "true"}).content.decode()
        alone = admin.get(next_path).content.decode()

        assert "<html" not in htmx
        assert htmx.count("data-row") == alone.count("data-row") == 10
        assert "dw-day" not in htmx  # the day goes on from the page before
        assert "dw-day" in alone

    def test_csv_has_every_event_of_the_filter(self, admin: Client) -> None:
        for _ in range(70):
            new_event()
        new_change(share="other", actor="=HYPERLINK()")

        answer = admin.get("/activity.csv", {"share": "retail"})
        rows = list(csv.reader(io.StringIO(answer.getvalue().decode())))
        others = admin.get("/activity.csv", {"share": "other"}).getvalue().decode()

        assert answer["Content-Type"] == "text/csv"
        assert len(rows) == 71
        assert rows[0][:4] == ["id", "at", "kind", "action"]
        assert "'=HYPERLINK()" in others

    def test_asks_the_database_a_fixed_number_of_times(
        self, admin: Client, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        for number in range(80):
            new_event(recipient=f"r{number}", table=f"t{number}")

        with django_assert_max_num_queries(15):
            text(admin)
