"""Signing on at a real OpenID Connect provider."""

from datetime import timedelta
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.lifetimes.sessions import BEGAN_AT
from apps.accounts.models import Identity, Invitation, SignOnSession, User
from apps.accounts.sign_on import provider
from tests.functional.sign_on.conftest import Provider, Walker
from tests.support.pages.factories import new_user

pytestmark = [pytest.mark.django_db, pytest.mark.database]
CALLBACK: Final = "/sign-in/sso/callback/"


class TestSigningOn:
    def test_makes_an_account_with_the_groups(
        self, walker: Walker, provider: Provider
    ) -> None:
        answer = walker.sign_in("ann", "/sign-in/sso/?next=/tables/")
        assert (answer.status_code, answer["Location"]) == (302, "/tables/")
        me = walker.client.get("/me.json").json()
        assert (me["name"], me["role"]) == ("ann", "viewer")
        identity = Identity.objects.get()
        assert (identity.issuer, identity.subject) == (provider.issuer, "ann")
        assert identity.email == identity.user.mail_address == "ann@example.com"
        groups = {one.group.name for one in identity.user.memberships.all()}
        assert groups == {"data", "ops"}

    @pytest.mark.parametrize(
        "path", ["//evil.example", "https://evil.example", "/\\evil.example", "foo"]
    )
    def test_leads_to_pages_of_this_site_alone(self, walker: Walker, path: str) -> None:
        answer = walker.sign_in("ann", f"/sign-in/sso/?next={path}")
        assert (answer.status_code, answer["Location"]) == (302, "/")

    def test_begins_a_session_of_another_name(self, walker: Walker) -> None:
        path = walker.walk(walker.begin(), "ann")
        before = walker.client.session.session_key
        walker.client.get(path)
        assert walker.client.session.session_key != before

    def test_uses_pkce_state_and_nonce(self, walker: Walker) -> None:
        query = parse_qs(urlsplit(walker.begin()).query)
        assert query["code_challenge_method"] == ["S256"]
        assert len(query["state"][0]) == len(query["nonce"][0]) == 32
        assert query["redirect_uri"] == ["http://testserver/sign-in/sso/callback/"]

    def test_names_its_own_address_whatever_the_host(
        self, walker: Walker, settings: Settings
    ) -> None:
        settings.ALLOWED_HOSTS = ["*"]
        answer = walker.client.get("/sign-in/sso/", headers={"Host": "evil.example"})
        query = parse_qs(urlsplit(answer["Location"]).query)
        assert query["redirect_uri"] == ["http://testserver/sign-in/sso/callback/"]

    def test_finds_the_account_by_the_subject(self, walker: Walker) -> None:
        walker.sign_in("ann")
        User.objects.update(username="renamed")
        other = Walker()
        other.sign_in("ann")
        assert other.client.get("/me.json").json()["name"] == "renamed"
        assert User.objects.count() == 1

    def test_never_meets_an_account_by_name_or_address(self, walker: Walker) -> None:
        new_user("ann", role=User.Role.ADMIN, email="ann@example.com")
        walker.sign_in("ann")
        me = walker.client.get("/me.json").json()
        assert (me["name"], me["role"]) == ("ann-2", "viewer")

    @pytest.mark.parametrize(
        ("rules", "login"),
        [
            ({"SSO_REQUIRED_GROUPS": ["data"]}, "eve"),
            ({"SSO_REQUIRED_GROUPS": []}, "ann"),
            ({"SSO_REQUIRED_GROUPS": [], "SSO_DOMAINS": ["example.com"]}, "ben"),
            ({"SSO_REQUIRED_GROUPS": [], "SSO_DOMAINS": ["example.com"]}, "eve"),
        ],
        ids=["no group claim", "no rule", "unverified address", "another domain"],
    )
    def test_is_refused_without_a_rule_that_admits(
        self, walker: Walker, settings: Settings, rules: dict[str, object], login: str
    ) -> None:
        for name, value in rules.items():
            setattr(settings, name, value)
        answer = walker.sign_in(login)
        assert answer.status_code == 403
        assert "has no access here" in answer.content.decode()
        assert not User.objects.exists()

    def test_is_admitted_by_a_verified_domain(
        self, walker: Walker, settings: Settings
    ) -> None:
        settings.SSO_REQUIRED_GROUPS = []
        settings.SSO_DOMAINS = ["example.org"]
        assert walker.sign_in("eve").status_code == 302
        assert not User.objects.get().memberships.exists()

    def test_is_not_admitted_by_an_invitation_of_an_unverified_address(
        self, walker: Walker, settings: Settings
    ) -> None:
        settings.SSO_REQUIRED_GROUPS = []
        now = timezone.now()
        Invitation.objects.create(
            email="ben@example.com",
            invited_by="admin",
            created_at=now,
            expires_at=now + timedelta(days=1),
        )
        assert walker.sign_in("ben").status_code == 403

    def test_lifts_the_suspension(self, walker: Walker) -> None:
        walker.sign_in("ann")
        User.objects.update(is_signed_out=True)
        Walker().sign_in("ann")
        assert not User.objects.get().is_signed_out


