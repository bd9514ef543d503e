"""An administrator looks after groups: on pages, by commands and by REST."""

from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from apps.accounts.models import Group, Membership, User, groups_of
from apps.audit.models import AuditEvent
from tests.functional.command_line import Ran, run_json
from tests.support import cases
from tests.support.pages.factories import new_table, new_user, signed_in
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Client:
    return signed_in("ada", role=User.Role.ADMIN)


def group(*arguments: str) -> str:
    return Ran("group", *arguments).stdout


def group_json(*arguments: str) -> Any:  # noqa: ANN401 (any JSON document)
    return run_json("group", *arguments)


def claim_member(user: User, name: str) -> Group:
    found = Group.objects.create(name=name, source="claim", created_at=timezone.now())
    Membership.objects.create(
        group=found, user=user, source="claim", since=timezone.now()
    )
    return found


class TestTheCommand:
    def test_makes_fills_and_shows_a_group(self) -> None:
        vera = new_user("vera")

        group("add", "Sales", "--description", "Shops of the north")
        said = group("member", "sales", "vera")

        assert said.strip() == "vera is in Sales now."
        assert [one.name for one in groups_of(vera)] == ["Sales"]
        shown = group_json("show", "SALES")
        assert shown["description"] == "Shops of the north"
        assert shown["num_members"] == 1
        assert [(one["user"], one["source"]) for one in shown["members"]] == [
            ("vera", "local")
        ]

    def test_adds_a_member_once(self) -> None:
        new_user("vera")
        group("add", "sales")
        group("member", "sales", "vera")

        again = group_json("member", "sales", "vera")

        assert not again["changed"]
        assert Membership.objects.count() == 1

    def test_takes_a_member_out(self) -> None:
        vera = new_user("vera")
        group("add", "sales")
        group("member", "sales", "vera")

        group("member", "sales", "vera", "--remove")

        assert not groups_of(vera)

    def test_leaves_the_members_of_a_sign_in(self) -> None:
        vera = new_user("vera")
        claim_member(vera, "analysts")

        with pytest.raises(CommandError, match="A sign-in put 'vera' into 'analysts'"):
            group("member", "analysts", "vera", "--remove")

        assert groups_of(vera)

    def test_removes_a_group_with_its_memberships(self) -> None:
        new_user("vera")
        group("add", "sales")
        group("member", "sales", "vera")

        said = group("remove", "sales", "--yes")

        assert said.strip() == "Removed sales, which had 1 member and 0 permissions."
        assert not Membership.objects.exists()

    def test_counts_the_rights_that_a_removed_group_has(self) -> None:
        new_table("sales.orders")
        group("add", "sales")
        Ran("access", "give", "sales.orders", "sales", "view")

        shown = run_json("group", "show", "sales")
        said = group("remove", "sales", "--yes")

        rights = [(one["right"], one["on"]) for one in shown["grants"]]
        assert rights == [("view", "sales.orders")]
        assert "0 members and 1 permission." in said

    def test_keeps_the_name_of_a_group_from_claims(self) -> None:
        claim_member(new_user("vera"), "analysts")

        with pytest.raises(CommandError, match="names the group 'analysts'"):
            group("update", "analysts", "--name", "others")

        assert Group.objects.get().name == "analysts"

    @cases(
        "arguments, message",
        {
            "a name that is taken": (("add", "SALES"), "'SALES' exists already"),
            "an empty name": (("add", " "), "cannot be the name of a group"),
            "a line break": (("add", "a\nb"), "cannot be the name of a group"),
            "an unknown group": (("show", "slaes"), "No group is named 'slaes'"),
            "an unknown user": (("member", "sales", "nobody"), "No user is named"),
        },
    )
    def test_refuses(self, arguments: tuple[str, ...], message: str) -> None:
        group("add", "sales")

        with pytest.raises(CommandError, match=message):
            group(*arguments)

    def test_lists_groups(self) -> None:
        assert "No groups yet" in group("list")
        group("add", "sales")

        assert [one["name"] for one in group_json("list")] == ["sales"]


class TestThePages:
    def test_lead_from_the_list_to_a_member(self, admin: Client) -> None:
        vera = new_user("vera")

        page = admin.post(
            "/admin-area/groups", {"name": "sales", "source": "local"}, follow=True
        )
        found = Group.objects.get()
        admin.post(f"/admin-area/groups/{found.id}/add-member", {"user": "vera"})

        assert "Nobody is in this group." in words(page.content.decode())
        shown = words(admin.get(f"/admin-area/groups/{found.id}/").content.decode())
        assert "1 member" in shown
        assert [one.name for one in groups_of(vera)] == ["sales"]
        actions = AuditEvent.objects.order_by("id").values_list("action", flat=True)
        assert list(actions) == ["group.create", "group.add_member"]

    def test_remove_a_group_only_after_its_name(self, admin: Client) -> None:
        found = Group.objects.create(name="sales", created_at=timezone.now())
        address = f"/admin-area/groups/{found.id}/remove"

        admin.post(address, {"confirm": "slaes"})
        assert Group.objects.exists()
        admin.post(address, {"confirm": "sales"})

        assert not Group.objects.exists()

    def test_show_a_refused_form_again(self, admin: Client) -> None:
        Group.objects.create(name="sales", created_at=timezone.now())

        page = admin.post("/admin-area/groups", {"name": "Sales", "source": "local"})

        assert page.status_code == 409
        assert "A group named 'Sales' exists already." in words(page.content.decode())

    @pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
    @pytest.mark.parametrize(
        "path", ["/admin-area/groups/", "/admin-area/groups.json", "/api/v1/groups"]
    )
    def test_are_for_administrators(self, role: User.Role, path: str) -> None:
        assert signed_in(role=role).get(path).status_code == 403


class TestREST:
    def test_makes_changes_and_removes(self, admin: Client) -> None:
        new_user("vera")
        json = "application/json"

        made = admin.post("/api/v1/groups", {"name": "sales"}, json)
        put = admin.put("/api/v1/groups/sales/members/vera")
        told = admin.patch("/api/v1/groups/sales", {"description": "Shops"}, json)
        shown = admin.get("/api/v1/groups/sales").json()
        gone = admin.delete("/api/v1/groups/sales/members/vera")

        assert (made.status_code, put.status_code) == (201, 200)
        assert told.json()["description"] == "Shops"
        assert [one["user"] for one in shown["members"]] == ["vera"]
        assert gone.status_code == 204
        assert admin.delete("/api/v1/groups/sales").status_code == 204
        assert not Group.objects.exists()
