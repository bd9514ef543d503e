"""Accounts and keys by REST."""

import pytest
from django.test import Client

from apps.accounts.models import APIKey, User
from tests.support.pages.factories import new_user
from tests.support.pages.rest import V1, Script, refusal

pytestmark = pytest.mark.django_db
USERS = f"{V1}/users"
ME = f"{V1}/me"


@pytest.fixture
def script() -> Script:
    return Script("admin")


class TestUsers:
    def test_are_made_listed_and_changed(self, script: Script) -> None:
        made = script.call("POST", USERS, {"name": "vera", "role": "viewer"})
        listed = script.call("GET", f"{USERS}?q=ver").json()
        changed = script.made(
            f"{USERS}/vera", {"role": "editor", "active": False}, method="PATCH"
        )

        assert (made.status_code, made.json()["role"]) == (201, "viewer")
        assert [one["name"] for one in listed["users"]] == ["vera"]
        assert (changed["role"], changed["active"]) == ("editor", False)
        assert script.call("GET", f"{USERS}/vera").json() == changed

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            ({"name": "ADA", "role": "viewer"}, 409, "user-name-taken"),
            ({"name": "vera", "role": "root"}, 422, "user-invalid"),
            ({"name": "vera"}, 400, "body-invalid"),
        ],
    )
    def test_that_cannot_be_made_say_why(self, script, body, status, error) -> None:
        assert refusal(script.call("POST", USERS, body)) == (status, error)

    def test_need_a_key_that_is_for_them(self) -> None:
        script = Script()  # of an administrator, for all that is usual

        for method, path in (("GET", USERS), ("POST", f"{USERS}/ada/keys")):
            answer = script.call(method, path, {})
            assert answer.json()["error"] == "scope-required"
        assert APIKey.objects.count() == 1

    def test_are_for_administrators_whatever_the_key(self) -> None:
        script = Script("admin", role=User.Role.EDITOR, name="eve")

        assert script.call("GET", USERS).json()["error"] == "permission-denied"


class TestKeys:
    def test_are_made_listed_and_revoked(self, script: Script) -> None:
        new_user("vera")
        body = {"label": "nightly", "scopes": ["write"], "expires": "30d"}

        made = script.made(f"{USERS}/vera/keys", body)
        works = Script(name="vera")
        works.headers = {"Authorization": f"Bearer {made['key']}"}
        before = works.call("GET", f"{V1}/tables").status_code
        listed = script.call("GET", f"{USERS}/vera/keys").json()["keys"]
        revoked = script.call("DELETE", f"{USERS}/vera/keys/{made['id']}")

        assert (made["scopes"], made["user"]) == (["read", "write"], "vera")
        assert before == 200
        assert made["id"] in {one["id"] for one in listed}
        assert not any("key" in one for one in listed)
        assert revoked.status_code == 204
        assert works.call("GET", f"{V1}/tables").status_code == 401

    def test_of_others_are_not_there(self, script: Script) -> None:
        new_user("vera")
        own = APIKey.objects.get()

        answer = script.call("DELETE", f"{USERS}/vera/keys/{own.id}")

        assert refusal(answer) == (404, "api-key-not-found")

    def test_that_cannot_be_made_say_why(self, script: Script) -> None:
        answer = script.call("POST", f"{USERS}/ada/keys", {"scopes": ["root"]})

        assert refusal(answer) == (422, "scope-invalid")


def test_a_sign_in_link_signs_in_once(script: Script) -> None:
    new_user("vera")

    made = script.made(f"{USERS}/vera/sign-in-links")

    path = made["url"][made["url"].index("/sign-in/") :]
    assert Client().post(path).status_code == 302
    assert Client().post(path).status_code == 410


class TestOnesOwn:
    def test_keys_are_made_and_revoked_by_a_key_for_that(self) -> None:
        script = Script("admin", role=User.Role.VIEWER, name="vera")
        usual = Script(name="vera")

        made = script.made(f"{ME}/keys", {"label": "nightly", "scopes": ["read"]})
        listed = [one["label"] for one in usual.call("GET", ME).json()["keys"]]
        gone = script.call("DELETE", f"{ME}/keys/{made['id']}")
        refused = usual.call("POST", f"{ME}/keys", {})

        assert (made["user"], made["scopes"]) == ("vera", ["read"])
        assert "nightly" in listed
        assert gone.status_code == 204
        assert refused.json()["error"] == "scope-required"

    def test_pages_look_as_one_says(self) -> None:
        script = Script(role=User.Role.VIEWER, name="vera")

        changed = script.made(ME, {"theme": "dark"}, method="PATCH")
        wrong = script.call("PATCH", ME, {"time_zone": "Mars"})

        assert (changed["theme"], changed["time_zone"]) == ("dark", "UTC")
        assert script.call("GET", ME).json()["theme"] == "dark"
        assert refusal(wrong) == (422, "user-invalid")
