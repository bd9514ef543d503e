"""Getting in by link and by password; and being kept out."""

import re
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote, urlsplit

import pytest
from django.test import Client
from pytest_django import Settings

from apps.accounts import services
from apps.accounts.models import FailedSignIn, User
from apps.accounts.services import passwords
from apps.pages.actions import COMMAND_LINE, Stamp, command_stamp
from tests.functional.accounts.people import PASSWORD
from tests.support import cases
from tests.support.pages.factories import NOW, new_api_key, new_user
from tests.support.pages.rest import refusal

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
LOCAL: Final = "http://127.0.0.1:8000"


@pytest.fixture
def link(vera: User) -> str:
    return path_of(services.issue_sign_in_link(user=vera, stamp=command_stamp()))


def path_of(url: str) -> str:
    return urlsplit(url).path


def here(**changed: str) -> dict[str, Any]:
    """What a server on 127.0.0.1 hears from a browser of the same machine."""
    usual = {
        "REMOTE_ADDR": "127.0.0.1",
        "SERVER_NAME": "127.0.0.1",
        "HTTP_HOST": "127.0.0.1:8000",
        "HTTP_SEC_FETCH_MODE": "navigate",
        "HTTP_SEC_FETCH_DEST": "document",
    }
    return usual | changed


class TestWithoutASession:
    def test_a_page_leads_to_the_sign_in_and_back(self, client: Client) -> None:
        response = client.get("/jobs/?state=DONE")

        assert response.status_code == 302
        wanted = quote("/jobs/?state=DONE", safe="/")
        assert response["Location"] == f"/sign-in/?next={wanted}"

    def test_the_start_leads_to_the_sign_in(self, client: Client) -> None:
        assert client.get("/")["Location"] == "/sign-in/?next=/"

    @pytest.mark.parametrize("path", ["/jobs.json", "/jobs.csv", "/me.json"])
    def test_a_machine_form_is_a_401_in_json(self, client: Client, path: str) -> None:
        response = client.get(path)

        assert refusal(response) == (401, "sign-in-required")
        assert response["WWW-Authenticate"].startswith("Bearer")

    def test_htmx_leaves_for_the_sign_in_and_returns_to_the_page(self, client: Client):
        headers = HTMX | {"HX-Current-URL": "http://testserver/tables/?q=a"}

        response = client.get("/jobs/", headers=headers)

        assert response["HX-Redirect"] == "/sign-in/?next=/tables/%3Fq%3Da"
        assert response.content == b""

    def test_a_form_that_is_sent_too_late_does_not_come_back_as_a_get(self, client):
        assert client.post("/me/keys")["Location"] == "/sign-in/?next=/"


class TestByLink:
    def test_the_button_signs_in(self, client: Client, link: str) -> None:
        response = client.post(link)

        assert response.status_code == 302
        assert response["Location"] == "/"
        assert response["Referrer-Policy"] == "strict-origin"
        assert client.get("/me.json").json()["name"] == "vera"

    def test_the_button_leads_to_the_page_that_was_wanted(self, link: str) -> None:
        browser = Client(enforce_csrf_checks=True)
        page = browser.get(f"{link}?next=/jobs/").content.decode()

        form = dict(re.findall(r'name="(\w+)" value="([^"]+)"', page))
        response = browser.post(link, form)

        assert "Sign in as vera" in page
        assert response["Location"] == "/jobs/"

    def test_the_button_is_guarded_against_other_sites(self, link: str) -> None:
        assert Client(enforce_csrf_checks=True).post(link).status_code == 403

    def test_it_works_once_and_a_second_click_by_the_same_user_does_no_harm(
        self, client, link
    ):
        client.post(link)

        for again in (Client().get, Client().post):
            response = again(link)
            assert response.status_code == 410
            assert "has been used" in response.content.decode()
        assert client.post(link).status_code == 302
        assert client.get(link).status_code == 302

    @pytest.mark.parametrize("agent", ["Slackbot-LinkExpanding 1.0", "Mozilla/5.0"])
    def test_a_preview_leaves_it_to_the_person(self, client, link, agent):
        preview = Client(headers={"User-Agent": agent})

        assert preview.head(link).status_code == 200
        shown = preview.get(link)
        assert shown.status_code == 200
        assert "no-store" in shown["Cache-Control"]
        assert preview.get("/me.json").status_code == 401

        assert client.post(link).status_code == 302

    def test_a_late_one_says_so_before_the_button(self, client, vera):
        long_ago = Stamp(COMMAND_LINE, NOW - timedelta(days=1))

        answer = client.get(
            path_of(services.issue_sign_in_link(user=vera, stamp=long_ago))
        )

        assert answer.status_code == 410
        assert "has expired" in answer.content.decode()

    def test_a_made_up_one_is_not_found(self, client: Client) -> None:
        assert client.get("/sign-in/made-up/").status_code == 404
        assert client.post("/sign-in/made-up/").status_code == 404


