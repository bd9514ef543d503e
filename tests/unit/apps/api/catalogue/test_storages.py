"""Storage connections by REST; `tests/storage` tries them on a store."""

import pytest

from apps.accounts.models import User
from apps.tables.models import StorageConnection
from apps.tables.storage.connections import options_for
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db
STORAGES = f"{V1}/storages"
LAKE = {
    "name": "lake",
    "prefix": "s3://lake/",
    "options": {"key": "AKIA", "secret": "open sesame", "client_kwargs.verify": "no"},
    "untried": True,
}


@pytest.fixture
def script() -> Script:
    return Script("admin")


def test_one_is_kept_listed_and_forgotten_and_its_values_stay_inside(script) -> None:
    added = script.call("POST", STORAGES, LAKE, once="1")
    again = script.call("POST", STORAGES, LAKE, once="1")
    taken = script.call("POST", STORAGES, LAKE)
    replaced = script.made(STORAGES, {**LAKE, "options": {}, "replace": True})
    listed = script.call("GET", STORAGES).json()
    shown = script.call("GET", added["Location"]).json()
    gone = script.call("DELETE", added["Location"])

    assert (added.status_code, again.content) == (201, added.content)
    assert added.json()["options"] == ["client_kwargs.verify", "key", "secret"]
    assert b"open sesame" not in added.content
    assert refusal(taken) == (409, "storage-name-taken")
    assert (replaced["tried"], replaced["options"]) == (None, [])
    assert listed == {"storages": [shown]}
    assert gone.status_code == 204
    assert not StorageConnection.objects.exists()


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"options": {"key": "env:SECRET_KEY"}}, "storage-option-invalid"),
        ({"options": {"key": "file:/etc/passwd"}}, "storage-option-invalid"),
        ({"options": {"key=file:/etc/passwd": ""}}, "storage-option-invalid"),
        ({"options": {"ky": "x"}}, "storage-option-invalid"),
        ({"options": {"endpoint_url": "http://10.0.0.1"}}, "storage-host-not-allowed"),
        ({"prefix": "/etc"}, "location-invalid"),
        ({"prefix": "received://acme"}, "location-unsupported"),
        ({"name": "../x"}, "storage-name-invalid"),
    ],
)
def test_one_that_leads_astray_is_refused(script, changed, error: str) -> None:
    answer = script.call("POST", STORAGES, {**LAKE, **changed})

    assert (answer.json()["error"], answer.status_code) == (error, 422)
    assert not StorageConnection.objects.exists()


def test_they_are_changed_by_administrators_with_a_key_for_that() -> None:
    usual, editor = Script(), Script("admin", role=User.Role.EDITOR, name="eve")

    assert usual.call("GET", STORAGES).status_code == 200
    assert usual.call("POST", STORAGES, LAKE).json()["error"] == "scope-required"
    assert editor.call("GET", STORAGES).status_code == 403


def test_all_are_sealed_with_the_key_of_now(script: Script, settings) -> None:
    script.made(STORAGES, LAKE)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"

    sealed = Script("admin").made(f"{V1}/reseal")

    settings.SECRET_KEY_FALLBACKS = []
    assert [one["name"] for one in sealed["storages"]] == ["lake"]
    assert options_for("s3://lake/t")["secret"] == "open sesame"
    assert Script().call("POST", f"{V1}/reseal").json()["error"] == "scope-required"
