"""What else the search finds: actions, versions, writers, people, help pages."""

import json

import pytest
from django.test import Client

from apps.accounts.models import User
from tests.functional.catalogue.pages import as_csv, as_json, text
from tests.support import cases
from tests.support.pages.factories import (
    new_commit,
    new_recipient,
    new_table,
    new_user,
    signed_in,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Client:
    return signed_in("ada", role=User.Role.ADMIN)


def found(client: Client, q: str, kind: str) -> list[tuple[str, str]]:
    """The names and addresses of what a search finds of a kind."""
    return [
        (one["name"], one["url"]) for one in as_json(client, "/search.json", q=q)[kind]
    ]


class TestActions:
    @pytest.fixture(autouse=True)
    def tables(self) -> None:
        new_table("sales.orders")
        new_table("web.visits")

    @cases(
        "q, name, url",
        {
            "an operation and a table": (
                "vacuum orders",
                "Vacuum sales.orders",
                "/t/sales/orders/vacuum",
            ),
            "the table first": (
                "sales.orders vacuum",
                "Vacuum sales.orders",
                "/t/sales/orders/vacuum",
            ),
            "another word for it": (
                "compact the orders",
                "Optimize sales.orders",
                "/t/sales/orders/optimize",
            ),
            "the list of all commits": (
                "what changed",
                "What changed",
                "/what-changed/",
            ),
            "what is not typed to its end": (
                "vac ord",
                "Vacuum sales.orders",
                "/t/sales/orders/vacuum",
            ),
            "a tab": (
                "history visits",
                "History of web.visits",
                "/t/web/visits/history",
            ),
            "a page of no table": ("register", "Register a table", "/tables/new"),
        },
    )
    def test_are_found_by_what_they_are_called(self, editor, q, name, url):
        assert (name, url) in found(editor, q, "actions")

    def test_without_a_table_are_offered_for_those_that_changed_last(
        self, editor: Client
    ) -> None:
        names = {name for name, _ in found(editor, "vacuum", "actions")}

        assert {"Vacuum sales.orders", "Vacuum web.visits"} <= names

    def test_are_only_for_who_may_do_them(self, viewer: Client) -> None:
        assert found(viewer, "vacuum orders", "actions") == []
        assert found(viewer, "register", "actions") == []
        assert found(viewer, "history orders", "actions") == [
            ("History of sales.orders", "/t/sales/orders/history")
        ]

    def test_name_no_table_that_is_hidden(self, viewer: Client) -> None:
        new_table("hidden.orders", is_private=True)

        names = [name for name, _ in found(viewer, "history orders", "actions")]

        assert names == ["History of sales.orders"]

    def test_do_not_offer_to_change_what_a_provider_shares(self, editor) -> None:
        new_table("crm.orders", location="received://acme/crm.orders")

        names = [name for name, _ in found(editor, "vacuum orders", "actions")]

        assert names == ["Vacuum sales.orders"]

    def test_of_recipients_are_for_administrators(self, admin: Client, editor: Client):
        new_recipient("acme")

        assert ("Rotate the token of acme", "/recipients/acme/tokens/rotate") in found(
            admin, "rotate acme", "actions"
        )
        assert found(editor, "rotate acme", "actions") == []

    def test_stand_first_in_the_top_bar_and_lead_to_a_page(self, editor: Client):
        headers = {"HX-Request": "true", "HX-Target": "search-hits"}

        shown = editor.get("/search", {"q": "vacuum orders"}, headers=headers)
        page = editor.get("/t/sales/orders/vacuum")

        first = shown.content.decode().partition('role="option" href="')[2]
        assert first.startswith("/t/sales/orders/vacuum")
        assert page.status_code == 200


class TestVersions:
    @pytest.mark.parametrize(
        "q", ["orders v12", "orders@12", "sales.orders 12", "orders version 12"]
    )
    def test_are_found_by_name_and_number(self, viewer: Client, q: str) -> None:
        new_commit(new_table("sales.orders", version=12), 12, sentence="Added 3 rows.")
        new_commit(new_table("hidden.orders", version=12, is_private=True), 12)

        assert found(viewer, q, "versions") == [
            ("sales.orders v12", "/t/sales/orders/history/12")
        ]

    @pytest.mark.parametrize("q", ["orders v13", "orders", "12", "orders v" + "9" * 19])
    def test_are_not_made_up(self, viewer: Client, q: str) -> None:
        new_commit(new_table("sales.orders", version=12), 12)

        assert found(viewer, q, "versions") == []


class TestPeople:
    def test_writers_are_found_with_their_tables(self, viewer: Client) -> None:
        new_commit(new_table("sales.orders"), 2, user_name="crm-sync")
        new_commit(new_table("hidden.x", is_private=True), 2, user_name="crm-secret")

        assert found(viewer, "crm", "writers") == [
            ("crm-sync", "/tables/?writer=crm-sync")
        ]

    def test_accounts_are_for_administrators(self, admin: Client, editor: Client):
        new_user("anna")

        assert found(admin, "ann", "people") == [("anna", "/admin-area/?q=anna")]
        assert "people" not in as_json(editor, "/search.json", q="ann")


class TestHelpPages:
    @pytest.fixture(autouse=True)
    def manual(self, tmp_path, settings) -> None:
        docs = [
            {
                "location": "how-to/rotate-a-token/",
                "title": "Rotate a token",
                "text": "",
            },
            {"location": "guide/share/", "title": "Share", "text": "rotate"},
            {"location": "guide/share/#revoke", "title": "Revoke", "text": ""},
        ]
        (tmp_path / "search").mkdir()
        index = tmp_path / "search" / "search_index.json"
        index.write_text(json.dumps({"docs": docs}))
        settings.MANUAL = tmp_path

    @cases(
        "q, expected",
        {
            "a question": ("how to rotate my token", ["Rotate a token"]),
            "a section by the title of its page": ("share revoke", ["Revoke"]),
            "a page before its sections": ("share", ["Share", "Revoke"]),
            "small words alone": ("how to", []),
        },
    )
    def test_are_found_by_their_titles(self, viewer, q, expected):
        assert [name for name, _ in found(viewer, q, "help pages")] == expected

    def test_lead_into_the_manual(self, viewer: Client) -> None:
        assert found(viewer, "revoke", "help pages") == [
            ("Revoke", "/help/guide/share/#revoke")
        ]

    def test_are_none_without_a_manual(self, viewer, settings, tmp_path) -> None:
        settings.MANUAL = tmp_path / "none"

        assert found(viewer, "token", "help pages") == []


def test_csv_has_every_kind(editor: Client) -> None:
    new_commit(new_table("sales.orders", version=12), 12)

    rows = as_csv(editor, "/search.csv", q="orders v12")

    assert ["version", "sales.orders v12"] in [row[:2] for row in rows]
    assert "Versions" in text(editor, "/search", q="orders v12")