class TestByTheLinkOfAStart:
    """One click, if nothing stands between the browser and the server."""

    @pytest.fixture
    def started(self, vera: User, settings: Settings) -> str:
        settings.PUBLIC_URL = "http://127.0.0.1:8000"
        url = services.issue_sign_in_link(
            user=vera, stamp=command_stamp(), is_one_click=True
        )
        return path_of(url)

    @pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"])
    def test_one_click_signs_in_on_this_machine(self, started, settings, host):
        settings.PUBLIC_URL = f"http://{host}"

        response = Client(**here(HTTP_HOST=host)).get(f"{started}?next=/jobs/")

        assert response.status_code == 302
        assert response["Location"] == "/jobs/"

    @cases(
        "public, changed",
        {
            "another machine": (LOCAL, {"REMOTE_ADDR": "192.0.2.1"}),
            "a server that listens everywhere": (LOCAL, {"SERVER_NAME": "0.0.0.0"}),  # noqa: S104
            "nginx as it comes": (LOCAL, {"SERVER_PROTOCOL": "HTTP/1.0"}),
            "nginx": (LOCAL, {"HTTP_X_FORWARDED_FOR": "192.0.2.1"}),
            "nginx, differently": (LOCAL, {"HTTP_X_REAL_IP": "192.0.2.1"}),
            "a proxy by RFC 7239": (LOCAL, {"HTTP_FORWARDED": "for=192.0.2.1"}),
            "a proxy by RFC 9110": (LOCAL, {"HTTP_VIA": "1.1 proxy"}),
            "a tunnel": (LOCAL, {"HTTP_CF_CONNECTING_IP": "192.0.2.1"}),
            "a preview through a proxy that adds no header": (
                LOCAL,
                {"HTTP_SEC_FETCH_MODE": "", "HTTP_SEC_FETCH_DEST": ""},
            ),
            "a picture of a page": (LOCAL, {"HTTP_SEC_FETCH_DEST": "image"}),
            "a script of a page": (LOCAL, {"HTTP_SEC_FETCH_MODE": "no-cors"}),
            "a public name": (LOCAL, {"HTTP_HOST": "testserver"}),
            "a public URL": ("http://lake.example", {}),
            "HTTPS": ("https://localhost", {}),
            "a browser ahead of a click": (LOCAL, {"HTTP_SEC_PURPOSE": "prefetch"}),
        },
    )
    def test_anything_else_gets_the_button(self, started, settings, public, changed):
        settings.PUBLIC_URL = public

        response = Client(**here(**changed)).get(started)

        assert response.status_code == 200
        assert Client().post(started).status_code == 302

    def test_so_does_a_server_that_knows_a_proxy(self, started, settings):
        settings.TRUSTED_PROXIES = ["127.0.0.1"]

        assert Client(**here()).get(started).status_code == 200

    def test_a_link_of_an_administrator_always_has_the_button(self, link, settings):
        settings.PUBLIC_URL = LOCAL

        assert Client(**here()).get(link).status_code == 200


