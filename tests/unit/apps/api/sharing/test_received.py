"""What others share with us, by REST."""

import json
from pathlib import Path

import pytest

from apps.tables.models import Lake, StorageConnection
from tests.support.pages.rest import V1, Script, refusal
from tests.support.stores.hostile_provider import hostile_running
from tests.support.stores.sharing_provider import Provider, provider_running

pytestmark = pytest.mark.django_db
RECEIVED = f"{V1}/received"


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def provider(settings, tmp_path: Path):
    settings.HOME = tmp_path
    with provider_running() as running:
        running.lists("shipments.eu.parcels")
        yield running


def test_a_profile_is_tried_kept_and_forgotten(script, provider: Provider) -> None:
    body = {"name": "acme", "profile": json.loads(provider.profile_text)}

    added = script.call("POST", RECEIVED, body)
    listed = script.call("GET", RECEIVED).json()
    again = script.call("POST", RECEIVED, body)
    refreshed = script.call("POST", f"{RECEIVED}/acme/refresh")
    gone = script.call("DELETE", f"{RECEIVED}/acme")

    assert (added.status_code, added["Location"]) == (201, f"{RECEIVED}/acme")
    assert added.json()["endpoint"] == provider.endpoint
    assert added.json()["token_end"] == "oken"
    assert [one["name"] for one in listed["received"]] == ["acme"]
    assert refusal(again) == (409, "storage-name-taken")
    assert refreshed.status_code == 202
    assert gone.status_code == 204
    assert not Lake.objects.exists()
    assert b"secret-token" not in added.content


def test_an_oauth_profile_is_kept_without_showing_its_secret(script, provider) -> None:
    provider.puts("/token", {"access_token": "access-1"})
    text = provider.oauth_profile(client_id="client-7", secret="s3cr3t-word")
    body = {"name": "acme", "profile": json.loads(text)}

    added = script.call("POST", RECEIVED, body)
    listed = script.call("GET", RECEIVED)

    assert added.status_code == 201
    assert (added.json()["client_id"], added.json()["token_end"]) == ("client-7", "")
    for answer in (added, listed):
        assert b"s3cr3t" not in answer.content
        assert b"access-1" not in answer.content


@pytest.mark.parametrize(
    ("profile", "name", "error"),
    [
        ({}, "acme", "profile-invalid"),
        ({"shareCredentialsVersion": 9}, "acme", "profile-invalid"),
    ],
)
def test_what_is_no_profile_is_refused(script, profile, name, error) -> None:
    answer = script.call("POST", RECEIVED, {"name": name, "profile": profile})

    assert (answer.json()["error"], answer.status_code) == (error, 422)
    assert not StorageConnection.objects.exists()


def test_pages_without_an_end_end_the_request(script, settings) -> None:
    settings.RECEIVED_CHECK_PAGES = 20
    with hostile_running() as hostile:
        hostile.turns_pages("/shares/s/all-tables")
        profile = json.loads(hostile.provider.profile_text)

        answer = script.call("POST", RECEIVED, {"name": "acme", "profile": profile})

        assert answer.json()["error"] == "provider-limit"
        assert len(hostile.provider.asked) == 20
    assert not StorageConnection.objects.exists()


def test_a_provider_that_is_not_known_is_a_404(script) -> None:
    for method, path in (("GET", "x"), ("DELETE", "x"), ("POST", "x/refresh")):
        answer = script.call(method, f"{RECEIVED}/{path}")
        assert refusal(answer) == (404, "provider-not-found")
