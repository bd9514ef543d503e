"""Reads of somebody who stands in for a recipient: a rehearsal, or the doctor."""

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.pages.actions import Actor, Stamp
from apps.sharing.issuing.throw_away import throw_away
from apps.sharing.issuing.tokens import revoke_all
from apps.sharing.models import LastRead, Recipient, RecipientToken
from apps.sharing.recipients.reminders import reminders
from tests.functional.iceberg_api.clients import TABLE, catalog
from tests.functional.sharing_api.calls import Caller, Lake, body_of, files
from tests.functional.sharing_api.ruled import close_file
from tests.support import cases
from tests.support.pages.factories import (
    new_call,
    new_grant,
    new_recipient,
    new_token,
    signed_in,
)

ADA = Actor(name="ada", user_id=None)


@pytest.fixture
def admin(db: None) -> Client:  # noqa: ARG001 (a database)
    return signed_in("ada", role=User.Role.ADMIN)


@pytest.fixture
def initech(lake: Lake) -> Recipient:
    """A recipient that has never come in."""
    recipient = new_recipient("initech")
    new_grant(lake.shared.share, recipient)
    return recipient


@pytest.fixture
def stand_in(initech: Recipient) -> Iterator[Caller]:
    """Who reads in its place."""
    stamp = Stamp(ADA, timezone.now())
    with throw_away(initech, stamp=stamp) as (token, profile):
        yield Caller(token, json.loads(profile.to_json())["bearerToken"])


def read_all(caller: Caller, lake: Lake) -> None:
    """Call the endpoints that a client calls, and one that refuses."""
    caller.get("/shares")
    caller.get(f"{lake.path}/version")
    caller.get(f"{lake.path}/metadata")
    assert files(caller.query(lake.path))
    body_of(caller.query(lake.path, {"startingVersion": 1}))
    assert catalog(caller, TABLE).status_code == 200
    assert caller.query(lake.path, {"version": 99}).status_code == 400


def text(client: Client, path: str, **query: str) -> str:
    answer = client.get(path, query)
    assert answer.status_code == 200, answer.content
    return re.sub(r"\s+", " ", answer.content.decode())


def document(client: Client, path: str, **query: str) -> Any:  # noqa: ANN401 (any document)
    return json.loads(text(client, path, **query))


class TestRecord:
    def test_names_who_asked_and_in_whose_place(self, stand_in, lake, admin) -> None:
        read_all(stand_in, lake)

        calls = AuditEvent.objects.exclude(kind=AuditEvent.Kind.CHANGE)
        assert {(one.kind, one.actor, one.recipient) for one in calls} == {
            ("REHEARSAL", "ada", "initech")
        }
        assert calls.count() == 7
        shown = text(admin, "/activity/")
        assert "ada, rehearsing as initech" in shown
        assert '<b class="dw-strong">initech</b>' not in shown

    def test_can_be_filtered(self, stand_in, lake, admin) -> None:
        new_call(recipient="globex", share="Sales")
        read_all(stand_in, lake)

        rehearsed = document(admin, "/activity.json", kind="REHEARSAL")
        called = document(admin, "/activity.json", kind="CALL")
        by_ada = document(admin, "/activity.json", kind="REHEARSAL", who="ada")
        of_initech = document(admin, "/activity.json", recipient="initech")

        assert {one["recipient"] for one in rehearsed["events"]} == {"initech"}
        assert {one["actor"] for one in rehearsed["events"]} == {"ada"}
        assert [one["recipient"] for one in called["events"]] == ["globex"]
        assert len(by_ada["events"]) == len(rehearsed["events"]) == 7
        assert "CALL" not in {one["kind"] for one in of_initech["events"]}
        assert '<option value="REHEARSAL">Rehearsals</option>' in text(
            admin, "/activity/"
        )

    def test_says_the_same_as_csv(self, stand_in, lake, admin) -> None:
        read_all(stand_in, lake)

        answer = admin.get("/activity.csv", {"kind": "REHEARSAL"})

        body = body_of(answer).decode()
        rows = list(csv.DictReader(io.StringIO(body.removeprefix("\ufeff"))))
        assert {(one["kind"], one["actor"], one["recipient"]) for one in rows} == {
            ("REHEARSAL", "ada", "initech")
        }
        assert len(rows) == 7

    def test_of_earlier_releases_is_no_read_of_the_recipient(self, admin) -> None:
        """Rehearsals were calls with the recipient's name and without its id."""
        new_call(recipient="initech", share="Sales", token_prefix="dwr_1")

        shown = text(admin, "/activity/")

        assert "rehearsal as initech" in shown
        assert '<b class="dw-strong">initech</b>' not in shown


