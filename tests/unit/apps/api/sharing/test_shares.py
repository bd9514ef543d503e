"""Shares, their tables and readers by REST."""

import pytest

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.pages.actions import command_stamp
from apps.sharing.models import Grant, Share, SharedTable
from apps.tables.storage.connections import add_connection
from deltaweb.storage.objects.vending.options import ROLE_OPTION
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)
from tests.support.pages.rest import V1, Script, refusal

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SHARES = f"{V1}/shares"
TABLE = f"{SHARES}/retail/tables/crm.orders"


@pytest.fixture
def script() -> Script:
    return Script()


def recorded() -> list[str]:
    return [*AuditEvent.objects.order_by("id").values_list("action", flat=True)]


class TestShares:
    def test_are_made_listed_changed_and_deleted(self, script: Script) -> None:
        made = script.made(SHARES, {"name": "retail", "comment": "of the shop"})
        listed = script.call("GET", SHARES).json()
        changed = script.made(
            f"{SHARES}/retail", {"name": "shop", "comment": ""}, method="PATCH"
        )
        deleted = script.call("DELETE", f"{SHARES}/shop")

        assert (made["name"], made["created_by"]) == ("retail", "ada")
        assert [one["name"] for one in listed["shares"]] == ["retail"]
        assert (changed["name"], changed["comment"]) == ("shop", "")
        assert (deleted.status_code, deleted.content) == (204, b"")
        assert not Share.objects.exists()

    def test_one_shows_its_tables_and_readers(self, script: Script) -> None:
        share = new_share("retail")
        new_shared_table(share, "crm.orders")
        new_grant(share, new_recipient("acme"))

        shown = script.call("GET", f"{SHARES}/Retail").json()

        assert [one["name"] for one in shown["tables"]] == ["crm.orders"]
        assert [one["name"] for one in shown["readers"]] == ["acme"]

    @cases(
        "body, status, error",
        {
            "taken": ({"name": "retail"}, 409, "name-taken"),
            "no name": ({"name": "a/b"}, 422, "name-invalid"),
            "without a name": ({}, 400, "body-invalid"),
            "unknown": ({"name": "x", "remark": ""}, 400, "unknown-parameter"),
        },
    )
    def test_that_cannot_be_made_say_why(self, script, body, status, error) -> None:
        new_share("retail")

        answer = script.call("POST", SHARES, body)

        assert refusal(answer) == (status, error)

    def test_are_turned_off_and_on(self, script: Script) -> None:
        new_share("retail")

        off = script.made(f"{SHARES}/retail", {"is_on": False}, method="PATCH")
        on = script.made(f"{SHARES}/retail", {"is_on": True}, method="PATCH")

        assert (off["off_since"] is None, on["off_since"]) == (False, None)
        assert recorded()[-2:] == ["share.switch_off", "share.switch_on"]

    def test_are_prepared_and_proved_by_a_job(self, script: Script) -> None:
        new_share("retail")

        answer = script.call("POST", f"{SHARES}/retail/prepare", {"prove": True})

        assert answer.status_code == 202
        job = Job.objects.get(id=answer.json()["job"]["id"])
        assert (job.kind, job.parameters["proves"]) == ("sharing.prepare_share", True)

    def test_that_are_not_there_are_a_404(self, script: Script) -> None:
        answer = script.call("GET", f"{SHARES}/nothing")

        assert refusal(answer) == (404, "share-not-found")

    @pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
    def test_are_for_administrators(self, role: str) -> None:
        script = Script(role=role, name="vera")

        assert script.call("GET", SHARES).status_code == 403
        assert script.call("POST", SHARES, {"name": "x"}).status_code == 403
        assert not Share.objects.exists()

    def test_need_a_key_that_is_for_sharing(self) -> None:
        script = Script("write")

        read, made = script.call("GET", SHARES), script.call("POST", SHARES, {})

        assert read.status_code == 200
        assert refusal(made) == (403, "scope-required")


