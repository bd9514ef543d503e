"""Getting in by API key, and what such a key cannot do."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from deltaweb.web.accounts import services, urls
from deltaweb.web.accounts.models import User
from deltaweb.web.pages.actions import COMMAND_LINE
from tests.functional.accounts.people import PASSWORD
from tests.support.pages.factories import new_api_key, new_user

pytestmark = pytest.mark.django_db


def account_changes() -> list[tuple[str, str]]:
    """Name and path of every URL of accounts that changes more than appearance."""
    harmless = {"sign-in", "use-link", "sign-out", "me", "user-list", "set-appearance"}
    ids = {"user_id": 1, "key_id": "00000000-0000-4000-8000-000000000000"}
    return [
        (
            route.name,
            reverse(
                f"accounts:{route.name}",
                kwargs={name: ids[name] for name in route.pattern.converters},
            ),
        )
        for route in urls.urlpatterns
        if route.name is not None
        and route.name not in harmless
        and not route.name.endswith(("-json", "-csv"))
    ]


class TestByAPIKey:
    def test_a_script_is_its_user_without_a_session(self, client: Client, vera: User):
        response = client.get("/me.json", headers=new_api_key(vera))

        assert response.json()["name"] == "vera"
        assert "deltaweb_session" not in response.cookies

    def test_it_may_post_without_a_csrf_token(self, vera: User) -> None:
        strict = Client(enforce_csrf_checks=True)
        form = {"theme": "DARK", "time_zone": "Europe/Berlin"}

        response = strict.post("/me/appearance", form, headers=new_api_key(vera))

        assert response.status_code == 302
        vera.refresh_from_db()
        assert vera.theme == User.Theme.DARK

    @pytest.mark.parametrize("secret", ["", "dwk_unknown", "\udc80"])
    def test_an_unknown_key_is_a_401_even_beside_a_session(self, client, vera, secret):
        client.force_login(vera)

        headers = {
            "Authorization": f"Bearer {secret}".encode("utf-8", "replace").decode(
                "latin-1"
            )
        }
        response = client.get("/me.json", headers=headers)

        assert response.status_code == 401
        assert response.json()["error"] == "api-key-unknown"
        assert response["WWW-Authenticate"].startswith("Bearer")

    def test_the_token_of_a_share_is_told_where_it_is_good(self, client: Client):
        headers = {"Authorization": "Bearer dwt_12345678secret"}

        answer = client.get("/shares/retail/all-tables", headers=headers)

        assert answer.status_code == 401
        assert "below /delta-sharing/" in answer.json()["hint"]
        assert "/me/" not in answer.json()["hint"]

    def test_a_revoked_key_is_a_401(self, client: Client, vera: User) -> None:
        headers = new_api_key(vera)
        services.revoke_api_key(
            key=vera.api_keys.get(), actor=COMMAND_LINE, now=timezone.now()
        )

        assert client.get("/me.json", headers=headers).status_code == 401

    def test_the_key_of_a_disabled_user_is_a_401(self, client: Client, vera: User):
        headers = new_api_key(vera)
        services.disable_user(user=vera, actor=COMMAND_LINE, now=timezone.now())

        assert client.get("/me.json", headers=headers).status_code == 401

    @pytest.mark.parametrize(
        "path", [pytest.param(path, id=name) for name, path in account_changes()]
    )
    def test_it_changes_no_account(self, client: Client, vera: User, path: str) -> None:
        User.objects.update(role=User.Role.ADMIN)
        headers = new_api_key(vera) | {"Accept": "application/json"}
        client.force_login(vera)  # a session that came along is left aside

        answer = client.post(path, headers=headers)

        assert answer.status_code == 403
        assert answer.json()["error"] == "session-required"
        assert "Sign in in a browser" in answer.json()["hint"]

    def test_it_does_not_become_a_password(self, client: Client) -> None:
        user = new_user("linked")
        form = {"new": PASSWORD, "again": PASSWORD}

        answer = client.post("/me/password", form, headers=new_api_key(user))

        assert answer.status_code == 403
        user.refresh_from_db()
        assert not user.has_usable_password()

    def test_its_last_use_is_kept(self, client: Client, vera: User) -> None:
        client.get("/me.json", headers=new_api_key(vera))

        assert vera.api_keys.get().last_used_at is not None


@pytest.mark.django_db(transaction=True)
def test_a_key_is_let_in_while_somebody_else_writes(vera: User) -> None:
    headers = new_api_key(vera)

    def ask() -> int:
        try:
            return Client().get("/me.json", headers=headers).status_code
        finally:
            connection.close()

    # Whoever waits for the writer would wait for ever here: it waits for the answer.
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        vera.api_keys.update(name="being written")
        assert pool.submit(ask).result() == 200