class TestByPassword:
    def test_leads_to_the_page_that_was_wanted(self, client: Client, vera: User):
        form = {"name": "vera", "password": PASSWORD, "next": "/jobs/"}

        assert client.post("/sign-in/", form)["Location"] == "/jobs/"
        assert client.session["_auth_user_id"] == str(vera.id)

    @pytest.mark.parametrize(
        "elsewhere",
        [
            "https://evil.example/",
            "//evil.example/",
            "/\\evil.example",
            "javascript:alert(1)",
            "http://testserver/jobs/",
            "\x01//evil.example",
        ],
    )
    def test_never_leads_to_another_site(self, client, vera, elsewhere):
        form = {"name": vera.username, "password": PASSWORD, "next": elsewhere}

        assert client.post("/sign-in/", form)["Location"] == "/"

    def test_a_wrong_one_says_so_on_the_page(self, client: Client, vera: User) -> None:
        form = {"name": vera.username, "password": "wrong", "next": "/jobs/"}

        response = client.post("/sign-in/", form)

        assert response.status_code == 403
        page = response.content.decode()
        assert "name or the password is not correct" in page
        assert 'value="/jobs/"' in page
        assert "wrong" not in page

    def test_wrong_ones_behind_a_trusted_proxy_do_not_lock_out_others(
        self, client: Client, vera: User, settings: Settings
    ) -> None:
        settings.TRUSTED_PROXIES = ["127.0.0.1"]
        wrong = {"name": vera.username, "password": "wrong"}
        for _ in range(passwords.FAILURES_ALLOWED + 1):
            answer = client.post(
                "/sign-in/", wrong, headers={"X-Forwarded-For": "192.0.2.1"}
            )
        assert answer.status_code == 429

        right = wrong | {"password": PASSWORD}
        answer = client.post(
            "/sign-in/", right, headers={"X-Forwarded-For": "198.51.100.1"}
        )

        assert answer.status_code == 302
        assert set(FailedSignIn.objects.values_list("address", flat=True)) == {
            "192.0.2.1"
        }

    def test_the_page_says_how_to_get_a_link(self, client: Client) -> None:
        response = client.get("/sign-in/?next=/jobs/")

        assert "deltaweb user link NAME" in response.content.decode()
        assert "no-store" in response["Cache-Control"]

    def test_the_form_is_guarded_against_other_sites(self, vera: User) -> None:
        strict = Client(enforce_csrf_checks=True)

        form = {"name": vera.username, "password": PASSWORD}

        assert strict.post("/sign-in/", form).status_code == 403

    def test_signing_out_ends_the_session(self, client: Client, vera: User) -> None:
        client.force_login(vera)

        client.post("/sign-out/")

        assert client.get("/me.json").status_code == 401

    def test_a_link_to_the_sign_out_does_nothing(self, client: Client, vera: User):
        client.force_login(vera)

        assert client.get("/sign-out/").status_code == 405
        assert client.get("/me.json").status_code == 200


class TestFromTheNextRequest:
    def test_a_changed_role_counts(self, client: Client, vera: User) -> None:
        new_user("ada", role=User.Role.ADMIN)
        client.force_login(vera)
        assert client.get("/admin-area/").status_code == 403

        services.set_role(user=vera, role="admin", stamp=command_stamp())
        assert client.get("/admin-area/").status_code == 200

        services.set_role(user=vera, role="viewer", stamp=command_stamp())
        assert client.get("/admin-area/").status_code == 403

    def test_a_disabled_account_is_out_and_its_session_stays_dead(self, client, vera):
        client.force_login(vera)
        services.disable_user(user=vera, stamp=command_stamp())
        assert client.get("/me.json").status_code == 401

        services.enable_user(user=vera, stamp=command_stamp())
        assert client.get("/me.json").status_code == 401

    def test_a_new_password_ends_the_other_sessions(self, vera: User) -> None:
        here, there = Client(), Client()
        for session in (here, there):
            session.force_login(vera)
        new = "another long phrase"

        form = {"current": PASSWORD, "new": new, "again": new}
        assert here.post("/me/password", form).status_code == 302

        assert here.get("/me.json").status_code == 200
        assert there.get("/me.json").status_code == 401

    def test_a_new_password_ends_keys_where_that_is_ticked(self, vera: User) -> None:
        key, here = new_api_key(vera), Client()
        here.force_login(vera)
        assert "Revoke my 1 API key as well" in here.get("/me/").content.decode()

        new = "another long phrase"
        form = {"current": PASSWORD, "new": new, "again": new, "revoke_keys": "true"}
        page = here.post("/me/password", form, follow=True).content.decode()

        assert "Your API keys are revoked" in page
        assert "Revoke my" not in page
        assert Client().get("/me.json", headers=key).status_code == 401
