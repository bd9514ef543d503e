"""Signing on by the header of an authenticating proxy."""

from datetime import timedelta
from typing import Final

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.lifetimes.sessions import BEGAN_AT
from apps.accounts.models import Group, Identity, Invitation, Membership, User
from apps.accounts.sign_on import people, proxy_sessions
from apps.audit.models import AuditEvent
from tests.support.pages.factories import new_user, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.database]
PROXY: Final = "10.1.2.3"
ANN: Final = {"Remote-User": "ann", "Remote-Groups": "data,ops"}


@pytest.fixture(autouse=True)
def proxy(settings: Settings) -> None:
    settings.REMOTE_USER_HEADER = "Remote-User"
    settings.REMOTE_GROUPS_HEADER = "Remote-Groups"
    settings.REMOTE_EMAIL_HEADER = "Remote-Email"
    settings.REMOTE_USER_PROXIES = ["10.0.0.0/8"]
    settings.SSO_REQUIRED_GROUPS = ["data"]
    proxy_sessions.refusals.clear()


@pytest.fixture
def browser() -> Client:
    return Client(REMOTE_ADDR=PROXY)


class TestAPersonWhomTheProxyNames:
    def test_gets_an_account_and_its_groups(self, browser: Client) -> None:
        answer = browser.get("/me.json", headers=ANN)
        assert answer.status_code == 200
        assert answer.json()["name"] == "ann"
        user = User.objects.get(username="ann")
        assert user.role == User.Role.VIEWER
        assert not user.has_usable_password()
        assert list(user.identities.values_list("issuer", "subject")) == [
            ("proxy", "ann")
        ]
        assert {one.group.name for one in user.memberships.all()} == {"data", "ops"}

    def test_never_meets_a_local_account_of_that_name(self, browser: Client) -> None:
        local = new_user("ann", role=User.Role.ADMIN)
        answer = browser.get("/me.json", headers=ANN)
        assert answer.json()["name"] == "ann-2"
        assert answer.json()["role"] == "viewer"
        assert not local.identities.exists()

    def test_is_linked_to_an_account_by_an_administrator(self, browser: Client) -> None:
        local = new_user("anna", role=User.Role.EDITOR)
        Identity.objects.create(
            user=local,
            issuer="proxy",
            subject="ann",
            is_invited=True,
            created_at=timezone.now(),
        )
        answer = browser.get("/me.json", headers={"Remote-User": "ann"})
        assert answer.json()["name"] == "anna"
        assert answer.json()["role"] == "editor"

    def test_gets_the_role_of_the_groups(
        self, browser: Client, settings: Settings
    ) -> None:
        settings.SSO_ROLES = [("ops", "admin")]
        assert browser.get("/me.json", headers=ANN).json()["role"] == "admin"
        fewer = {**ANN, "Remote-Groups": "data"}
        assert browser.get("/me.json", headers=fewer).json()["role"] == "viewer"

    def test_loses_a_group_with_the_next_request(self, browser: Client) -> None:
        browser.get("/me.json", headers=ANN)
        browser.get("/me.json", headers={**ANN, "Remote-Groups": "data"})
        assert [one.group.name for one in Membership.objects.all()] == ["data"]

    def test_never_joins_a_local_group_by_a_claim(self, browser: Client) -> None:
        Group.objects.create(name="Ops", created_at=timezone.now())
        browser.get("/me.json", headers=ANN)
        assert [one.group.name for one in Membership.objects.all()] == ["data"]

    def test_keeps_local_memberships(self, browser: Client) -> None:
        browser.get("/me.json", headers=ANN)
        group = Group.objects.create(name="local", created_at=timezone.now())
        user = User.objects.get(username="ann")
        Membership.objects.create(
            user=user, group=group, source="local", since=timezone.now()
        )
        browser.get("/me.json", headers={**ANN, "Remote-Groups": "data"})
        assert Membership.objects.filter(user=user, source="local").count() == 1

    def test_is_refused_with_the_next_request_once_rules_do_not_admit(
        self, browser: Client, settings: Settings
    ) -> None:
        browser.get("/me.json", headers=ANN)
        settings.SSO_REQUIRED_GROUPS = ["admins"]
        assert browser.get("/me.json", headers=ANN).status_code == 403
        assert User.objects.get(username="ann").is_signed_out

    def test_is_not_named_by_a_name_with_another_space(self, browser: Client) -> None:
        name = "ann\N{NO-BREAK SPACE}".encode().decode("latin-1")
        answer = browser.get("/me.json", headers={**ANN, "Remote-User": name})
        assert answer.status_code == 400
        assert not User.objects.exists()

    def test_is_found_if_another_request_made_the_account_meanwhile(
        self, browser: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        browser.get("/me.json", headers=ANN)
        really, looks = people.known, iter([(None, None)])

        def known(*given):
            return next(looks, None) or really(*given)

        monkeypatch.setattr(people, "known", known)
        assert Client(REMOTE_ADDR=PROXY).get("/me.json", headers=ANN).status_code == 200
        assert User.objects.count() == Identity.objects.count() == 1

    def test_gets_the_address_that_the_proxy_vouches_for(self, browser: Client) -> None:
        headers = {**ANN, "Remote-Email": "Ann@example.com"}
        browser.get("/me.json", headers=headers)
        assert User.objects.get().mail_address == "ann@example.com"
        browser.get("/me.json", headers={**ANN, "Remote-Email": "ann@new.example"})
        assert User.objects.get().mail_address == "ann@new.example"

    def test_keeps_an_address_of_their_own(self, browser: Client) -> None:
        browser.get("/me.json", headers=ANN)
        User.objects.update(email="own@example.com", email_confirmed_at=timezone.now())
        browser.get("/me.json", headers={**ANN, "Remote-Email": "ann@example.com"})
        assert User.objects.get().mail_address == "own@example.com"

    def test_does_not_get_the_address_of_another_account(self, browser: Client) -> None:
        new_user("other", email="ANN@example.com")
        browser.get("/me.json", headers={**ANN, "Remote-Email": "ann@example.com"})
        assert not User.objects.get(username="ann").email

    def test_is_signed_out_without_the_header(self, browser: Client) -> None:
        browser.get("/me.json", headers=ANN)
        assert browser.get("/me.json").status_code == 401
        assert "_auth_user_id" not in browser.session

    def test_becomes_somebody_else_with_another_name(self, browser: Client) -> None:
        browser.get("/me.json", headers=ANN)
        answer = browser.get("/me.json", headers={**ANN, "Remote-User": "ben"})
        assert answer.json()["name"] == "ben"

    def test_has_a_session_that_is_renewed_in_place(self, browser: Client) -> None:
        browser.get("/me.json", headers=ANN)
        session = browser.session
        session[BEGAN_AT] -= 9 * 3600
        session.save()
        User.objects.update(signed_on_at=timezone.now() - timedelta(days=6))
        assert browser.get("/me.json", headers=ANN).status_code == 200
        assert browser.session.session_key == session.session_key
        signed_on_at = User.objects.get(username="ann").signed_on_at
        assert signed_on_at is not None
        assert timezone.now() - signed_on_at < timedelta(minutes=1)

    def test_is_named_by_bytes_of_utf_8(self, browser: Client) -> None:
        name = "zoë".encode().decode("latin-1")
        answer = browser.get(
            "/me.json", HTTP_REMOTE_USER=name, HTTP_REMOTE_GROUPS="data"
        )
        assert answer.json()["name"] == "zoë"


class TestNobody:
    @pytest.mark.parametrize("groups", ["", "other", "Data"])
    def test_is_admitted_without_a_required_group(
        self, browser: Client, groups: str
    ) -> None:
        answer = browser.get("/me.json", headers={**ANN, "Remote-Groups": groups})
        assert answer.status_code == 403
        assert answer.json()["error"] == "sign-on-refused"
        assert not User.objects.exists()

    def test_is_admitted_where_no_rule_is_set(
        self, browser: Client, settings: Settings
    ) -> None:
        settings.SSO_REQUIRED_GROUPS = []
        assert browser.get("/me.json", headers=ANN).status_code == 403
        assert not User.objects.exists()

    def test_fills_the_record_by_asking_again(self, browser: Client) -> None:
        for _ in range(3):
            browser.get("/me.json", headers={"Remote-User": "eve"})
        assert AuditEvent.objects.filter(error_code="sign-on-refused").count() == 1

    def test_stays_in_who_left_the_required_group(self, browser: Client) -> None:
        browser.get("/me.json", headers=ANN)
        answer = browser.get("/me.json", headers={**ANN, "Remote-Groups": "ops"})
        assert answer.status_code == 403
        assert User.objects.get(username="ann").is_signed_out

    def test_gets_in_who_is_disabled(self, browser: Client) -> None:
        browser.get("/me.json", headers=ANN)
        User.objects.update(is_active=False)
        assert browser.get("/me.json", headers=ANN).status_code == 403

    @pytest.mark.parametrize("address", ["192.0.2.9", "127.0.0.1", ""])
    @pytest.mark.parametrize("header", ["Remote-User", "Remote-Groups", "Remote-Email"])
    @pytest.mark.parametrize("path", ["/me.json", "/sign-in/", "/api/v1/me"])
    def test_sends_the_header_from_elsewhere(
        self, address: str, header: str, path: str
    ) -> None:
        sent = {header: "ann", "X-Forwarded-For": "10.1.2.3", "Accept": "text/html"}
        answer = Client(REMOTE_ADDR=address).get(path, headers=sent)
        assert answer.status_code == 403
        assert b"proxy" in answer.content
        assert not User.objects.exists()

    @pytest.mark.parametrize("name", ["ann,ben", "ann, ben", "a\tb", "x" * 256, "\xff"])
    def test_has_two_names_or_an_unreadable_one(
        self, browser: Client, name: str
    ) -> None:
        answer = browser.get("/me.json", HTTP_REMOTE_USER=name)
        assert answer.status_code == 400
        assert answer.json()["error"] == "remote-user-invalid"

    @pytest.mark.parametrize("path", ["/api/v1/me", "/api/v1/tables"])
    def test_calls_the_rest_api_by_the_header(self, browser: Client, path: str) -> None:
        browser.get("/me.json", headers=ANN)
        assert browser.get(path, headers=ANN).status_code == 401
        assert browser.get("/me.json", headers=ANN).status_code == 200

    @pytest.mark.parametrize(
        "path", ["/delta-sharing/shares", "/iceberg/v1/config", "/portal/"]
    )
    def test_comes_in_where_recipients_do(self, browser: Client, path: str) -> None:
        browser.get(path, headers=ANN)
        assert not User.objects.exists()


def test_a_form_still_needs_its_token() -> None:
    strict = Client(enforce_csrf_checks=True, REMOTE_ADDR=PROXY)
    strict.get("/me/", headers=ANN)
    answer = strict.post("/me/appearance", {"theme": "DARK"}, headers=ANN)
    assert answer.status_code == 403


def test_a_local_session_gives_way_to_the_header(browser: Client) -> None:
    other = signed_in("local", role=User.Role.ADMIN)
    browser.cookies = other.cookies
    assert browser.get("/me.json", headers=ANN).json()["name"] == "ann"


def test_an_invitation_admits_a_verified_address_once(
    browser: Client, settings: Settings
) -> None:
    settings.SSO_REQUIRED_GROUPS = []
    now = timezone.now()
    Invitation.objects.create(
        email="zoe@example.com",
        role=User.Role.EDITOR,
        invited_by="admin",
        created_at=now,
        expires_at=now + timedelta(days=1),
    )
    zoe = {"Remote-User": "zoe", "Remote-Email": "Zoe@Example.com"}
    answer = browser.get("/me.json", headers=zoe)
    assert (answer.json()["name"], answer.json()["role"]) == ("zoe", "editor")
    other = Client(REMOTE_ADDR=PROXY).get(
        "/me.json", headers={**zoe, "Remote-User": "eve"}
    )
    assert other.status_code == 403
    assert browser.get("/me.json", headers=zoe).status_code == 200
