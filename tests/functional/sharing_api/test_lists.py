import json
from urllib.parse import quote

import pytest

from apps.sharing.models import Share
from tests.functional.sharing_api.calls import Caller, Lake, items, next_token, refused
from tests.functional.sharing_api.conftest import NewCaller
from tests.support.pages.factories import new_grant, new_share, new_shared_table

LISTS = ["/shares", "/shares/sales/schemas", "/shares/sales/all-tables"]


def names(answer: object) -> list[str]:
    return [item["name"] for item in items(answer)]


def walk(caller: Caller, path: str, *, length: int) -> list[str]:
    """Read a list page by page."""
    found: list[str] = []
    token: str | None = ""
    while token is not None:
        answer = caller.get(f"{path}?maxResults={length}&pageToken={token}")
        assert answer.status_code == 200
        assert len(items(answer)) <= length
        found += names(answer)
        token = next_token(answer)
    return found


@pytest.fixture
def share(lake: Lake) -> Share:
    """The share `Sales` with seven tables in three schemas."""
    for name in ("CRM2.b", "crm2.A", "crm2.c", "web.a", "web.B", "web.z"):
        new_shared_table(lake.shared.share, name, table=lake.shared.table)
    return lake.shared.share


class TestLists:
    def test_name_what_a_recipient_may_read(self, acme: Caller, lake: Lake) -> None:
        new_share("other")
        share, table = lake.shared.share, lake.shared

        shares = acme.get("/shares")

        assert items(shares) == [{"name": "Sales", "id": str(share.id)}]
        assert items(acme.get("/shares/sales/schemas")) == [
            {"name": "crm", "share": "Sales"}
        ]
        item = {
            "name": "Orders",
            "schema": "crm",
            "share": "Sales",
            "shareId": str(share.id),
            "id": str(table.id),
        }
        assert items(acme.get("/shares/SALES/schemas/CRM/tables")) == [item]
        assert items(acme.get("/shares/sAlEs/all-tables")) == [item]

    def test_are_one_line_of_json_that_nobody_stores(self, acme: Caller) -> None:
        answer = acme.get("/shares")

        assert answer["Content-Type"] == "application/json; charset=utf-8"
        assert answer["Cache-Control"] == "no-store"
        assert b"\n" not in answer.content
        assert "nextPageToken" not in json.loads(answer.content)

    def test_are_empty_without_a_grant(self, new_caller: NewCaller) -> None:
        assert items(new_caller().get("/shares")) == []

    def test_of_an_empty_share_are_empty(self, new_caller: NewCaller) -> None:
        caller = new_caller("globex", new_share("Empty"))

        assert items(caller.get("/shares/empty/schemas")) == []
        assert items(caller.get("/shares/empty/all-tables")) == []

    def test_get_share_answers_with_its_stored_spelling(self, acme: Caller, lake: Lake):
        answer = acme.get("/shares/sALES")

        assert json.loads(answer.content) == {
            "share": {"name": "Sales", "id": str(lake.shared.share_id)}
        }

    def test_find_names_that_were_quoted(self, new_caller: NewCaller, lake) -> None:
        share = new_share("größe+%")
        new_shared_table(share, "daten.bestell-übersicht", table=lake.shared.table)
        caller = new_caller("globex", share)
        path = f"/shares/{quote('GRÖSSE+%')}"

        assert names(caller.get("/shares")) == ["größe+%"]
        assert names(caller.get(f"{path}/all-tables")) == ["bestell-übersicht"]
        table = f"{path}/schemas/DATEN/tables/{quote('Bestell-Übersicht')}"
        assert caller.get(f"{table}/version").status_code == 200

    def test_answer_to_head_without_a_body(self, acme: Caller) -> None:
        answer = acme.head("/shares")

        assert answer.status_code == 200
        assert answer.content == b""
        assert int(answer["Content-Length"]) == len(acme.get("/shares").content)


