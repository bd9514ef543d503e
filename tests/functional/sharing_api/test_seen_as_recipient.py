"""What a provider is shown of a recipient is what the recipient is answered."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.sharing.models import RecipientRule, RecipientToken, SharedTable
from apps.sharing.recipients import seen
from apps.tables.models import Table
from tests.functional import command_line
from tests.functional.sharing_api.calls import Caller, Lake, error, items, lines
from tests.functional.sharing_api.ruled import Ruled, new_staff
from tests.support.pages.factories import (
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    signed_in,
)


@pytest.fixture
def admin(db: None) -> Client:  # noqa: ARG001 (a database)
    return signed_in("ada", role=User.Role.ADMIN)


@pytest.fixture
def staff(db: None, tmp_path: Path, settings: Settings) -> Ruled:  # noqa: ARG001 (a database)
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    root = tmp_path / "lake" / "staff"
    table = new_table("hr.staff", location=str(root), version=3)
    shared = new_shared_table(new_share("People"), "hr.staff", table=table)
    return Ruled(new_staff(root), shared)


def look(admin: Client, name: str = "acme", **query: str):
    answer = admin.get(f"/recipients/{name}/seen.json", query)
    assert answer.status_code == 200
    return answer.json()


def answer_to(document, end: str, asked_format: str | None = None):
    """The answer to the request whose path has this end."""
    tables = [one for table in document["tables"] for one in table["answers"]]
    (found,) = [
        one
        for one in [*document["answers"], *tables]
        if one["request"].endswith(end) and one["asked_format"] in {asked_format, None}
    ]
    return found


def test_files_and_lists_are_those_that_the_recipient_gets(admin, acme) -> None:
    shown = look(admin)

    for asked_format in ("parquet", "delta"):
        header = {"delta-sharing-capabilities": f"responseformat={asked_format}"}
        got = lines(acme.query("/shares/Sales/schemas/crm/tables/Orders", **header))
        told = answer_to(shown, "/query", asked_format)
        assert told["num_files"] == len(got) - 2
        assert (told["status"], told["version"]) == (200, 3)
    listed = items(acme.get("/shares/Sales/all-tables"))
    assert answer_to(shown, "/all-tables?maxResults=10")["names"] == [
        f"{one['schema']}.{one['name']}" for one in listed
    ]
    assert answer_to(shown, "/shares")["names"] == ["Sales"]
    assert answer_to(shown, "/schemas")["names"] == ["crm"]
    assert answer_to(shown, "/metadata", "delta")["columns"] == ["id", "day"]
    assert shown["tables"][0]["formats"] == ["parquet", "delta"]


def test_a_refusal_is_told_by_its_sentence_and_code(admin, staff, new_caller) -> None:
    acme = new_caller("acme", staff.shared.share, properties={"region": "EU"})
    staff.rule("region = recipient.region", "id", "region", "note")
    RecipientRule.objects.create(
        shared_table=staff.shared, recipient=acme.recipient, columns=["id", "region"]
    )

    (table,) = look(admin)["tables"]
    refused = staff.query(acme)

    assert table["conditions"] == ["region = recipient.region"]
    assert table["columns"] == ["id", "region"]
    assert table["properties"] == {"region": "EU"}
    assert table["formats"] == []
    told = table["answers"][-1]
    assert told["status"] == refused.status_code == 409
    assert {"errorCode": told["error_code"], "message": told["message"]} == error(
        refused
    )

    staff.prepare()
    (table,) = look(admin)["tables"]
    assert table["formats"] == ["parquet", "delta"]
    assert table["answers"][-1]["num_files"] == len(lines(staff.query(acme))) - 2
    assert table["answers"][1]["columns"] == ["id", "region"]


def test_a_look_leaves_no_token_and_no_use(admin, acme) -> None:
    before = set(RecipientToken.objects.values_list("id", "last_used_at"))

    look(admin)

    assert set(RecipientToken.objects.values_list("id", "last_used_at")) == before
    assert not AuditEvent.objects.filter(kind=AuditEvent.Kind.CALL).exists()
    assert not AuditEvent.objects.filter(recipient_id=acme.recipient.id).exists()


def test_a_recipient_without_shares_lists_nothing(admin: Client) -> None:
    new_recipient("hooli")

    shown = look(admin, "hooli")
    page = admin.get("/recipients/hooli/seen").content.decode()

    assert (shown["share"], shown["tables"], shown["tokens"]) == (None, [], "none")
    assert answer_to(shown, "/shares")["names"] == []
    assert "it sees no share" in page
    assert "No token of hooli works now" in page


def test_a_share_that_is_off_is_not_there(admin: Client, lake: Lake, acme: Caller):
    share = lake.shared.share
    share.off_since = timezone.now() - timedelta(hours=1)
    share.save()

    shown = look(admin, share="Sales")
    refused = error(acme.get("/shares/Sales"))

    assert shown["answers"][-1]["message"] == refused["message"]
    assert shown["answers"][-1]["status"] == 404
    assert shown["withheld"] == [{"name": "Sales", "reason": "the share is off"}]
    assert look(admin)["share"] is None


def test_a_table_whose_files_are_gone_is_refused_and_then_withdrawn(admin, lake, acme):
    shutil.rmtree(lake.shared.table.location)

    told = answer_to(look(admin), "/query", "delta")
    refused = acme.query("/shares/Sales/schemas/crm/tables/Orders")

    assert told["message"] == error(refused)["message"]
    assert told["error_code"] == error(refused)["errorCode"]

    Table.objects.filter(id=lake.shared.table_id).update(vanished_at=timezone.now())
    shown = look(admin)
    assert shown["tables"] == []
    assert [one["name"] for one in shown["withheld"]] == ["Sales.crm.Orders"]
    assert "its files are missing" in shown["withheld"][0]["reason"]


def test_a_large_share_is_seen_a_page_at_a_time(admin, lake, acme, monkeypatch):
    monkeypatch.setattr(seen, "TABLES_A_PAGE", 2)
    share, table = lake.shared.share, lake.shared.table
    for number in range(2):
        new_shared_table(share, f"crm.part{number}", table=table)

    first = look(admin)
    second = look(admin, share="Sales", pageToken=first["next_page_token"])
    page = admin.get(f"/recipients/{acme.recipient.name}/seen").content.decode()

    names = [one["name"] for shown in (first, second) for one in shown["tables"]]
    assert names == ["Sales.crm.Orders", "Sales.crm.part0", "Sales.crm.part1"]
    assert second["next_page_token"] is None
    assert "Next tables" in page
    assert SharedTable.objects.count() == 3


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("token", ["x", "\0", "A" * 5_000])
def test_a_page_token_that_is_none_is_refused_as_recipients_are(admin, token):
    shown = look(admin, share="Sales", pageToken=token)

    assert shown["answers"][-1]["error_code"] == "INVALID_PARAMETER_VALUE"
    assert shown["tables"] == []


@pytest.mark.usefixtures("acme")
def test_the_command_says_what_the_page_says(admin: Client) -> None:
    document = command_line.run_json("recipient", "see", "acme")
    said = command_line.Ran("recipient", "see", "acme").stdout
    page = admin.get("/recipients/acme/seen").content.decode()

    assert document == look(admin)
    for text in ("/shares/Sales/schemas/crm/tables/Orders/query", "version 3"):
        assert text in said
        assert text in page


@pytest.mark.usefixtures("acme")
def test_pages_of_recipients_and_shares_lead_to_it(admin: Client) -> None:
    recipient = admin.get("/recipients/acme/").content.decode()
    share = admin.get("/shares/Sales/").content.decode()

    assert "/recipients/acme/seen" in recipient
    assert "/recipients/acme/seen?share=Sales" in share