class TestAnAnswerThatDidNotBeginHere:
    def test_of_another_browser_signs_nobody_in(self, walker: Walker) -> None:
        path = walker.walk(walker.begin(), "ann")
        victim = Client()
        assert victim.get(path).status_code == 403
        assert not User.objects.exists()

    def test_is_used_once(self, walker: Walker) -> None:
        path = walker.walk(walker.begin(), "ann")
        assert walker.client.get(path).status_code == 302
        walker.client.logout()
        assert walker.client.get(path).status_code == 403

    @pytest.mark.parametrize(
        "query",
        [
            "",
            "?code=a",
            "?state=b",
            "?code=a&state=b",
            "?error=access_denied&state=x",
            "?error=%3Cscript%3E",
            "?code=a&state=b&iss=https://evil.example",
        ],
    )
    def test_is_a_clear_page_and_signs_nobody_out(
        self, walker: Walker, query: str
    ) -> None:
        walker.sign_in("ann")
        answer = walker.client.get(f"{CALLBACK}{query}")
        assert answer.status_code == 403
        assert "You are not signed in" in answer.content.decode()
        assert "<script>" not in answer.content.decode()
        assert walker.client.get("/me.json").status_code == 200

    @pytest.mark.parametrize(
        ("name", "value", "reason"),
        [
            ("OIDC_CLIENT_ID", "another", "aud"),
            ("OIDC_ISSUER", "http://127.0.0.1:1", "cannot be"),
        ],
    )
    def test_for_another_client_or_issuer_is_refused(  # noqa: PLR0913, PLR0917
        self,
        walker: Walker,
        monkeypatch: pytest.MonkeyPatch,
        settings: Settings,
        name: str,
        value: str,
        reason: str,
    ) -> None:
        path = walker.walk(walker.begin(), "ann")
        trade = provider.trade

        def traded(*given, **named):
            tokens = trade(*given, **named)
            setattr(settings, name, value)
            return tokens

        monkeypatch.setattr("apps.accounts.sign_on.oidc.trade", traded)
        answer = walker.client.get(path)
        assert answer.status_code in {403, 503}
        assert reason in answer.content.decode()
        assert not User.objects.exists()

    def test_is_refused_once_the_token_has_expired(
        self, walker: Walker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = walker.walk(walker.begin(), "ann")
        late = timezone.now() + timedelta(hours=3)
        monkeypatch.setattr("django.utils.timezone.now", lambda: late)
        answer = walker.client.get(path)
        assert answer.status_code == 403
        assert "expired" in answer.content.decode()

    def test_is_refused_if_userinfo_is_of_another_person(
        self, walker: Walker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = walker.walk(walker.begin(), "ann")
        monkeypatch.setattr(
            "apps.accounts.sign_on.oidc.userinfo", lambda *_, **__: {"sub": "ben"}
        )
        answer = walker.client.get(path)
        assert answer.status_code == 403
        assert "another person" in answer.content.decode()


class TestASessionOfTheProvider:
    def test_is_renewed_by_a_full_page_alone(self, walker: Walker) -> None:
        walker.sign_in("ann")
        session = walker.client.session
        session[BEGAN_AT] -= 9 * 3600 * 60
        session.save()
        page = walker.client.get("/tables/?q=a")
        assert page["Location"] == "/sign-in/sso/?next=/tables/%3Fq%3Da"
        part = walker.client.get("/tables/", headers={"HX-Request": "true"})
        assert part.status_code == 401
        assert part["HX-Redirect"].startswith("/sign-in/sso/")
        script = walker.client.get("/tables.json")
        assert script.status_code == 401
        assert script.json()["sign_in_url"].startswith("/sign-in/sso/")
        stream = walker.client.get("/news/", headers={"Accept": "text/event-stream"})
        assert stream.status_code in {401, 404}
        answer = walker.sign_in("ann", page["Location"])
        assert answer["Location"] == "/tables/?q=a"
        assert walker.client.get("/me.json").status_code == 200

    def test_is_ended_by_the_provider_at_once(
        self, walker: Walker, provider: Provider
    ) -> None:
        walker.sign_in("ann")
        other = Walker()
        other.sign_in("ann")
        away = walker.client.post("/sign-out/")["Location"]
        walker.sign_in("ann")
        walker.sign_out_there(away)
        assert len(provider.tokens) == 1
        assert walker.client.get("/me.json").status_code == 200
        answer = Client().post(
            "/sign-in/sso/logout/", {"logout_token": provider.tokens[0]}
        )
        assert answer.status_code == 200
        assert walker.client.get("/me.json").status_code == 401
        assert other.client.get("/me.json").status_code == 200
        assert SignOnSession.objects.count() == 1
        again = Client().post(
            "/sign-in/sso/logout/", {"logout_token": provider.tokens[0]}
        )
        assert again.status_code == 400
        assert "used before" in again.json()["error_description"]

    @pytest.mark.parametrize("token", ["", "a.b.c", "x" * 20_000, "é", "ey.ey.ey"])
    def test_is_not_ended_by_anything_else(self, walker: Walker, token: str) -> None:
        walker.sign_in("ann")
        answer = Client().post("/sign-in/sso/logout/", {"logout_token": token})
        assert answer.status_code == 400
        assert walker.client.get("/me.json").status_code == 200

    def test_is_not_ended_by_an_id_token(self, walker: Walker) -> None:
        walker.sign_in("ann")
        token = walker.client.session["sign_on"]
        answer = Client().post("/sign-in/sso/logout/", {"logout_token": token})
        assert answer.status_code == 400
        assert walker.client.get("/me.json").status_code == 200


def test_without_a_provider_the_addresses_say_so() -> None:
    assert Client().get("/sign-in/sso/").status_code == 404
    assert Client().get(CALLBACK).status_code == 404
    assert Client().post("/sign-in/sso/logout/").status_code == 404


@pytest.mark.usefixtures("provider")
def test_a_provider_that_is_down_is_one_sentence(settings: Settings) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    answer = Client().get("/sign-in/sso/")
    assert answer.status_code == 503
    assert "cannot be used at the moment" in answer.content.decode()


@pytest.mark.usefixtures("provider")
def test_the_sign_in_page_links_to_the_provider(settings: Settings) -> None:
    page = Client().get("/sign-in/?next=/tables/").content.decode()
    assert 'href="/sign-in/sso/?next=/tables/"' in page
    assert 'name="password"' in page
    settings.LOCAL_ACCOUNTS = "false"
    assert 'name="password"' not in Client().get("/sign-in/").content.decode()
