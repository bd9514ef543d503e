"""`deltaweb grant` gives and ends rights, and only owners do so in other ways."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import Group, Membership, User
from apps.audit.models import AuditEvent
from apps.tables.models import Grant, Namespace, Table
from apps.tables.permissions import EDIT, OWN, SHARE, VIEW, may
from tests.functional.command_line import Ran, refusal, run_json
from tests.support.pages import rest
from tests.support.pages.factories import new_grant_of_right, new_table, new_user
from tests.support.pages.rest import Script

pytestmark = pytest.mark.django_db
TABLE = "/api/v1/tables/sales/orders"
NAMESPACE = "/api/v1/namespaces/sales"


@pytest.fixture
def orders() -> Table:
    Namespace.objects.ensure(["sales"], timezone.now())
    return new_table("sales.orders", is_private=True)


@pytest.fixture
def vera() -> User:
    return new_user("vera")


class TestARight:
    @pytest.mark.parametrize("right", [VIEW, EDIT, SHARE, OWN])
    def test_is_given_to_a_person(self, orders: Table, vera: User, right: str) -> None:
        Ran("grant", right, "vera", "sales.orders", "--reason", "Q4")
        assert may(vera, right, orders)
        assert Grant.objects.get().reason == "Q4"
        event = AuditEvent.objects.get(action="access.give")
        assert event.detail["to"] == "vera"

    def test_is_given_to_a_group_on_a_namespace(self, orders, vera) -> None:
        group = Group.objects.create(name="analysts", created_at=timezone.now())
        Membership.objects.create(group=group, user=vera, since=timezone.now())
        Ran("grant", "edit", "analysts", "sales.*", "--until", "30d")
        assert may(vera, EDIT, orders)
        assert not may(vera, EDIT, orders, timezone.now() + timedelta(days=31))

    def test_is_of_the_person_where_a_group_has_the_name(self, orders, vera) -> None:
        Group.objects.create(name="vera", created_at=timezone.now())
        Ran("grant", "view", "vera", "sales.orders")
        assert not may(vera, VIEW, orders)
        Ran("grant", "view", "vera", "sales.orders", "--person")
        assert may(vera, VIEW, orders)

    @pytest.mark.parametrize("name", ["vera", "VERA"])
    def test_is_of_nobody_where_a_group_of_the_provider_has_the_name(
        self, orders, vera, name: str
    ) -> None:
        Group.objects.create(
            name=name, source=Group.Source.CLAIM, created_at=timezone.now()
        )
        assert "is a person and a group" in refusal(
            "grant", "view", "vera", "sales.orders"
        )
        assert not Grant.objects.exists()
        Ran("grant", "view", "vera", "sales.orders", "--person")
        assert may(vera, VIEW, orders)

    @pytest.mark.parametrize("reason", ["Q4\x1b[2J", "Q4\u202e"])
    def test_has_a_reason_in_plain_text(self, orders, vera, reason: str) -> None:
        words = ["grant", VIEW, "vera", "sales.orders", "--reason", reason]
        assert "500 characters" in refusal(*words)
        assert not may(vera, VIEW, orders)

    @pytest.mark.usefixtures("orders", "vera")
    def test_of_nobody_and_nothing_is_refused(self) -> None:
        assert "vear" in refusal("grant", "view", "vear", "sales.orders")
        assert "nothing" in refusal("grant", "view", "vera", "nothing.*")
        assert "sales" in refusal("grant", "view", "vera", "sales")
        assert not Grant.objects.exists()

    @pytest.mark.usefixtures("vera")
    def test_in_a_namespace_to_come_begins_with_that_namespace(self) -> None:
        said = refusal("grant", "view", "vera", "payroll.*")
        assert "No namespace is named 'payroll'" in said
        assert "deltaweb namespace set payroll" in said

        Ran("namespace", "set", "payroll", "--private")
        Ran("grant", "view", "vera", "payroll.*")

        assert may(User.objects.get(), VIEW, new_table("payroll.wages"))

    @pytest.mark.usefixtures("orders", "vera")
    def test_has_an_end_within_ten_years_or_none(self) -> None:
        said = refusal("grant", "view", "vera", "sales.*", "--until", "3661d")
        assert "'3661d' is not valid: it is longer than 3,660 days" in said
        assert "never has no end" in said
        Ran("grant", "view", "vera", "sales.*", "--until", "3660d")

    def test_is_ended_by_its_number(self, orders: Table, vera: User) -> None:
        made = run_json("grant", "view", "vera", "sales.orders")
        Ran("grant", "end", made["id"])
        assert not may(vera, VIEW, orders)
        assert run_json("grant", "list") == []
        ended = run_json("grant", "list", "sales.orders", "--all")
        assert [one["id"] for one in ended] == [made["id"]]
        assert "999" in refusal("grant", "end", 999)

    @pytest.mark.usefixtures("orders", "vera")
    def test_is_listed_with_its_end(self) -> None:
        Ran("grant", "edit", "vera", "sales.*", "--until", "300d")
        Ran("grant", "view", "vera", "sales.orders")
        shown = Ran("grant", "list").stdout.splitlines()
        assert "edit" in shown[0]
        assert "until 20" in shown[0]
        assert "no end" in shown[1]


def _attempts(script: Script, grant: Grant) -> list[Any]:
    """Return the answers to each call that decides who sees a table."""
    new = {"to": "vera", "right": "view"}
    return [
        script.call("POST", f"{TABLE}/grants", new),
        script.call("POST", f"{NAMESPACE}/grants", new),
        script.call("PATCH", f"{TABLE}/access", {"private": False}),
        script.call("PATCH", f"{TABLE}/access", {"listed": True}),
        script.call("PATCH", f"{NAMESPACE}/access", {"private": True}),
        script.call("PATCH", TABLE, {"restricted": False}),
        script.call("DELETE", f"/api/v1/access-grants/{grant.pk}"),
    ]


class TestAKey:
    @pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
    @pytest.mark.parametrize("right", ["", VIEW, EDIT, SHARE])
    def test_of_somebody_who_does_not_own_decides_nothing(
        self, orders: Table, vera: User, right: str, role: str
    ) -> None:
        grant = new_grant_of_right(VIEW, orders, vera)
        script = Script("read", "write", "share", "admin", role=role, name="eve")
        if right:
            new_grant_of_right(right, "sales", script.user)
        before = list(Grant.objects.values())
        answers = _attempts(script, grant)
        assert {one.status_code for one in answers} <= {403, 404}
        orders.refresh_from_db()
        assert orders.is_private
        assert not orders.is_listed
        assert not Namespace.objects.get(name="sales").is_private
        assert list(Grant.objects.values()) == before

    def test_of_an_owner_of_one_table_ends_there(self, orders, vera) -> None:
        other = new_grant_of_right(VIEW, "sales", vera)
        script = Script("read", "write", "admin", role=User.Role.VIEWER, name="tom")
        new_grant_of_right(OWN, orders, script.user)
        assert rest.refusal(_attempts(script, other)[-1]) == (404, "right-not-found")
        assert not Namespace.objects.get(name="sales").is_private
        assert not Grant.objects.filter(namespace__isnull=False).exclude(pk=other.pk)

    def test_without_the_scope_gives_nothing(self, orders: Table, vera: User) -> None:
        script = Script("read", "write", "share", role=User.Role.VIEWER, name="tom")
        grant = new_grant_of_right(OWN, orders, script.user)
        new = {"to": vera.username, "right": "view"}
        answers = [
            script.call("POST", f"{TABLE}/grants", new),
            script.call("PATCH", f"{TABLE}/access", {"private": False}),
            script.call("DELETE", f"/api/v1/access-grants/{grant.pk}"),
        ]
        assert [one.status_code for one in answers] == [403, 403, 403]
        assert Grant.objects.count() == 1
