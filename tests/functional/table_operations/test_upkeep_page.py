"""The page of all upkeep: what can be done for a table, and what was done last."""

import pytest
from django.test import Client

from apps.tables.models import Table
from tests.factories import new_unindexed_table, new_user
from tests.functional.table_operations.conftest import Work
from tests.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
TABLE = "/t/default/orders/"
UPKEEP = f"{TABLE}maintenance"
PAGES = ["vacuum", "optimize", "restore", "checkpoint", "cleanup"]


class TestAllUpkeep:
    @pytest.mark.usefixtures("orders")
    def test_is_reached_from_one_place(self, editor: Client) -> None:
        page = page_text(editor, UPKEEP)

        assert all(f'href="{TABLE}{name}"' in page for name in PAGES)
        assert "Nothing was asked for yet." in page
        assert f'href="{UPKEEP}"' in page_text(editor, TABLE)
        assert [tool["name"] for tool in page_json(editor, UPKEEP)["tools"]] == PAGES

    @pytest.mark.usefixtures("orders")
    def test_says_what_was_asked_for_last(self, editor: Client, work: Work) -> None:
        editor.post(f"{TABLE}restore", {"version": 77})
        work()

        page = page_text(editor, UPKEEP)

        assert "Preview: restore a version of orders" in page
        assert "eve" in page
        (run,) = page_json(editor, UPKEEP)["runs"]
        assert run["state"] == "FAILED"
        assert run["message"] in page

    def test_is_for_editors(self, client: Client, orders: Table) -> None:
        client.force_login(new_user("vera"))

        assert client.get(UPKEEP).status_code == 403
        assert UPKEEP not in page_text(client, orders.get_absolute_url())

    def test_of_a_table_without_an_index_waits(self, editor: Client) -> None:
        new_unindexed_table("orders")

        assert "has not been indexed yet" in page_text(editor, UPKEEP)
