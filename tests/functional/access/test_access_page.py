"""The page *Access*: who can see a table, why, and what its owner changes."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Group, Membership, User
from apps.tables.models import Grant, Namespace, Table
from tests.support.pages.factories import (
    new_api_key,
    new_table,
    new_user,
    signed_in,
)
from tests.support.pages.shown_words import words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("orders")]
PAGE = "/t/sales/orders/access"
JSON = "application/json"


@pytest.fixture
def orders() -> Table:
    return new_table(name="orders", namespace="sales", is_private=True)


@pytest.fixture
def admin() -> Client:
    return signed_in("ida", role=User.Role.ADMIN)


@pytest.fixture
def analysts() -> Group:
    """A group with anna, who can view the namespace until the end of a month."""
    now = timezone.now()
    group = Group.objects.create(name="analysts", source="claim", created_at=now)
    anna = new_user("anna")
    Membership.objects.create(group=group, user=anna, source="claim", since=now)
    space, _ = Namespace.objects.get_or_create(
        name="sales", defaults={"created_at": now}
    )
    Grant.objects.create(
        group=group,
        namespace=space,
        right="view",
        until=now + timedelta(days=30),
        reason="Q4 report",
        given_by="tom",
        given_at=now,
    )
    return group


class TestTheQuestion:
    @pytest.mark.usefixtures("analysts")
    def test_is_answered_with_a_chain_of_reasons(self, admin: Client) -> None:
        data = admin.get(f"{PAGE}.json?person=ANNA").json()["question"]

        assert data["can_view"]
        texts = [one["text"] for one in data["reasons"]]
        assert texts[0] == "anna is in the group analysts"
        assert texts[1].startswith("analysts can view namespace sales.* until")
        assert texts[2] == "sales.orders is in sales.*"
        assert data["reasons"][0]["more"].startswith("from the sign-on, since")
        assert "“Q4 report”" in data["reasons"][1]["more"]
        has = {one["right"]: one["has"] for one in data["rights"]}
        assert has == {"view": True, "edit": False, "share": False, "own": False}

    def test_is_answered_with_no(self, admin: Client) -> None:
        new_user("petra")

        page = words(admin.get(f"{PAGE}?person=petra").content.decode())

        assert "No, petra cannot view it" in page
        assert (
            "No role, group or grant gives petra access to sales.orders or sales.*"
            in page
        )
        assert "not listed, so petra does not find it" in page

    def test_names_a_grant_that_has_ended(self, admin: Client, orders: Table) -> None:
        past = timezone.now() - timedelta(days=1)
        Grant.objects.create(
            user=new_user("petra"),
            table=orders,
            right="edit",
            until=past,
            given_by="tom",
            given_at=past,
        )

        page = words(admin.get(f"{PAGE}?person=petra").content.decode())

        assert "petra could edit sales.orders until" in page

    def test_knows_roles_on_an_open_table(self, admin: Client) -> None:
        Table.objects.update(is_private=False)
        new_user("eve", role=User.Role.EDITOR)

        data = admin.get(f"{PAGE}.json?person=eve").json()["question"]

        assert [one["text"] for one in data["reasons"]][:2] == [
            "sales.orders is open, so roles decide",
            "eve has the role editor",
        ]

    def test_is_about_nobody(self, admin: Client) -> None:
        page = words(admin.get(f"{PAGE}?person=xyz").content.decode())

        assert "No person and no group is named “xyz”." in page


class TestWhoHasAccess:
    @pytest.mark.usefixtures("analysts")
    def test_counts_each_person_once(self, admin: Client) -> None:
        new_user("petra")

        data = admin.get(f"{PAGE}.json").json()

        assert data["reach"]["num_accounts"] == 3
        assert data["reach"]["num_people"] == 2
        assert data["reach"]["through_groups"] == 1
        assert [one["holder"] for one in data["grants"]] == [
            "Administrators",
            "analysts",
        ]

    @pytest.mark.usefixtures("analysts")
    def test_is_for_owners_only(self) -> None:
        anna = Client()
        anna.force_login(User.objects.get(username="anna"))

        data = anna.get(f"{PAGE}.json?person=ida").json()

        assert data["question"]["name"] == "anna"
        assert data["grants"] == []
        assert data["reach"] is None
        assert anna.post(
            f"{PAGE}/give", {"to": "anna", "right": "own"}
        ).status_code == (403)
        assert signed_in("petra").get(PAGE).status_code == 404
        assert Grant.objects.count() == 1

    def test_gives_and_ends_a_right(self, admin: Client) -> None:
        new_user("lars")
        sent = {"to": "lars", "right": "view", "until": "30d", "reason": "Refunds"}
        admin.post(f"{PAGE}/give", sent)
        grant = Grant.objects.get()

        page = words(admin.get(PAGE).content.decode())
        admin.post(f"/access-grants/{grant.id}/end")

        assert "Refunds" in page
        assert Grant.objects.get().ended_by == "ida"
        ended = admin.get(f"{PAGE}.json?show=ended").json()
        assert [one["holder"] for one in ended["grants"]] == ["lars"]

    def test_answers_as_csv(self, admin: Client) -> None:
        answer = admin.get(f"{PAGE}.csv")

        text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]  # a streamed answer
        assert text.splitlines()[1].startswith("Administrators,role,1,true")


class TestPrivacy:
    def test_is_saved_with_both_values(self, admin: Client, orders: Table) -> None:
        sent = {"private": "false", "listed": ["false", "on"]}
        admin.post(f"{PAGE}/set", sent)

        orders.refresh_from_db()
        assert (orders.is_private, orders.is_listed) == (False, True)

    def test_of_a_namespace_holds_for_its_tables(self, admin: Client) -> None:
        Table.objects.update(is_private=False)
        Namespace.objects.get_or_create(
            name="sales", defaults={"created_at": timezone.now()}
        )
        viewer = signed_in("vera")
        assert viewer.get("/t/sales/orders/").status_code == 200

        admin.patch(
            "/api/v1/namespaces/sales/access", {"private": True}, "application/json"
        )

        assert viewer.get("/t/sales/orders/").status_code == 404
        assert viewer.get("/n/sales/access").status_code == 404
        assert "is private, so it is private, too" in words(
            admin.get(PAGE).content.decode()
        )

    def test_belongs_to_owners(self, orders: Table) -> None:
        Table.objects.update(is_private=False)
        editor = signed_in("eve", role=User.Role.EDITOR)

        answer = editor.post(f"{PAGE}/set", {"private": "true"})

        assert answer.status_code == 403
        orders.refresh_from_db()
        assert not orders.is_private


class TestAnAPIKey:
    """A key of the owner, by what it is for."""

    @pytest.mark.parametrize(
        ("scope", "status"), [("write", 403), ("share", 403), ("admin", 200)]
    )
    @pytest.mark.parametrize("change", [{"restricted": False}, {"private": False}])
    def test_that_decides_who_sees_a_table_is_for_that(
        self, orders: Table, scope: str, status: int, change: dict[str, bool]
    ) -> None:
        owner = new_user("olga", role=User.Role.ADMIN)
        key = Client(headers=new_api_key(owner, ["write", scope]))
        below = "" if "restricted" in change else "/access"

        answer = key.patch(
            f"/api/v1/tables/sales/orders{below}", change, content_type=JSON
        )

        assert answer.status_code == status
        orders.refresh_from_db()
        assert orders.is_private == (status != 200)

    @pytest.mark.parametrize(
        ("form", "sent"),
        [
            ("access/give", {"to": "olga", "right": "own"}),
            ("access/set", {"private": "false"}),
            ("settings", {"name": "sales.orders", "restricted": "false"}),
        ],
    )
    def test_for_changes_of_tables_does_not_decide_by_a_form(
        self, orders: Table, form: str, sent: dict[str, str]
    ) -> None:
        owner = new_user("olga", role=User.Role.ADMIN)
        key = Client(headers=new_api_key(owner, ["write"]))

        answer = key.post(f"/t/sales/orders/{form}", sent)

        assert answer.status_code == 403
        orders.refresh_from_db()
        assert orders.is_private
        assert not Grant.objects.exists()

    def test_for_changes_of_tables_changes_the_rest(self) -> None:
        owner = new_user("olga", role=User.Role.ADMIN)
        key = Client(headers=new_api_key(owner, ["write"]))
        change = {"description": "Of all shops.", "restricted": True}

        answer = key.patch("/api/v1/tables/sales/orders", change, content_type=JSON)

        assert answer.status_code == 200
