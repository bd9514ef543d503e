"""A person requests access to a listed table; an owner decides; the person sees it."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Group, Membership, User
from apps.audit.models import AuditEvent
from apps.notices.models import Event
from apps.tables.models import AccessRequest, Grant, Namespace, Table
from tests.functional.command_line import Ran, run_json
from tests.support import cases
from tests.support.pages.factories import new_table, signed_in
from tests.support.pages.shown_words import words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("orders", "petra")]
PURPOSE = "Delivery times per region"
REQUEST = "/t/sales/orders/request"


@pytest.fixture
def orders() -> Table:
    table = new_table(name="orders", namespace="sales", is_private=True, is_listed=True)
    table.description = "Orders of all shops"
    table.save()
    return table


@pytest.fixture
def petra() -> Client:
    return signed_in("petra")


@pytest.fixture
def tom(orders: Table) -> Client:
    """Somebody who owns the table, and is no administrator."""
    client = signed_in("tom")
    owner = User.objects.get(username="tom")
    now = timezone.now()
    Grant.objects.create(
        user=owner, table=orders, right="own", given_by="admin", given_at=now
    )
    return client


def ask(client: Client, **values: str) -> Any:  # noqa: ANN401 (a response of tests)
    sent = {"purpose": PURPOSE, "right": "view", "until": "90d", **values}
    return client.post(REQUEST, sent)


def shown(client: Client, path: str) -> str:
    return words(client.get(path).content.decode())


class TestARequest:
    def test_leads_to_a_grant_with_an_end(self, petra: Client, tom: Client) -> None:
        hidden = petra.get("/t/sales/orders/")
        assert hidden.status_code == 404
        assert 'href="/t/sales/orders/request"' in hidden.content.decode()
        ask(petra)
        request = AccessRequest.objects.get()

        page = shown(tom, "/t/sales/orders/access")
        tom.post(f"/requests/{request.id}/approve", {"until": ""})

        assert "petra requests view for 90 days" in page
        assert PURPOSE in page
        grant = Grant.objects.get(user__username="petra")
        assert (grant.right, grant.given_by, grant.reason) == ("view", "tom", PURPOSE)
        assert grant.until is not None
        assert grant.until - grant.given_at == timedelta(days=90)
        assert petra.get("/t/sales/orders/").status_code == 200

    def test_reveals_name_description_and_owner_only(
        self, petra: Client, orders: Table
    ) -> None:
        orders.location = "/secret/place"
        orders.num_columns, orders.size_bytes = 4711, 8_154_711
        orders.save()

        page = petra.get(REQUEST).content.decode()
        data = petra.get(f"{REQUEST}.json").json()

        assert "Orders of all shops" in page
        assert not [one for one in ("/secret", "4711", "v1") if one in words(page)]
        assert data.keys() == {"listed", "requests", "groups"}
        assert data["listed"].keys() == {"name", "kind", "description", "owner"}

    def test_is_refused_for_what_is_not_listed(
        self, petra: Client, orders: Table
    ) -> None:
        orders.is_listed = False
        orders.save()

        assert ask(petra).status_code == 404
        assert "/request" not in petra.get("/t/sales/orders/").content.decode()
        unknown = petra.get("/t/sales/orders_2/request.json")
        hidden = petra.get(f"{REQUEST}.json")
        assert hidden.status_code == unknown.status_code == 404
        assert hidden.json()["error"] == unknown.json()["error"]

    def test_of_an_equal_right_is_refused_while_one_is_open(
        self, petra: Client
    ) -> None:
        ask(petra)

        again = ask(petra)

        assert again.status_code == 422
        assert "of the same right is open already" in words(again.content.decode())
        assert AccessRequest.objects.count() == 1
        AccessRequest.objects.update(open_until=timezone.now())
        ask(petra)
        states = AccessRequest.objects.order_by("id").values_list("state", flat=True)
        assert list(states) == ["expired", "pending"]

    def test_can_be_for_a_group_of_the_requester(
        self, petra: Client, tom: Client
    ) -> None:
        group = Group.objects.create(name="logistics", created_at=timezone.now())
        answers = [
            petra.post(f"/api/v1/tables{REQUEST[2:]}s", body, "application/json")
            for name in ("logistics", "unknown")
            for body in [{"purpose": PURPOSE, "group": name}]
        ]
        assert {one.status_code for one in answers} == {422}
        assert len({one.json()["message"] for one in answers}) == 1
        Membership.objects.create(
            group=group,
            user=User.objects.get(username="petra"),
            source="local",
            since=timezone.now(),
        )
        ask(petra, group="logistics")

        tom.post(f"/requests/{AccessRequest.objects.get().id}/approve", {"until": "7d"})

        assert AccessRequest.objects.get().state == "shortened"
        assert Grant.objects.get(group=group).user is None
        assert petra.get("/t/sales/orders/").status_code == 200

    @cases(
        "values, status",
        {
            "without a purpose": ({"purpose": " "}, 422),
            "with a long purpose": ({"purpose": "a" * 501}, 422),
            "of own": ({"right": "own"}, 422),
            "until yesterday": ({"until": "2020-01-01"}, 422),
            "for a word": ({"until": "soon"}, 422),
            "for a million days": ({"until": "99999d"}, 422),
        },
    )
    def test_is_refused(
        self, petra: Client, values: dict[str, str], status: int
    ) -> None:
        assert ask(petra, **values).status_code == status
        assert not AccessRequest.objects.exists()

    def test_shows_its_texts_as_text(self, petra: Client, tom: Client) -> None:
        ask(petra, purpose="<script>alert(1)</script>")

        page = tom.get("/t/sales/orders/access").content.decode()

        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert(1)" not in page


class TestADecision:
    def test_is_made_once(self, petra: Client, tom: Client) -> None:
        ask(petra)
        number = AccessRequest.objects.get().id
        admin = signed_in("ida", role=User.Role.ADMIN)
        url = f"/api/v1/requests/{number}"

        first = tom.post(f"{url}/approval", {}, "application/json")
        second = admin.post(f"{url}/rejection", {"reason": "No"}, "application/json")

        assert first.status_code == 200
        assert second.status_code == 409
        assert "because tom approved it" in second.json()["message"]
        assert Grant.objects.filter(user__username="petra").count() == 1

    def test_is_for_owners_and_administrators(self, petra: Client) -> None:
        ask(petra)
        number = AccessRequest.objects.get().id
        editor = signed_in("eve", role=User.Role.EDITOR)

        for client in (petra, editor):
            for verb in ("approve", "reject"):
                answer = client.post(f"/requests/{number}/{verb}", {"reason": "x"})
                assert answer.status_code == 404
        assert editor.post(f"/requests/{number}/withdraw").status_code == 404
        assert AccessRequest.objects.get().state == "pending"

    def test_rejects_with_a_reason_that_the_requester_reads(
        self, petra: Client, tom: Client
    ) -> None:
        ask(petra)
        number = AccessRequest.objects.get().id

        tom.post(f"/requests/{number}/reject", {"reason": "Use ml.demand_weekly"})

        assert "rejected by tom: Use ml.demand_weekly" in shown(petra, "/requests/")
        assert petra.get("/t/sales/orders/").status_code == 404

    def test_comes_too_late_after_the_expiry(self, petra: Client, tom: Client) -> None:
        ask(petra)
        AccessRequest.objects.update(open_until=timezone.now())
        number = AccessRequest.objects.get().id

        late = tom.post(f"/api/v1/requests/{number}/approval", {}, "application/json")

        assert late.status_code == 409
        assert "it expired on" in late.json()["message"]
        assert petra.get("/api/v1/requests").json()["requests"][0]["state"] == "expired"

    def test_is_not_needed_after_a_withdrawal(self, petra: Client, tom: Client) -> None:
        ask(petra)
        number = AccessRequest.objects.get().id

        gone = petra.delete(f"/api/v1/requests/{number}")

        assert gone.status_code == 204
        assert (
            tom.post(
                f"/api/v1/requests/{number}/approval", {}, "application/json"
            ).status_code
            == 409
        )

    def test_is_recorded_and_told(self, petra: Client, tom: Client) -> None:
        ask(petra)
        number = AccessRequest.objects.get().id
        tom.post(f"/requests/{number}/approve", {"until": ""})

        actions = AuditEvent.objects.order_by("id").values_list("action", flat=True)
        assert list(actions) == ["access.request", "access.give", "access.approve"]
        kinds = Event.objects.filter(subject_kind="request").order_by("id")
        assert list(kinds.values_list("kind", flat=True)) == [
            "access.requested",
            "access.decided",
        ]


class TestTheCommand:
    def test_requests_and_approves(self) -> None:
        made = run_json(
            "access", "request", "sales.orders", "--user", "petra", "--purpose", "Test"
        )
        said = Ran("access", "approve", str(made["id"]), "--until", "7d").stdout

        assert made["state"] == "pending"
        assert said.startswith("petra can view sales.orders until")
        answer = run_json("access", "show", "sales.orders", "--person", "petra")
        assert answer["can_view"]

    def test_requests_a_whole_namespace(self, petra: Client) -> None:
        Namespace.objects.update_or_create(
            name="sales",
            defaults={"is_listed": True, "is_private": True},
            create_defaults={
                "is_listed": True,
                "is_private": True,
                "created_at": timezone.now(),
            },
        )
        made = run_json(
            *("access", "request", "sales.*", "--user", "petra"),
            *("--purpose", "Test", "--until", "never"),
        )

        Ran("access", "approve", str(made["id"]))

        assert made["on"] == "sales.*"
        assert Grant.objects.get().until is None
        assert petra.get("/t/sales/orders/").status_code == 200

    def test_lists_a_table_and_changes_nothing_else(self, orders: Table) -> None:
        Ran("access", "set", "sales.orders", "--no-listed")

        said = run_json("access", "set", "sales.orders", "--listed")

        assert said == {"on": "sales.orders", "private": True, "listed": True}
        orders.refresh_from_db()
        assert (orders.is_private, orders.is_listed) == (True, True)

    def test_says_that_a_table_is_unknown(self) -> None:
        with pytest.raises(CommandError, match="No table is named"):
            Ran("access", "request", "none", "--user", "petra", "--purpose", "x")
