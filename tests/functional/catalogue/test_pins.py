"""Tables that somebody keeps at hand: pinned ones, and those viewed last."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.tables.catalogue.organizing.pins import MAX_RECENT
from apps.tables.models import Table, TableUse
from tests.functional.catalogue.pages import as_json, text
from tests.support.pages.factories import new_table

pytestmark = pytest.mark.django_db


def at_hand(client: Client) -> tuple[list[str], list[str]]:
    """The names of pinned tables, and of those viewed last."""
    page = as_json(client, "/dashboard.json")
    pinned, recent = page["pinned"], page["recent"]
    return [one["name"] for one in pinned], [one["name"] for one in recent]


def viewed_at() -> datetime:
    """The moment of the one visit that is noted."""
    at = TableUse.objects.get().viewed_at
    assert at is not None
    return at


class TestPins:
    def test_a_table_is_pinned_and_unpinned_on_its_page(self, viewer: Client) -> None:
        new_table("sales.orders")
        assert "Pin to your dashboard" in text(viewer, "/t/sales/orders/")

        answer = viewer.post("/t/sales/orders/pin")
        assert answer["Location"] == "/t/sales/orders/"
        assert "Unpin from your dashboard" in text(viewer, "/t/sales/orders/")
        assert at_hand(viewer) == (["sales.orders"], [])
        assert "Pinned" in text(viewer, "/")

        viewer.post("/t/sales/orders/unpin")
        assert at_hand(viewer) == ([], ["sales.orders"])

    def test_pins_belong_to_one_account(self, viewer: Client, editor: Client) -> None:
        new_table("sales.orders")

        viewer.post("/t/sales/orders/pin")

        assert at_hand(viewer) == (["sales.orders"], [])
        assert at_hand(editor) == ([], [])

    def test_a_table_that_becomes_hidden_is_not_named(self, viewer: Client) -> None:
        table = new_table("sales.orders")
        new_table("sales.visits")
        viewer.post("/t/sales/orders/pin")
        text(viewer, "/t/sales/visits/")

        Table.objects.update(is_private=True)

        assert at_hand(viewer) == ([], [])
        assert table.full_name not in text(viewer, "/")

    def test_a_table_that_may_not_be_seen_is_not_pinned(self, viewer: Client) -> None:
        new_table("sales.orders", is_private=True)

        assert viewer.post("/t/sales/orders/pin").status_code == 404
        assert not TableUse.objects.exists()

    def test_pinning_twice_is_as_once_and_each_is_recorded(self, viewer: Client):
        new_table("sales.orders")

        viewer.post("/t/sales/orders/pin")
        viewer.post("/t/sales/orders/pin")

        assert TableUse.objects.count() == 1
        assert set(AuditEvent.objects.values_list("action", flat=True)) == {"table.pin"}


class TestRecentlyViewed:
    def test_the_last_ones_come_first(self, viewer: Client) -> None:
        now = timezone.now()
        for number in range(MAX_RECENT + 2):
            table = new_table(f"t{number}")
            text(viewer, f"/t/default/t{number}/")
            seen = now - timedelta(hours=number)
            TableUse.objects.filter(table=table).update(viewed_at=seen)

        _, recent = at_hand(viewer)

        assert recent == [f"t{number}" for number in range(MAX_RECENT)]

    def test_what_is_fetched_ahead_was_not_viewed(self, viewer: Client) -> None:
        new_table("sales.orders")

        viewer.get("/t/sales/orders/", headers={"Purpose": "prefetch"})

        assert at_hand(viewer) == ([], [])

    def test_what_scripts_read_was_not_viewed(self, viewer: Client) -> None:
        new_table("sales.orders")

        as_json(viewer, "/t/sales/orders.json")

        assert at_hand(viewer) == ([], [])

    def test_a_visit_is_noted_once_a_minute(self, viewer: Client) -> None:
        new_table("sales.orders")
        text(viewer, "/t/sales/orders/")
        first = viewed_at()

        text(viewer, "/t/sales/orders/history")
        assert viewed_at() == first

        TableUse.objects.update(viewed_at=timezone.now() - timedelta(hours=1))
        text(viewer, "/t/sales/orders/history")
        assert viewed_at() > first
