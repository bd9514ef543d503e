"""After a restore, an administrator sees what works again, and decides."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from apps.accounts.models import APIKey, User
from apps.audit.models import AuditEvent
from apps.notices.models import Delivery, Webhook
from apps.operate.models import Restoration
from apps.operate.switches.state import OFF_AFTER_RESTORE, off_sentence, states, turn
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.sharing.models import Recipient, RecipientToken
from tests.functional.command_line import Ran, run_json
from tests.support.pages.factories import (
    new_api_key,
    new_grant,
    new_recipient,
    new_share,
    new_token,
    new_user,
    signed_in,
)

pytestmark = pytest.mark.django_db
PAGE = "/admin-area/restored/"
MADE_AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
BANNER = "This server was restored from a backup"


@pytest.fixture
def admin() -> Client:
    return signed_in("ada", role="ADMIN")


@pytest.fixture
def restored(admin: Client) -> Restoration:
    """A restored server with a token, a key and an event for a webhook."""
    del admin
    new_grant(new_share("partners"), new_recipient("acme"))
    now = timezone.now()
    bob = new_user("bob", role="EDITOR")
    webhook = Webhook.objects.create(
        user=bob, url="https://x.example/", host="x.example", created_at=now
    )
    Delivery.objects.create(webhook=webhook, order="", created_at=now, due_at=now)
    new_token(Recipient.objects.get())
    stamp = Stamp(COMMAND_LINE, timezone.now())
    turn(OFF_AFTER_RESTORE, is_off=True, sentence="It is checked.", stamp=stamp)
    found = Restoration.objects.create(
        restored_at=timezone.now(),
        made_at=MADE_AT,
        made_by="0.9.0",
        decisions={"jobs": 2, "links": 1, "unreadable": ["lake"]},
    )
    states.forget()
    return found


def line(
    action: str, at: datetime = MADE_AT + timedelta(days=1), **more: object
) -> str:
    fields = {"at": at.isoformat(), "kind": "CHANGE", "action": action, "actor": "eva"}
    return json.dumps({**fields, **more})


def revoked_lines() -> str:
    prefix = RecipientToken.objects.get().prefix
    return "\n".join(
        [
            line("token.revoke", token_prefix=prefix, recipient="acme"),
            line("token.revoke", MADE_AT - timedelta(days=1), token_prefix=prefix),
            line("token.revoke", token_prefix="of-later", recipient="acme"),
            "<110>1 2026-11-02 host deltaweb 7 audit - "
            + line("grant.remove", share="partners", recipient="acme"),
            line("grant.remove", share="partners", recipient="globex"),
            line("table.rename", table="orders"),
            line("user.disable", detail={"user": "bob"}),
            line("user.set_role", detail={"user": "bob", "old": "Viewer"}),
        ]
    )


CAME_BACK = {"Grant: share partners, recipient acme", "Account bob"}


@pytest.mark.usefixtures("restored")
def test_the_page_says_what_each_part_would_do(admin: Client) -> None:
    shown = admin.get(PAGE).content.decode()

    for said in (
        "1 token of 1 recipient can be used to read 1 share",
        "1 waiting event will be sent to 1 webhook",
        "2 accounts can sign in",
        "2 active jobs and 1 one-time link were cancelled",
        "The credentials of the storage lake cannot be read",
        "The backup does not know what was revoked later",
    ):
        assert said in shown
    found = admin.get(f"{PAGE[:-1]}.json").json()["restoration"]
    assert [one["switch"] for one in found["parts"]] == [*OFF_AFTER_RESTORE]
    assert all(one["off"] for one in found["parts"])
    assert admin.get("/api/v1/restored").json()["restoration"] == found


@pytest.mark.usefixtures("restored")
def test_every_page_of_an_administrator_leads_there_until_all_is_on(
    admin: Client, viewer: Client
) -> None:
    assert BANNER in admin.get("/jobs/").content.decode()
    assert f'href="{PAGE}"' in admin.get("/jobs/").content.decode()
    assert f'href="{PAGE}"' not in viewer.get("/jobs/").content.decode()
    assert viewer.get("/jobs/").content.decode().count("It is checked.") == 1

    for name in OFF_AFTER_RESTORE:
        assert BANNER in admin.get("/jobs/").content.decode()
        sent = admin.post(f"{PAGE}{name}/on")
        assert (sent.status_code, sent["Location"]) == (302, PAGE)
        assert off_sentence(name) is None

    assert BANNER not in admin.get("/jobs/").content.decode()
    assert Restoration.objects.get().decided_by == "ada"
    admin.post("/admin-area/switches/sharing/off")
    assert BANNER not in admin.get("/jobs/").content.decode()


@pytest.mark.usefixtures("restored")
def test_the_rest_can_be_left_off(admin: Client) -> None:
    admin.post(f"{PAGE}sharing/on")
    admin.post(f"{PAGE}finish")

    assert BANNER not in admin.get("/jobs/").content.decode()
    assert off_sentence("sign-in") == "It is checked."
    assert "Leave the rest off" not in admin.get(PAGE).content.decode()
    assert AuditEvent.objects.get(action="server.decide").actor == "ada"


@pytest.mark.usefixtures("restored")
def test_each_kind_is_revoked_by_page_rest_and_command(admin: Client) -> None:
    admin.post(f"{PAGE}revoke", {"what": "deliveries"})
    assert Delivery.objects.get().state == Delivery.State.DROPPED
    assert RecipientToken.objects.get().revoked_at is None

    new_api_key(new_user("key"))
    APIKey.objects.update(created_at=MADE_AT)
    path, json_type = "/api/v1/restored/revoke", "application/json"
    sent = admin.post(path, {"what": ["tokens"]}, content_type=json_type)
    assert sent.json() == {"revoked": [{"name": "tokens", "count": 1}]}
    refused = admin.post(path, {"what": ["accounts"]}, content_type=json_type)
    assert (refused.status_code, refused.json()["error"]) == (422, "revival-unknown")

    done = run_json("restored", "revoke", "--yes")
    counts = {one["name"]: one["count"] for one in done["revoked"]}
    assert counts == {"api-keys": 1, "tokens": 0}
    assert APIKey.objects.get().revoked_at is not None


@pytest.mark.usefixtures("restored")
def test_a_file_of_audit_lines_says_what_came_back(
    admin: Client, tmp_path: Path
) -> None:
    text = revoked_lines()
    prefix = RecipientToken.objects.get().prefix
    expected = CAME_BACK | {f"Token {prefix}… of acme"}

    sent = admin.post(
        f"{PAGE}compare", {"file": SimpleUploadedFile("audit.jsonl", text.encode())}
    )
    assert (sent.status_code, sent["Location"]) == (302, PAGE)
    shown = admin.get(PAGE).content.decode()
    assert "These 3 withdrawn rights came back:" in shown
    assert all(one in shown for one in expected)

    file = tmp_path / "audit.jsonl"
    file.write_text(text)
    by_command = run_json("restored", "compare", str(file))
    by_rest = admin.post(
        "/api/v1/restored/compare", {"lines": text}, content_type="application/json"
    ).json()
    for found in (by_command, by_rest):
        assert {one["access"] for one in found["came_back"]} == expected
        assert (found["num_changes"], found["num_back"]) == (7, 3)
    run_json("restored", "revoke", "--yes")
    again = run_json("restored", "compare", str(file))
    assert {one["access"] for one in again["came_back"]} == CAME_BACK


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "there is no line of an audit record"),
        (b"\xff\xfe nonsense", "line 1 is not of an audit record"),
        (b'{"at": 7, "action": "x"}', "line 1 is not of an audit record"),
        (b"{" * 100_000, "line 1 is not of an audit record"),
        (b"x" * 3_500_001, "too large for a page"),
    ],
)
@pytest.mark.usefixtures("restored")
def test_another_file_is_refused_beside_its_field(
    admin: Client, content: bytes, said: str
) -> None:
    sent = admin.post(f"{PAGE}compare", {"file": SimpleUploadedFile("x", content)})

    assert sent.status_code == 422
    assert said in sent.content.decode()
    assert admin.post(f"{PAGE}compare").status_code == 422
    with pytest.raises(CommandError, match="cannot be read"):
        Ran("restored", "compare", "/nowhere/audit.jsonl")


@pytest.mark.usefixtures("restored")
def test_a_key_of_before_waits_for_sign_in(admin: Client) -> None:
    eva = new_user("eva", role="VIEWER")
    old, new = new_api_key(eva), new_api_key(eva)
    first = APIKey.objects.order_by("created_at").first()
    assert first is not None
    APIKey.objects.filter(id=first.id).update(created_at=MADE_AT)

    refused = Client().get("/api/v1/tables", headers=old)

    assert (refused.status_code, refused.json()["error"]) == (503, "switched-off")
    assert "made before work again" in refused.json()["message"]
    assert Client().get("/api/v1/tables", headers=new).status_code == 200
    admin.post(f"{PAGE}sign-in/on")
    assert Client().get("/api/v1/tables", headers=old).status_code == 200


def test_a_server_that_was_not_restored_has_nothing_to_decide(admin: Client) -> None:
    assert "was not restored from a backup" in admin.get(PAGE).content.decode()
    assert admin.get("/api/v1/restored").json() == {"restoration": None}
    assert admin.post("/api/v1/restored/finish").status_code == 404
    assert admin.post(f"{PAGE}finish").status_code == 404
    with pytest.raises(CommandError, match="was not restored from a backup"):
        Ran("restored", "show")


@pytest.mark.usefixtures("restored")
def test_only_administrators_see_and_decide(viewer: Client, editor: Client) -> None:
    for client in (viewer, editor):
        assert client.get(PAGE).status_code == 403
        assert client.get("/api/v1/restored").status_code == 403
        for what in ("compare", "finish", "revoke", "sharing/on"):
            assert client.post(f"{PAGE}{what}").status_code == 403
    assert Client().get(PAGE).status_code == 302
    assert User.objects.count() >= 2
    assert off_sentence("sharing") is not None