class TestTablesOfAShare:
    def test_are_put_in_changed_and_taken_out(self, script: Script) -> None:
        new_share("retail")
        new_table("sales.orders")

        added = script.call("PUT", TABLE, {"table": "sales.orders"})
        changed = script.call(
            "PUT", TABLE, {"table": "sales.orders", "with_history": False}
        )
        shown = script.call("GET", TABLE).json()
        removed = script.call("DELETE", TABLE)

        assert (added.status_code, changed.status_code) == (201, 200)
        assert added.json()["name"] == "crm.orders"
        assert added.json()["table"] == "sales.orders"
        assert added.json()["with_history"] is True
        assert shown["with_history"] is False
        assert removed.status_code == 204
        assert not SharedTable.objects.exists()
        assert recorded()[-3:] == [
            "share.add_table",
            "share.close_history",
            "share.remove_table",
        ]

    def test_are_by_default_the_registered_ones_of_their_names_and_stay(self, script):
        new_share("retail")
        new_table("crm.orders")
        new_table("sales.orders")

        added = script.made(TABLE, method="PUT")
        answer = script.call("PUT", TABLE, {"table": "sales.orders"})

        assert added["table"] == "crm.orders"
        assert refusal(answer) == (409, "name-taken")
        assert SharedTable.objects.get().table.full_name == "crm.orders"

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            ({"table": "no.such"}, 422, "table-not-registered"),
            (
                {"with_history": False, "start_version": 1},
                422,
                "start-version-invalid",
            ),
            ({"start_version": "x"}, 400, "body-invalid"),
            ({"start_version": 10**30}, 422, "start-version-invalid"),
            ({"partition_filter": "((("}, 422, "condition-invalid"),
            ({"condition": "((("}, 422, "condition-invalid"),
            ({"columns": ["nothing"]}, 422, "condition-invalid"),
            ({"columns": [""]}, 422, "condition-invalid"),
        ],
    )
    def test_that_cannot_be_shared_say_why(self, script, body, status, error) -> None:
        new_share("retail")
        new_table("crm.orders")

        answer = script.call("PUT", TABLE, body)

        assert (answer.json()["error"], answer.status_code) == (error, status)

    def test_keep_their_directory_open_unless_it_is_closed(self, script) -> None:
        place = "s3://lake/orders"
        table = new_table("crm.orders", location=place)
        new_shared_table(
            new_share("retail"), "crm.orders", table=table, with_directory=True
        )
        add_connection(
            name="lake",
            prefix="s3://lake",
            options={ROLE_OPTION: "arn:aws:iam::1:role/x"},
            stamp=command_stamp(),
        )

        kept = script.made(TABLE, {"table": "crm.orders"}, method="PUT")
        closed = script.made(TABLE, {"with_directory": False}, method="PUT")

        assert (kept["with_directory"], closed["with_directory"]) == (True, False)
        assert recorded()[-1:] == ["share.close_directory"]

    def test_keep_their_bounds_when_another_field_is_changed(self, script) -> None:
        new_metadata(new_table("sales.orders"))
        new_share("retail")
        offer = {
            "table": "sales.orders",
            "condition": "id > 3",
            "columns": ["id"],
            "start_version": 1,
        }
        script.made(TABLE, offer, method="PUT")

        changed = script.made(TABLE, {"comment": "of the North"}, method="PUT")
        opened = script.made(TABLE, {"condition": None, "columns": None}, method="PUT")

        kept = {name: changed[name] for name in offer}
        assert (kept, changed["comment"]) == (offer, "of the North")
        assert (opened["condition"], opened["start_version"]) == (None, 1)
        assert SharedTable.objects.get().columns == []

    def test_take_the_condition_by_either_name(self, script) -> None:
        new_metadata(new_table("crm.orders"))
        new_share("retail")
        both = {"condition": None, "partition_filter": "id > 5"}

        made = script.made(TABLE, {"partition_filter": "id > 3"}, method="PUT")
        other = script.made(TABLE, both, method="PUT")

        assert (made["condition"], other["condition"]) == ("id > 3", "id > 5")

    def test_show_single_recipients_less(self, script: Script) -> None:
        shared = new_shared_table(new_share("retail"), "crm.orders")
        new_metadata(shared.table)
        new_recipient("acme")

        made = script.made(f"{TABLE}/rules/acme", {"columns": ["id"]}, method="PUT")
        listed = script.call("GET", f"{TABLE}/rules").json()
        wrong = script.call("PUT", f"{TABLE}/rules/acme", {"columns": ["no"]})
        taken = script.call("DELETE", f"{TABLE}/rules/acme")

        rule = {"recipient": "acme", "condition": None, "columns": ["id"]}
        assert made == listed == {"rules": [rule], "earlier_urls_end_at": None}
        assert (wrong.status_code, taken.status_code) == (422, 204)
        assert not shared.rules.exists()
        assert recorded()[-2:] == ["share.narrow_table"] * 2


class TestWholeSchemas:
    def test_are_added_listed_and_withdrawn(self, script: Script) -> None:
        new_share("retail")
        new_table("crm.orders")
        schemas = f"{SHARES}/retail/schemas"

        added = script.made(schemas, {"namespace": "crm", "schema": "sales"})
        listed = script.call("GET", schemas).json()
        one = script.call("GET", f"{schemas}/SALES").json()
        withdrawn = script.call("DELETE", f"{schemas}/sales")

        assert (added["schema"], added["namespace"]) == ("sales", "crm")
        assert added["num_tables"] == 1
        assert (listed, one) == ({"schemas": [added]}, added)
        assert withdrawn.status_code == 204
        assert not SharedTable.objects.exists()
        assert recorded()[-2:] == ["share.add_schema", "share.remove_schema"]

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            ({"namespace": "nothing"}, 422, "namespace-unknown"),
            ({"namespace": "crm", "schema": "a/b"}, 422, "name-invalid"),
            ({}, 400, "body-invalid"),
        ],
    )
    def test_that_cannot_be_added_say_why(self, script, body, status, error) -> None:
        new_share("retail")
        new_table("crm.orders")

        answer = script.call("POST", f"{SHARES}/retail/schemas", body)

        assert (answer.json()["error"], answer.status_code) == (error, status)


class TestGrants:
    def test_are_given_listed_and_taken(self, script: Script) -> None:
        new_share("retail")
        new_recipient("acme")
        grants = f"{SHARES}/retail/grants"

        given = script.made(f"{grants}/acme", method="PUT")
        listed = script.call("GET", grants).json()
        taken = script.call("DELETE", f"{grants}/acme")

        assert given["shares"] == ["retail"]
        assert [one["name"] for one in listed["recipients"]] == ["acme"]
        assert taken.status_code == 204
        assert not Grant.objects.exists()
        assert recorded()[-2:] == ["grant.add", "grant.remove"]