class TestPages:
    @pytest.mark.parametrize("length", [1, 2, 3, 7, 500])
    def test_add_up_to_the_whole_list(self, acme: Caller, share: Share, length: int):
        expected = ["Orders", "A", "b", "c", "a", "B", "z"]

        assert walk(acme, f"/shares/{share.name}/all-tables", length=length) == expected
        assert walk(acme, "/shares/sales/schemas/WEB/tables", length=length) == [
            *("a", "B", "z")
        ]
        assert len(walk(acme, "/shares/sales/schemas", length=length)) == 3

    def test_of_shares_add_up(self, new_caller: NewCaller) -> None:
        caller = new_caller("globex", *(new_share(f"s{n:02}") for n in range(11)))

        assert walk(caller, "/shares", length=3) == [f"s{n:02}" for n in range(11)]

    def test_neither_repeat_nor_skip_when_tables_are_added(self, acme, share, lake):
        path = "/shares/sales/schemas/web/tables"
        first = acme.get(f"{path}?maxResults=2")
        assert names(first) == ["a", "B"]

        new_shared_table(share, "web.aa", table=lake.shared.table)
        new_shared_table(share, "web.k", table=lake.shared.table)
        rest = acme.get(f"{path}?maxResults=9&pageToken={next_token(first)}")

        assert names(rest) == ["k", "z"]

    def test_go_on_when_their_last_item_is_taken_away(self, acme: Caller, share: Share):
        path = "/shares/sales/schemas/web/tables"
        first = acme.get(f"{path}?maxResults=1")

        share.shared_tables.get(name="a").delete()
        rest = acme.get(f"{path}?pageToken={next_token(first)}")

        assert names(rest) == ["B", "z"]

    @pytest.mark.parametrize("path", LISTS)
    def test_of_no_items_have_a_token_when_there_are_some(self, acme, share, path):
        del share
        empty = acme.get(f"{path}?maxResults=0")
        again = acme.get(f"{path}?maxResults=0&pageToken={next_token(empty)}")

        assert items(empty) == items(again) == []
        rest = acme.get(f"{path}?pageToken={next_token(again)}")
        assert items(rest) == items(acme.get(path))
        assert next_token(rest) is None

    def test_of_no_items_have_none_at_the_end(self, new_caller: NewCaller) -> None:
        answer = new_caller().get("/shares?maxResults=0")

        assert items(answer) == []
        assert next_token(answer) is None

    def test_are_never_longer_than_the_servers_most(self, new_caller: NewCaller):
        caller = new_caller("globex", *(new_share(f"s{n:04}") for n in range(502)))

        assert len(items(caller.get("/shares"))) == 500
        assert len(items(caller.get("/shares?maxResults=99999999999999999999"))) == 500
        assert len(walk(caller, "/shares", length=501)) == 502

    def test_begin_at_the_first_without_a_token(self, acme: Caller) -> None:
        assert names(acme.get("/shares?pageToken=")) == ["Sales"]


class TestPageTokens:
    @pytest.fixture
    def token(self, acme: Caller, share: Share) -> str:
        """A token of the list of tables of the schema `web`."""
        del share
        path = "/shares/sales/schemas/web/tables?maxResults=1"
        token = next_token(acme.get(path))
        assert token is not None
        return token

    def test_serve_the_same_names_in_other_capitals(self, acme: Caller, token: str):
        path = f"/shares/SALES/schemas/wEB/tables?pageToken={token}"

        assert names(acme.get(path)) == ["B", "z"]

    @pytest.mark.parametrize("path", [*LISTS, "/shares/sales/schemas/crm2/tables"])
    def test_serve_no_other_list(self, acme: Caller, token: str, path: str) -> None:
        refused(acme.get(f"{path}?pageToken={token}"))

    def test_serve_no_other_recipient(self, new_caller, share, token):
        globex = new_caller("globex", share)

        refused(globex.get(f"/shares/sales/schemas/web/tables?pageToken={token}"))

    def test_serve_no_other_share(self, acme: Caller, lake: Lake, token: str) -> None:
        other = new_share("Other")
        new_shared_table(other, "web.a", table=lake.shared.table)
        new_grant(other, acme.recipient)

        refused(acme.get(f"/shares/other/schemas/web/tables?pageToken={token}"))