class TestUse:
    def test_is_nobodys(self, stand_in, lake, initech, admin) -> None:
        read_all(stand_in, lake)

        share = document(admin, "/shares/Sales.json")
        used = document(admin, "/recipients/initech/usage.json")
        recipient = document(admin, "/recipients/initech.json")
        listed = document(admin, "/recipients.json")["recipients"]
        table = document(admin, "/t/crm/orders/sharing.json")

        assert share["use"]["num_requests"] == 0
        assert share["use"]["size_bytes"] == 0
        assert share["use"]["last"] is None
        assert share["last_read_at"] is None
        assert (used["size_bytes"], used["entries"], used["queries"]) == (0, [], [])
        assert recipient["last_used_at"] is None
        assert recipient["reads"] == []
        assert [sum(one["requests_30d"]) for one in listed] == [0]
        assert '"num_requests": 0' in json.dumps(table)
        assert not LastRead.objects.exists()
        assert initech.name == recipient["name"]

    def test_is_not_in_the_pictures_of_activity(self, stand_in, lake, admin) -> None:
        read_all(stand_in, lake)

        shown = text(admin, "/activity/")

        assert "0 answered, 0 refused" in shown
        assert "Most requested tables" not in shown
        assert "Bytes offered per day" not in shown

    def test_of_a_mix_counts_the_recipients_own(self, stand_in, lake, admin) -> None:
        read_all(stand_in, lake)
        own = Caller(
            *new_token(
                stand_in.recipient, expires_at=timezone.now() + timedelta(days=1)
            )
        )
        (before,) = [sum(f["size"] for f in files(own.query(lake.path)))]

        share = document(admin, "/shares/Sales.json")["use"]
        used = document(admin, "/recipients/initech/usage.json")

        assert (share["num_requests"], share["size_bytes"]) == (1, before)
        assert used["size_bytes"] == before


class TestToken:
    @pytest.mark.usefixtures("stand_in")
    def test_is_none_of_the_recipient(self, initech, admin) -> None:
        recipient = document(admin, "/recipients/initech.json")
        unity = admin.get("/api/2.1/unity-catalog/recipients/initech")

        assert (recipient["tokens"], recipient["num_tokens"]) == ([], 0)
        assert recipient["state"] == "none"
        assert recipient["token_ends_at"] is None
        assert "dwr_" not in unity.content.decode()
        assert not [one for one in reminders(timezone.now()) if one.recipient]
        assert not initech.tokens.exists()

    def test_lets_no_lamp_of_a_rotation_turn_green(self, initech, admin) -> None:
        """A token that replaces another one is a key of the recipient's own."""
        tomorrow = timezone.now() + timedelta(days=1)
        new_token(
            initech,
            expires_at=tomorrow,
            retires_at=tomorrow,
            last_used_at=timezone.now() - timedelta(days=30),
        )
        before = document(admin, "/recipients/initech.json")["rotation"]

        with throw_away(initech, stamp=Stamp(ADA, timezone.now())):
            during = document(admin, "/recipients/initech.json")["rotation"]

        assert before["light"] == "amber"
        assert during == before

    def test_ends_with_all_of_the_recipient(self, stand_in, lake, initech) -> None:
        assert stand_in.query(lake.path).status_code == 200

        revoke_all(initech, stamp=Stamp(ADA, timezone.now()))

        assert stand_in.query(lake.path).status_code == 401

    def test_opens_files_until_it_ends(self, initech, lake) -> None:
        stamp = Stamp(ADA, timezone.now())
        with throw_away(initech, stamp=stamp) as (token, profile):
            caller = Caller(token, json.loads(profile.to_json())["bearerToken"])
            path = files(caller.query(lake.path))[0]["url"].partition("/files/")[2]
            answer = caller.get(f"/files/{path}")
            assert answer.status_code == 200
            assert body_of(answer)
            close_file(answer)

        assert caller.get(f"/files/{path}").status_code == 403
        assert not RecipientToken.all_tokens.exists()

    @cases(
        "close",
        {
            "address": lambda initech, _: Recipient.objects.filter(
                id=initech.id
            ).update(allowed_networks=["192.0.2.0/24"]),
            "share": lambda _, lake: lake.shared.share.grants.all().delete(),
            "table": lambda _, lake: lake.shared.delete(),
        },
    )
    def test_is_named_where_a_file_is_refused(self, stand_in, initech, lake, close):
        url = files(stand_in.query(lake.path))[0]["url"].partition("/files/")[2]
        close(initech, lake)

        assert stand_in.get(f"/files/{url}").status_code == 403

        event = AuditEvent.objects.get(status=403)
        assert (event.kind, event.actor, event.recipient) == (
            "REHEARSAL",
            "ada",
            "initech",
        )
        assert event.recipient_id is None

    def test_is_named_where_the_url_of_a_file_has_ended(
        self, stand_in, lake, settings
    ) -> None:
        settings.FILE_URL_LIFETIME_S = 0
        url = files(stand_in.query(lake.path))[0]["url"].partition("/files/")[2]

        assert stand_in.get(f"/files/{url}").status_code == 403

        assert AuditEvent.objects.get(status=403).kind == "REHEARSAL"

    def test_is_not_believed_without_its_signature(self, stand_in, lake) -> None:
        url = files(stand_in.query(lake.path))[0]["url"].partition("/files/")[2]
        forged = url[:-1] + ("0" if url[-1] != "0" else "1")

        assert stand_in.get(f"/files/{forged}").status_code == 403

        event = AuditEvent.objects.get(status=403)
        assert (event.kind, event.recipient) == ("CALL", "")
