"""A person requests a listed share; an administrator decides; its tables are seen."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.notices.following.distribution import distribute
from apps.notices.models import Notice
from apps.sharing.models import Share
from apps.tables.models import AccessRequest, Grant, Table
from tests.functional.command_line import Ran, run_json
from tests.support import cases
from tests.support.pages.factories import (
    new_share,
    new_shared_table,
    new_table,
    signed_in,
)
from tests.support.pages.shown_words import words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("petra", "ada")]
REQUEST = "/shares/retail/request"
BY_COMMAND = ("access", "request", "share:retail", "--user", "petra")
PURPOSE = "Delivery times per region"


@pytest.fixture(autouse=True)
def retail() -> Share:
    """A listed share with two whole tables and a part of a third."""
    share = new_share("retail", is_listed=True, description="Sales of all shops")
    for name, columns in (("orders", []), ("items", []), ("people", ["region"])):
        table = new_table(f"sales.{name}", is_private=True)
        new_shared_table(share, f"sales.{name}", table=table, columns=columns)
    return share


@pytest.fixture
def petra() -> Client:
    return signed_in("petra")


@pytest.fixture
def ada() -> Client:
    return signed_in("ada", role=User.Role.ADMIN)


def ask(client: Client, **values: str) -> Any:  # noqa: ANN401 (a response of tests)
    sent = {"purpose": PURPOSE, "right": "view", "until": "90d", **values}
    return client.post(REQUEST, sent)


def shown(client: Client, path: str) -> str:
    return words(client.get(path).content.decode())


def viewable(name: str) -> set[str]:
    user = User.objects.get(username=name)
    return {one.name for one in Table.objects.visible_to(user)}


class TestAListedShare:
    def test_reveals_name_description_and_owner_only(
        self, petra: Client, retail: Share
    ) -> None:
        retail.comment = "Contract 4711"
        retail.created_by = User.objects.get(username="ada")
        retail.save()

        listed = petra.get("/api/v1/requests/listed").json()["listed"]
        data = petra.get(f"{REQUEST}.json").json()
        page = shown(petra, REQUEST)

        resource = {
            "name": "share:retail",
            "kind": "share",
            "description": "Sales of all shops",
            "owner": "ada",
        }
        assert listed == [resource]
        assert data == {"listed": resource, "requests": [], "groups": []}
        secret = ("4711", "orders", "items", "people")
        assert not [one for one in secret if one in page]
        assert "share:retail" in shown(petra, "/search?q=shops")

    def test_is_not_found_once_it_is_not_listed(
        self, petra: Client, retail: Share
    ) -> None:
        retail.is_listed = False
        retail.save()

        hidden, unknown = (
            petra.post(
                f"/api/v1/shares/{name}/requests",
                {"purpose": PURPOSE},
                "application/json",
            )
            for name in ("retail", "unknown")
        )

        assert hidden.status_code == unknown.status_code == 404
        assert hidden.json()["error"] == unknown.json()["error"]
        assert petra.get(REQUEST).status_code == 404
        assert not petra.get("/api/v1/requests/listed").json()["listed"]
        with pytest.raises(CommandError, match="No share is named"):
            Ran(*BY_COMMAND, "--purpose", "x")

    def test_is_still_no_page_for_people_who_are_no_administrators(
        self, petra: Client
    ) -> None:
        assert petra.get("/shares/retail/").status_code == 403

    def test_is_listed_by_page_rest_and_command(
        self, ada: Client, retail: Share
    ) -> None:
        seen = []
        form = {"name": "retail", "comment": "", "description": "", "listed": "false"}
        ada.post("/shares/retail/update", form)
        seen.append(Share.objects.get().is_listed)
        ada.patch("/api/v1/shares/retail", {"listed": True}, "application/json")
        seen.append(Share.objects.get().is_listed)
        Ran("share", "update", "retail", "--no-listed", "--description", "Shops")
        retail.refresh_from_db()

        assert [*seen, retail.is_listed] == [False, True, False]
        assert retail.description == "Shops"
        actions = AuditEvent.objects.filter(action="share.set_listed").count()
        assert actions == 3


class TestARequest:
    def test_leads_to_the_right_to_view_what_is_offered_whole(
        self, petra: Client, ada: Client
    ) -> None:
        ask(petra)
        number = AccessRequest.objects.get().id
        page = shown(ada, "/shares/retail/")

        ada.post(f"/requests/{number}/approve", {"until": "30d"})

        assert "petra requests view for 90 days" in page
        assert "the right to view sales.items, sales.orders." in page
        assert "It does not include 1 table of which the share offers a part" in page
        assert viewable("petra") == {"orders", "items"}
        grant = Grant.objects.first()
        assert grant is not None
        assert grant.until is not None
        assert grant.until - grant.given_at == timedelta(days=30)
        assert grant.reason == f"share:retail: {PURPOSE}"
        request = petra.get("/api/v1/requests").json()["requests"][0]
        assert (request["state"], request["on"]) == ("shortened", "share:retail")
        assert request["until"] is not None
        assert "You can view its tables" in shown(petra, REQUEST)
        given = AuditEvent.objects.filter(action="access.give")
        assert given.count() == 2
        assert AuditEvent.objects.get(action="access.approve").share == "retail"

    @pytest.mark.database
    @pytest.mark.django_db(transaction=True)
    def test_is_told_to_administrators_and_answered_to_the_requester(
        self, petra: Client, ada: Client
    ) -> None:
        ask(petra)
        distribute(now=timezone.now())
        number = AccessRequest.objects.get().id
        ada.post(f"/requests/{number}/reject", {"reason": "Use share:public"})
        distribute(now=timezone.now())

        rows = Notice.objects.filter(by_bell=True)
        told = set(rows.values_list("event__kind", "user__username"))
        assert told == {("access.requested", "ada"), ("access.decided", "petra")}
        assert "rejected by ada: Use share:public" in shown(petra, "/requests/")
        assert viewable("petra") == set()

    def test_is_decided_by_administrators_only(self, petra: Client) -> None:
        ask(petra)
        number = AccessRequest.objects.get().id
        eve = signed_in("eve", role=User.Role.EDITOR)

        answers = [
            one.post(f"/requests/{number}/approve", {"until": ""}).status_code
            for one in (petra, eve)
        ]

        assert answers == [404, 404]
        assert not Grant.objects.exists()

    @cases(
        "values",
        {
            "edit": {"right": "edit"},
            "share": {"right": "share"},
            "a group of others": {"group": "analysts"},
            "no purpose": {"purpose": " "},
        },
    )
    def test_is_refused(self, petra: Client, values: dict[str, str]) -> None:
        assert ask(petra, **values).status_code == 422
        assert not AccessRequest.objects.exists()

    def test_of_what_one_can_view_is_refused(self, ada: Client) -> None:
        assert ask(ada).status_code == 422

    def test_is_withdrawn(self, petra: Client, ada: Client) -> None:
        ask(petra)
        number = AccessRequest.objects.get().id

        petra.post(f"/requests/{number}/withdraw")

        late = ada.post(f"/api/v1/requests/{number}/approval", {}, "application/json")
        assert late.status_code == 409
        assert "Open requests" not in shown(ada, "/shares/retail/")

    @cases(
        "change, said",
        {
            "off": ({"off_since": timezone.now()}, "the share is off"),
            "in part": ({}, "no table is offered whole"),
        },
    )
    def test_gives_nothing_while_the_share_is(
        self,
        petra: Client,
        ada: Client,
        retail: Share,
        change: dict[str, object],
        said: str,
    ) -> None:
        ask(petra)
        Share.objects.update(**change)
        if not change:
            retail.shared_tables.update(condition="region = 'EU'")
        number = AccessRequest.objects.get().id

        late = ada.post(f"/api/v1/requests/{number}/approval", {}, "application/json")

        assert late.status_code == 409
        assert said in late.json()["message"]
        assert not Grant.objects.exists()
        assert AccessRequest.objects.get().state == "pending"

    def test_goes_with_the_share(self, petra: Client, ada: Client) -> None:
        ask(petra)

        ada.delete("/api/v1/shares/retail")

        assert not AccessRequest.objects.exists()
        assert petra.get("/requests/").status_code == 200

    def test_follows_a_new_name(self, petra: Client, ada: Client) -> None:
        ask(petra)

        ada.patch("/api/v1/shares/retail", {"name": "shops"}, "application/json")

        requests = petra.get("/api/v1/requests").json()["requests"]
        assert [one["on"] for one in requests] == ["share:shops"]

    def test_is_made_and_approved_by_commands(self) -> None:
        made = run_json(*BY_COMMAND, *("--purpose", PURPOSE, "--until", "never"))

        said = Ran("access", "approve", str(made["id"])).stdout

        assert made["on"] == "share:retail"
        assert said.strip() == "petra can view share:retail without end."
        assert viewable("petra") == {"orders", "items"}
