"""What a stranger tries with requests, and what a table does meanwhile."""

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.tables.models import AccessRequest, Grant, Namespace, Table
from tests.functional.command_line import Ran
from tests.support.pages.factories import (
    new_grant_of_right,
    new_share,
    new_table,
    signed_in,
)
from tests.support.pages.shown_words import words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tom")]
SENT = {"purpose": "Delivery times", "right": "view", "until": "90d"}


@pytest.fixture(autouse=True)
def orders() -> Table:
    return new_table("sales.orders", is_private=True, is_listed=True)


@pytest.fixture
def petra() -> Client:
    return signed_in("petra")


@pytest.fixture
def tom(orders: Table) -> Client:
    """Somebody who owns the table, and is no administrator."""
    client = signed_in("tom")
    new_grant_of_right("own", orders, User.objects.get(username="tom"))
    return client


@pytest.fixture
def number(petra: Client) -> int:
    petra.post("/t/sales/orders/request", SENT)
    return AccessRequest.objects.get().id


def decide(client: Client, number: int, act: str = "approval") -> int:
    url = f"/api/v1/requests/{number}/{act}"
    body = {"reason": "No"} if act == "rejection" else {}
    return client.post(url, body, "application/json").status_code


class TestAStranger:
    def test_neither_decides_nor_withdraws_nor_sees_the_requests_of_others(
        self, number: int
    ) -> None:
        new_table("sales.items", is_private=True, is_listed=True)
        vera = signed_in("vera")
        new_grant_of_right(
            "own",
            Table.objects.get(name="items"),
            User.objects.get(username="vera"),
        )

        answers = [
            decide(vera, number),
            decide(vera, number, "rejection"),
            vera.delete(f"/api/v1/requests/{number}").status_code,
            vera.get(f"/requests/{number}").status_code,
        ]

        assert answers == [404] * 4
        for query in ("", "?whose=to-decide"):
            assert vera.get(f"/api/v1/requests{query}").json()["requests"] == []

    def test_does_not_decide_on_their_own_request(
        self, petra: Client, number: int
    ) -> None:
        assert decide(petra, number) == 404
        assert not Grant.objects.filter(user__username="petra").exists()

    def test_learns_nothing_of_a_namespace_by_its_name(self, petra: Client) -> None:
        Namespace.objects.update_or_create(
            name="mergers",
            defaults={"is_private": True, "created_at": timezone.now()},
        )
        new_table("mergers.acme", is_private=True)

        hidden, unknown = (
            petra.post(
                f"/api/v1/namespaces/{name}/requests",
                {"purpose": "x"},
                "application/json",
            )
            for name in ("mergers", "nothing")
        )

        assert hidden.status_code == unknown.status_code == 404
        said = [hidden.json()[key] for key in ("error", "message", "hint")]
        wanted = [unknown.json()[key] for key in ("error", "message", "hint")]
        assert [one.replace("mergers", "nothing") for one in said] == wanted

    def test_learns_nothing_of_a_share_by_its_name(self, petra: Client) -> None:
        new_share("mergers")

        hidden, unknown = (
            petra.get(f"/shares/{name}/request.json") for name in ("mergers", "nothing")
        )

        assert hidden.status_code == unknown.status_code == 404
        said = [hidden.json()[key] for key in ("error", "message", "hint")]
        wanted = [unknown.json()[key] for key in ("error", "message", "hint")]
        assert [one.replace("mergers", "nothing") for one in said] == wanted

    @pytest.mark.parametrize("name", ["²", "x", "-1", "9" * 40, "1.5"])
    def test_names_a_request_that_is_none(self, name: str) -> None:
        with pytest.raises(CommandError, match="There is no request"):
            Ran("access", "approve", "--", name)

    def test_makes_an_address_with_a_large_number(self, petra: Client) -> None:
        assert decide(petra, int("9" * 40)) == 404
        assert petra.get(f"/requests/{'9' * 40}").status_code == 404


class TestATableThatChanges:
    def test_keeps_its_new_name_from_the_requester(
        self, petra: Client, tom: Client, number: int, orders: Table
    ) -> None:
        orders.namespace, orders.name, orders.is_listed = "mergers", "acme", False
        orders.save()

        mine = petra.get("/api/v1/requests").json()["requests"][0]
        page = petra.get("/requests/").content.decode()
        decide(tom, number, "rejection")

        assert mine["on"] == "sales.orders"
        assert "acme" not in page
        assert "acme" not in petra.get("/requests/").content.decode()
        theirs = tom.get("/api/v1/requests?whose=to-decide").json()["requests"][0]
        assert theirs["on"] == "mergers.acme"

    def test_says_its_new_name_once_the_requester_can_view_it(
        self, petra: Client, tom: Client, number: int, orders: Table
    ) -> None:
        orders.name, orders.is_listed = "acme", False
        orders.save()

        decide(tom, number)

        assert petra.get("/api/v1/requests").json()["requests"][0]["on"] == "sales.acme"

    def test_takes_its_requests_with_it(
        self, tom: Client, number: int, orders: Table
    ) -> None:
        orders.delete()
        new = new_table("sales.orders", is_private=True)
        new_grant_of_right("own", new, User.objects.get(username="tom"))

        assert decide(tom, number) == 404
        assert not Grant.objects.exclude(right="own").exists()

    def test_is_decided_by_who_owns_it_now(self, tom: Client, number: int) -> None:
        Grant.objects.update(ended_at=timezone.now())

        assert decide(tom, number) == 404

    def test_can_be_given_after_it_is_not_listed_any_more(
        self, petra: Client, tom: Client, number: int, orders: Table
    ) -> None:
        orders.is_listed = False
        orders.save()

        assert decide(tom, number) == 200
        assert petra.get("/t/sales/orders/").status_code == 200


class TestAForm:
    def test_keeps_what_it_does_not_send(self, tom: Client, orders: Table) -> None:
        tom.post("/t/sales/orders/access/set", {})
        orders.refresh_from_db()
        assert (orders.is_private, orders.is_listed) == (True, True)

        tom.post("/t/sales/orders/access/set", {"listed": "false"})
        orders.refresh_from_db()
        assert (orders.is_private, orders.is_listed) == (True, False)

    def test_of_a_share_keeps_what_it_does_not_send(self) -> None:
        share = new_share("retail", is_listed=True, description="Shops")
        ada = signed_in("ada", role=User.Role.ADMIN)

        ada.post("/shares/retail/update", {"name": "retail", "comment": "Ours"})

        share.refresh_from_db()
        assert (share.is_listed, share.description) == (True, "Shops")


class TestTheAddressOfARequest:
    def test_leads_those_who_decide_to_the_decision_and_the_requester_to_the_list(
        self, petra: Client, tom: Client, number: int
    ) -> None:
        to_decide = tom.get(f"/requests/{number}")
        decide(tom, number, "rejection")
        to_read = petra.get(f"/requests/{number}", follow=True)

        assert to_decide["Location"] == "/t/sales/orders/access#requests"
        assert to_read.status_code == 200
        assert "rejected by tom: No" in words(to_read.content.decode())
