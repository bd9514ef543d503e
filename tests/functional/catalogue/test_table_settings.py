"""An editor renames, describes, restricts and schedules a table."""

import pytest
from django.test import Client
from pytest_django import Settings

from apps.tables.models import Table
from tests.functional.catalogue.pages import as_json, text
from tests.support import cases
from tests.support.pages.factories import (
    new_commit,
    new_share,
    new_shared_table,
    new_table,
    signed_in,
)

pytestmark = pytest.mark.django_db


class TestSettings:
    def test_renames_describes_and_makes_private(self) -> None:
        new_table("orders")
        admin = signed_in("ada", role="ADMIN")

        answer = admin.post(
            "/t/default/orders/settings",
            {"name": "sales.orders", "description": "All", "restricted": "on"},
        )

        table = Table.objects.get()
        assert answer["Location"] == "/t/sales/orders/settings"
        assert (table.full_name, table.description) == ("sales.orders", "All")
        assert table.is_private

    def test_only_an_owner_makes_it_private(self, editor: Client) -> None:
        new_table("orders")
        path = "/t/default/orders/settings"
        assert 'name="restricted"' not in editor.get(path).content.decode()

        answer = editor.post(path, {"name": "orders", "restricted": "on"})

        assert answer.status_code == 403
        assert "You may not decide who can see orders." in answer.content.decode()
        assert not Table.objects.get().is_private

    def test_a_refused_name_changes_nothing(self, editor: Client) -> None:
        new_table("orders")
        new_table("items")

        answer = editor.post(
            "/t/default/orders/settings", {"name": "items", "description": "x"}
        )

        assert answer.status_code == 422
        assert "already registered" in answer.content.decode()
        assert Table.objects.get(name="orders").description == ""

    @cases(
        "refresh, interval_s, words",
        {
            "an interval": ("1d", 86_400, ", refreshed every day"),
            "never": ("never", 0, ", refreshed only when asked"),
        },
    )
    def test_a_schedule_is_set_and_told_of_on_every_page_of_the_table(
        self, editor: Client, refresh: str, interval_s: int, words: str
    ) -> None:
        new_commit(new_table("orders"), 2)
        path = "/t/default/orders/settings"
        assert ", refreshed" not in text(editor, "/t/default/orders/")

        editor.post(path, {"name": "orders", "refresh": refresh})
        editor.post(path, {"name": "orders"})  # which says nothing of it

        assert Table.objects.get().refresh_interval_s == interval_s
        assert words in text(editor, "/t/default/orders/")
        shown = editor.get(path).content.decode()
        assert f'<option value="{refresh}" selected>' in shown
        assert shown.count(" selected>") == 1

    def test_a_schedule_that_is_not_listed_changes_nothing(self, editor: Client):
        new_table("orders")

        answer = editor.post(
            "/t/default/orders/settings",
            {"name": "orders", "description": "x", "refresh": "7s"},
        )

        assert answer.status_code == 422
        assert "Choose one of the listed schedules." in answer.content.decode()
        table = Table.objects.get()
        assert (table.description, table.refresh_interval_s) == ("", None)

    def test_scripts_read_the_schedule(self, editor: Client, settings: Settings):
        settings.PROBE_INTERVAL_S = 90
        new_table("orders")
        new_table("items", refresh_interval_s=0)

        usual = as_json(editor, "/t/default/orders/settings.json")
        never = as_json(editor, "/t/default/items/settings.json")

        assert (usual["refresh"], usual["refresh_interval_s"]) == ("default", 90)
        assert (never["refresh"], never["refresh_interval_s"]) == ("never", None)


class TestRemoval:
    @cases(
        "typed, said",
        {
            "nothing": ("", "Type the table&#x27;s name to remove it."),
            "another name": ("order", "Type orders to remove it."),
            "its name": ("orders", "still used by the share retail"),
        },
    )
    def test_of_a_shared_table_is_refused(self, editor: Client, typed: str, said: str):
        new_shared_table(new_share("retail"), table=new_table("orders"))

        answer = editor.post("/t/default/orders/remove", {"confirm": typed})

        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert Table.objects.exists()

    def test_says_that_the_files_stay(self, editor: Client) -> None:
        new_table("orders")

        path = "/t/default/orders/remove"
        answer = editor.post(path, {"confirm": "orders"}, follow=True)

        assert "its files were not touched" in answer.content.decode()
        assert not Table.objects.exists()
