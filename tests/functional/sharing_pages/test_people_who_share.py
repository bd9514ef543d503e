"""People with the right to share a table, and without the role of an administrator."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.pages.actions import command_stamp
from apps.sharing.models import RecipientRule, Share, SharedSchema, SharedTable
from apps.sharing.shares.schemas import add_schema
from apps.tables.models import Grant, Table
from tests.support.pages.factories import (
    new_api_key,
    new_grant,
    new_grant_of_right,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    signed_in,
)

pytestmark = pytest.mark.django_db
JSON = "application/json"
CALL = "/api/v1/shares/retail/tables/crm.orders"
TAB = "/t/crm/orders/sharing"


@pytest.fixture(autouse=True)
def retail() -> Share:
    return new_share("retail")


@pytest.fixture
def orders() -> Table:
    table = new_table("crm.orders", is_private=True)
    new_metadata(table)
    return table


@pytest.fixture
def salaries() -> Table:
    """A private table of others."""
    return new_table("hr.salaries", is_private=True)


@pytest.fixture
def shared(orders: Table, retail: Share) -> SharedTable:
    """A part of the table in the share, which acme and duff read."""
    for name in ("acme", "duff"):
        new_grant(retail, new_recipient(name))
    return new_shared_table(
        retail, "crm.orders", table=orders, condition="id > 3", columns=["id"]
    )


def with_right(
    right: str, on: Table | str, name: str = "sam", **fields: object
) -> Client:
    """The browser of a viewer with a right."""
    client = signed_in(name)
    new_grant_of_right(right, on, user_named(name), **fields)
    return client


def user_named(name: str) -> User:
    return User.objects.get(username=name)


def put(client: Client, call: str = CALL, **body: object) -> Any:  # noqa: ANN401 (of the client)
    return client.put(call, body, content_type=JSON)


def said(answer: Any) -> str:  # noqa: ANN401 (of the client)
    """Return an answer without the id of its request."""
    return re.sub(r'"request_id": "\w+"', "", answer.content.decode())


class TestATableThatSomebodyMayShare:
    @pytest.mark.parametrize("right", ["share", "own"])
    def test_is_put_into_a_share_and_taken_out_by_rest(self, orders, right) -> None:
        sam = with_right(right, orders)

        added = put(sam, condition="id > 3")
        read = sam.get(CALL)
        removed = sam.delete(CALL)

        assert added.status_code == 201
        assert read.json()["condition"] == "id > 3"
        assert removed.status_code == 204
        assert not SharedTable.objects.exists()

    @pytest.mark.parametrize("scopes", [["share"], ["write"]])
    def test_needs_the_scope_of_a_key(self, orders, scopes) -> None:
        with_right("share", orders)
        key = new_api_key(user_named("sam"), scopes)

        answer = Client(headers=key).put(CALL, {}, content_type=JSON)

        assert answer.status_code == (201 if scopes == ["share"] else 403)

    @pytest.mark.parametrize("right", ["view", "edit"])
    def test_is_not_one_that_they_only_view_or_edit(
        self, orders, shared, right
    ) -> None:
        sam = with_right(right, orders)
        with_right("share", new_table("crm.visits"), "tom")
        new_grant_of_right("share", new_table("crm.parts"), user_named("sam"))

        answers = [
            put(sam, comment="mine"),
            put(sam, "/api/v1/shares/retail/tables/crm.copy", table="crm.orders"),
            sam.get(CALL),
            sam.get(f"{CALL}/rules"),
            put(sam, f"{CALL}/rules/acme", condition="id > 5"),
            sam.delete(f"{CALL}/rules/acme"),
            sam.delete(CALL),
            sam.post(f"{TAB}/add", {"share": "retail"}),
            sam.post(f"{TAB}/{shared.id}/update", {"condition": ""}),
            sam.post(f"{TAB}/{shared.id}/rule", {"recipient": "acme"}),
            sam.post(f"{TAB}/{shared.id}/remove"),
            sam.get(TAB),
        ]

        assert [one.status_code for one in answers] == [403] * len(answers)
        assert SharedTable.objects.get().condition == "id > 3"

    @pytest.mark.usefixtures("shared")
    def test_is_one_only_until_the_right_ends(self, orders) -> None:
        sam = with_right("share", orders, until=timezone.now() - timedelta(seconds=1))

        assert put(sam, condition=None).status_code == 403
        assert SharedTable.objects.get().condition == "id > 3"

    @pytest.mark.usefixtures("orders")
    def test_is_also_one_of_a_namespace_that_they_may_share(self) -> None:
        assert put(with_right("share", "crm")).status_code == 201

    def test_keeps_what_a_call_leaves_out(self, orders, shared) -> None:
        sam = with_right("share", orders)

        put(sam, comment="new")
        sam.post(f"{TAB}/{shared.id}/update", {"comment": "newer"})
        put(sam, f"{CALL}/rules/acme", condition="id > 5")
        put(sam, f"{CALL}/rules/acme", columns=["id"])

        now = SharedTable.objects.get()
        assert (now.comment, now.condition, now.columns) == ("newer", "id > 3", ["id"])
        rule = RecipientRule.objects.get()
        assert (rule.condition, rule.columns) == ("id > 5", ["id"])


class TestTheTableOfSomebodyElse:
    """A table in the share, which the caller may not see."""

    def test_is_answered_as_one_that_was_never_there(self, orders, retail, salaries):
        sam = with_right("share", orders)
        new_shared_table(retail, "hr.salaries", table=salaries)
        calls = "/api/v1/shares/retail/tables/hr."

        def answers(name: str) -> list[tuple[int, str]]:
            found = [
                sam.get(f"{calls}{name}"),
                sam.delete(f"{calls}{name}"),
                put(sam, f"{calls}{name}"),
                put(sam, f"{calls}{name}", condition=None),
                sam.get(f"{calls}{name}/rules"),
                put(sam, f"{calls}{name}/rules/acme", condition=None),
                put(sam, CALL, table=f"hr.{name}"),
            ]
            return [(one.status_code, said(one).replace(name, "X")) for one in found]

        assert answers("salaries") == answers("visitors")
        assert {status for status, _ in answers("salaries")} == {404}
        assert SharedTable.objects.get().table == salaries

    def test_is_not_replaced_by_their_own(self, orders, retail, salaries) -> None:
        sam = with_right("share", orders)
        new_shared_table(retail, "crm.orders", table=salaries)

        assert put(sam, table="crm.orders").status_code == 409
        assert SharedTable.objects.get().table == salaries

    def test_is_not_changed_on_the_tab_of_their_own(self, orders, retail, salaries):
        sam = with_right("share", orders)
        others = new_shared_table(retail, "hr.salaries", table=salaries)

        answers = [
            sam.post(f"{TAB}/{others.id}/update", {"comment": "mine"}),
            sam.post(f"{TAB}/{others.id}/rule", {"recipient": "acme"}),
            sam.post(f"{TAB}/{others.id}/remove"),
            sam.post(f"/shares/retail/tables/{others.id}/remove"),
            sam.post(f"/shares/retail/tables/{others.id}/update", {"comment": "mine"}),
        ]

        assert {one.status_code for one in answers} == {404}
        assert SharedTable.objects.get().comment == ""


class TestARecipient:
    @pytest.mark.usefixtures("shared")
    def test_of_another_share_is_unknown(self, orders) -> None:
        sam = with_right("share", orders)
        new_recipient("secret")

        known = put(sam, f"{CALL}/rules/secret", condition="id > 5")
        unknown = put(sam, f"{CALL}/rules/sekret", condition="id > 5")

        assert (known.status_code, unknown.status_code) == (404, 404)
        assert said(known) == said(unknown).replace("sekret", "secret")
        assert not RecipientRule.objects.exists()

    def test_of_another_share_has_no_rule_that_they_see(self, orders, shared) -> None:
        RecipientRule.objects.create(
            shared_table=shared, recipient=new_recipient("globex"), condition="id > 8"
        )
        sam = with_right("share", orders)
        edit = f"{TAB}?edit={shared.id}"

        put(sam, f"{CALL}/rules/acme", condition="id > 5")
        again = put(sam, f"{CALL}/rules/acme")
        shown = [
            *(sam.get(f"{CALL}/rules"), again),
            *(sam.get(edit), sam.get(f"{edit}&rule=globex")),
        ]
        texts = [one.content.decode() for one in shown]

        assert all("acme" in one and "id > 8" not in one for one in texts)
        assert all("id &gt; 8" not in one for one in texts)
        assert [one.count("globex") for one in texts[:3]] == [0, 0, 0]
        ada = signed_in("ada", role="ADMIN")
        assert "globex" in ada.get(f"{CALL}/rules").content.decode()

    @pytest.mark.usefixtures("shared")
    def test_sees_less_by_a_rule_that_ends(self, orders) -> None:
        sam = with_right("share", orders)

        put(sam, f"{CALL}/rules/acme", condition="id > 5")
        listed = sam.get(f"{CALL}/rules").json()["rules"]
        sam.delete(f"{CALL}/rules/acme")

        assert [one["recipient"] for one in listed] == ["acme"]
        assert not RecipientRule.objects.exists()


class TestAWholeNamespace:
    CALL = "/api/v1/shares/retail/schemas"

    @pytest.mark.usefixtures("orders")
    def test_is_shared_and_taken_out_by_who_may_share_it(self) -> None:
        sam = with_right("share", "crm")

        added = sam.post(self.CALL, {"namespace": "crm"}, content_type=JSON)
        read = sam.get(f"{self.CALL}/crm")
        removed = sam.delete(f"{self.CALL}/crm")

        statuses = [one.status_code for one in (added, read, removed)]
        assert statuses == [201, 200, 204]

    def test_is_not_shared_by_who_may_share_one_of_its_tables(self, orders) -> None:
        sam = with_right("share", orders)

        answer = sam.post(self.CALL, {"namespace": "crm"}, content_type=JSON)

        assert answer.status_code == 403
        assert not SharedSchema.objects.exists()

    @pytest.mark.usefixtures("orders", "salaries")
    def test_of_others_is_not_taken_out(self, retail) -> None:
        sam = with_right("share", "crm")
        stamp = command_stamp()
        schema = add_schema(retail, schema="hr", namespace="hr", stamp=stamp)

        answers = [
            sam.get(f"{self.CALL}/hr"),
            sam.delete(f"{self.CALL}/hr"),
            sam.post(f"/shares/retail/schemas/{schema.id}/remove"),
        ]

        assert {one.status_code for one in answers} == {404}
        assert SharedSchema.objects.exists()


class TestWhatStaysWithAdministrators:
    def test_is_every_other_change_of_a_share(self, orders, shared) -> None:
        sam = with_right("own", orders)
        api = "/api/v1/shares"

        answers = [
            sam.get(api),
            sam.get(f"{api}/retail"),
            sam.post(api, {"name": "new"}, content_type=JSON),
            sam.patch(f"{api}/retail", {"comment": "x"}, content_type=JSON),
            sam.delete(f"{api}/retail"),
            sam.put(f"{api}/retail/grants/acme"),
            sam.get(f"{api}/retail/schemas"),
            sam.get("/shares/retail/"),
            sam.get(f"/shares/retail/tables/{shared.id}/seen"),
            sam.post("/shares/retail/tables/add", {"table": "crm.orders"}),
        ]

        assert {one.status_code for one in answers} == {403}

    @pytest.mark.parametrize("share", ["retail", "unknown"])
    def test_is_what_shares_there_are_for_who_shares_nothing(self, orders, share):
        sam = with_right("edit", orders)
        call = f"/api/v1/shares/{share}/tables/crm.orders"

        answers = [sam.get(call), put(sam, call), sam.delete(call)]

        assert {one.status_code for one in answers} == {403}
        assert len({said(one) for one in answers}) == 1


class TestTheTabSharing:
    def test_is_found_by_who_may_share_the_table(self, orders) -> None:
        shows = with_right("share", orders).get("/t/crm/orders/").content.decode()
        hides = with_right("view", orders, "vic").get("/t/crm/orders/").content.decode()

        assert TAB in shows
        assert TAB not in hides

    def test_adds_the_table_to_a_share(self, orders) -> None:
        sam = with_right("share", orders)

        answer = sam.post(
            f"{TAB}/add", {"share": "retail", "condition": "id > 3", "columns": "id"}
        )

        assert (answer.status_code, answer["Location"]) == (302, TAB)
        shared = SharedTable.objects.get()
        assert shared.full_name == "crm.orders"
        assert (shared.condition, shared.columns) == ("id > 3", ["id"])
        assert not shared.with_history  # the box was not sent, so it is not checked

    def test_shows_its_form_again_with_the_error(self, orders, shared) -> None:
        sam = with_right("share", orders)
        new_share("other")
        tab = f"{TAB}/{shared.id}"

        for address, sent in (
            (f"{TAB}/add", {"share": "other", "condition": "nope ="}),
            (f"{tab}/update", {"condition": "nope ="}),
            (f"{tab}/rule", {"recipient": "acme", "condition": "nope ="}),
        ):
            answer = sam.post(address, sent)

            assert answer.status_code == 422
            text = answer.content.decode()
            assert 'value="nope ="' in text
            assert text.count("dw-error-text") == 1

    def test_changes_terms_and_rules_and_takes_the_table_out(self, orders, shared):
        sam = with_right("share", orders)
        tab = f"{TAB}/{shared.id}"

        sam.post(f"{tab}/update", {"condition": "id > 7", "columns": "id"})
        sam.post(f"{tab}/rule", {"recipient": "acme", "condition": "id > 9"})
        shown = sam.get(f"{TAB}?edit={shared.id}").content.decode()
        ruled = sam.get(f"{TAB}?edit={shared.id}&rule=acme").content.decode()

        assert "id &gt; 7" in shown
        # The empty form of a new rule does not offer who has one: it would remove it.
        assert '<option value="duff">' in shown
        assert '<option value="acme">' not in shown
        assert '<option value="acme">' in ruled
        assert 'value="id &gt; 9"' in ruled
        assert sam.post(f"{tab}/remove")["Location"] == TAB
        assert not SharedTable.objects.exists()

    def test_has_no_forms_for_an_editor_without_the_right(self, shared) -> None:
        Table.objects.update(is_private=False)
        text = signed_in("eve", role="EDITOR").get(f"{TAB}?edit={shared.id}")

        assert text.status_code == 200
        assert f"{TAB}/add" not in text.content.decode()
        assert f"{shared.id}/update" not in text.content.decode()


def test_whoever_lost_the_right_leaves_what_was_shared(orders) -> None:
    sam = with_right("share", orders)
    put(sam)

    Grant.objects.update(ended_at=timezone.now())

    assert sam.delete(CALL).status_code == 403
    assert SharedTable.objects.exists()
