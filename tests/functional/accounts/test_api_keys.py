"""Getting in by API key, and what such a key cannot do."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TypeAlias

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts import services, urls
from apps.accounts.models import User
from apps.pages.actions import command_stamp
from apps.sharing.models import Share
from tests.support import cases
from tests.support.pages.factories import new_api_key, new_share, new_table, new_user
from tests.support.pages.rest import refusal

Headers: TypeAlias = dict[str, str]

pytestmark = pytest.mark.django_db


def account_changes() -> list[tuple[str, str]]:
    """Name and path of every URL of accounts that changes more than appearance."""
    harmless = {
        "sign-in",
        "use-link",
        "confirm-address",
        "sign-out",
        "sso",
        "sso-callback",
        "sso-logout",
        "me",
        "key-list",
        "user-list",
        "group-list",
        "group-detail",
        "invitation-list",
        "set-appearance",
    }
    ids = {
        "user_id": 1,
        "group_id": 1,
        "invitation_id": 1,
        "key_id": "00000000-0000-4000-8000-000000000000",
    }
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

        assert refusal(response) == (401, "api-key-unknown")
        assert response["WWW-Authenticate"].startswith("Bearer")

    def test_the_token_of_a_share_is_told_where_it_is_good(self, client: Client):
        headers = {"Authorization": "Bearer dwt_12345678secret"}

        answer = client.get("/shares/retail/all-tables", headers=headers)

        assert answer.status_code == 401
        assert "below /delta-sharing/" in answer.json()["hint"]
        assert "/me/" not in answer.json()["hint"]

    def test_a_revoked_key_is_a_401(self, client: Client, vera: User) -> None:
        headers = new_api_key(vera)
        services.revoke_api_key(key=vera.api_keys.get(), stamp=command_stamp())

        assert client.get("/me.json", headers=headers).status_code == 401

    def test_the_key_of_a_disabled_user_is_a_401(self, client: Client, vera: User):
        headers = new_api_key(vera)
        services.disable_user(user=vera, stamp=command_stamp())

        assert client.get("/me.json", headers=headers).status_code == 401

    @pytest.mark.parametrize(
        "path", [pytest.param(path, id=name) for name, path in account_changes()]
    )
    def test_it_changes_no_account(self, client: Client, vera: User, path: str) -> None:
        User.objects.update(role=User.Role.ADMIN)
        headers = new_api_key(vera) | {"Accept": "application/json"}
        client.force_login(vera)  # a session that came along is left aside

        answer = client.post(path, headers=headers)

        assert refusal(answer) == (403, "session-required")
        assert "Sign in with a browser" in answer.json()["hint"]

    def test_its_last_use_is_kept(self, client: Client, vera: User) -> None:
        client.get("/me.json", headers=new_api_key(vera))

        assert vera.api_keys.get().last_used_at is not None


def key_with(user: User, *scopes: str, expires_at: datetime | None = None) -> Headers:
    issued = services.issue_api_key(
        user=user,
        name="nightly",
        scopes=scopes,
        expires_at=expires_at,
        stamp=command_stamp(),
    )
    return {"Authorization": f"Bearer {issued.secret}", "Accept": "application/json"}


class TestScopes:
    def test_a_key_for_reading_reads_and_changes_nothing(self, client, vera: User):
        headers = key_with(vera, "read")
        form = {"theme": "DARK", "time_zone": "Europe/Berlin"}

        read = client.get("/me.json", headers=headers)
        changed = client.post("/me/appearance", form, headers=headers)

        assert read.status_code == 200
        assert refusal(changed) == (403, "scope-required")
        assert "has the scopes read; this needs 'write'" in changed.json()["message"]
        vera.refresh_from_db()
        assert vera.theme == User.Theme.SYSTEM

    @cases(
        "scope, status, name",
        {
            "a key for tables": ("write", 403, "retail"),
            "a key for shares": ("share", 302, None),
        },
    )
    def test_shares_need_their_own_scope(self, client, scope, status, name):
        admin = new_user("ada", role=User.Role.ADMIN)
        share = new_share("retail")

        answer = client.post(
            "/shares/retail/delete",
            {"confirm": share.name},
            headers=key_with(admin, scope),
        )

        assert answer.status_code == status
        assert Share.objects.values_list("name", flat=True).first() == name

    def test_a_scope_gives_no_more_than_its_person_may(self, client, vera: User):
        new_share("retail")

        answer = client.post(
            "/shares/retail/delete",
            {"confirm": "retail"},
            headers=key_with(vera, "share", "admin"),
        )

        assert refusal(answer) == (403, "permission-denied")


class TestEnds:
    def test_an_ended_key_is_refused_by_its_name(self, client, vera: User) -> None:
        ended = timezone.now() - timedelta(seconds=1)

        answer = client.get("/me.json", headers=key_with(vera, expires_at=ended))

        assert refusal(answer) == (401, "api-key-expired")
        assert "'nightly'" in answer.json()["message"]
        assert f"{ended:%Y-%m-%d}" in answer.json()["message"]

    def test_an_end_that_is_near_is_shown_to_its_person(self, client, vera: User):
        new_table()
        soon = timezone.now() + timedelta(days=3)
        key_with(vera, expires_at=soon)
        key_with(vera, expires_at=timezone.now() + timedelta(days=90))
        client.force_login(vera)

        assert b"expires soon" in client.get("/me/").content
        first_page = client.get("/").content.decode()
        assert "API keys expiring" in first_page
        assert f"the first one expires on {soon:%Y-%m-%d}" in first_page

    def test_one_without_a_near_end_is_no_number_of_the_first_page(self, client, vera):
        new_table()
        key_with(vera)
        client.force_login(vera)

        assert b"API keys expiring" not in client.get("/").content


class TestTheForm:
    def test_makes_a_key_with_scopes_and_an_end(self, client, vera: User) -> None:
        client.force_login(vera)
        form = {"name": "nightly", "scopes": ["write"], "expires": "30d"}

        made = client.post("/me/keys", form)

        assert made.status_code == 201
        [key] = client.get("/me/keys.json").json()["keys"]
        assert (key["label"], key["scopes"]) == ("nightly", ["read", "write"])
        days = datetime.fromisoformat(key["expires_at"]) - timezone.now()
        assert timedelta(days=29) < days <= timedelta(days=30)
        assert key["state"] == "active"

    def test_one_without_scopes_makes_the_usual_key(self, client, vera: User) -> None:
        client.force_login(vera)

        client.post("/me/keys", {"name": "nightly"})

        [key] = client.get("/me.json").json()["keys"]
        assert key["scopes"] == ["read", "write", "share"]
        assert key["expires_at"] is None

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"scopes": ["root"]}, "root is not one of the available choices"),
            ({"expires": "2020-01-01"}, "it is in the past"),
            ({"expires": "soon"}, "neither a span of time nor a date"),
        ],
    )
    def test_says_what_will_not_do(self, client, vera: User, fields, said) -> None:
        client.force_login(vera)

        answer = client.post("/me/keys", {"name": "nightly", **fields})

        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert not vera.api_keys.exists()

    def test_the_list_is_a_file_as_well(self, client, vera: User) -> None:
        key_with(vera, "write")
        key_with(new_user("otto"))
        client.force_login(vera)

        header, *lines = client.get("/me/keys.csv").getvalue().decode().splitlines()

        assert "scopes" in header.split(",")
        assert len(lines) == 1
        assert '"read, write"' in lines[0]

    def test_its_page_is_that_of_the_account(self, client, vera: User) -> None:
        client.force_login(vera)

        assert client.get("/me/keys/").headers["Location"] == "/me/"


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
