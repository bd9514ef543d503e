"""An administrator switches a part off, by page, command and REST."""

import pytest
from django.core.management import CommandError
from django.test import Client

from apps.audit.models import AuditEvent
from apps.operate.switches.state import SWITCHES, off_sentence
from tests.functional.command_line import Ran, run_json
from tests.support.pages.factories import signed_in

pytestmark = pytest.mark.django_db
PAGE = "/admin-area/switches/"


@pytest.fixture
def admin() -> Client:
    return signed_in("ada", role="ADMIN")


def test_the_page_switches_off_and_on(admin: Client) -> None:
    sent = admin.post(f"{PAGE}sharing/off", {"sentence": "Until 14:00 UTC."})
    shown = admin.get(PAGE).content.decode()

    assert (sent.status_code, sent["Location"]) == (302, PAGE)
    assert "Until 14:00 UTC." in shown
    assert off_sentence("sharing") == "Until 14:00 UTC."

    admin.post(f"{PAGE}sharing/on")

    assert off_sentence("sharing") is None
    switches = admin.get("/admin-area/switches.json").json()["switches"]
    assert [one["name"] for one in switches] == [*SWITCHES]
    assert not any(one["off"] for one in switches)


def test_only_administrators_may(viewer: Client, editor: Client) -> None:
    for client in (viewer, editor):
        assert client.get(PAGE).status_code == 403
        assert client.post(f"{PAGE}sharing/off").status_code == 403
        assert client.get("/api/v1/switches").status_code == 403
    assert Client().get(PAGE).status_code == 302
    assert off_sentence("sharing") is None


def test_the_command_says_what_people_read() -> None:
    off = run_json("switch", "off", "jobs", "--sentence", "Back at noon.")

    assert (off["name"], off["off"], off["sentence"]) == ("jobs", True, "Back at noon.")
    assert "jobs           off   Back at noon." in Ran("switch", "list").stdout
    assert Ran("switch", "on", "jobs").stdout == "Jobs: on.\n"
    with pytest.raises(CommandError, match=r"Did you mean 'jobs'\?"):
        Ran("switch", "on", "job")


def test_rest_switches_as_the_page_does(admin: Client) -> None:
    path = "/api/v1/switches/writes/off"
    body = {"sentence": "An upgrade."}

    off = admin.post(path, body, content_type="application/json")
    on = admin.delete(path)

    assert (off.status_code, off.json()["sentence"]) == (200, "An upgrade.")
    assert on.status_code == 204
    assert off_sentence("writes") is None


def test_the_record_says_who_switched_what(admin: Client) -> None:
    admin.post(f"{PAGE}sign-in/off", {"sentence": "Soon."})

    event = AuditEvent.objects.get(action="switch.off")
    assert (event.actor, event.detail) == (
        "ada",
        {"switch": "sign-in", "sentence": "Soon."},
    )
