"""Shares and recipients are for administrators alone."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.sharing.models import Recipient
from tests.support.pages.factories import (
    new_call,
    new_recipient,
    new_share,
    new_token,
    new_user,
    signed_in,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
def test_only_administrators_come_in(role: User.Role) -> None:
    new_share("sales")
    new_call(share="sales")
    client = signed_in("someone", role=role)

    for path in (
        *("/shares/", "/shares/sales/", "/shares/sales/settings", "/shares/new"),
        *("/shares.json", "/activity/", "/activity.json", "/activity.csv"),
        "/received/",
    ):
        answer = client.get(path)

        assert answer.status_code == 403, path
        assert "sales" not in answer.content.decode(), path
    assert "/shares/" not in client.get("/tables/").content.decode()


class TestRoles:
    @pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR])
    def test_only_administrators_come_here(self, role: User.Role) -> None:
        new_recipient()
        client = signed_in(role=role)

        for path in (
            *("", "new", "acme/", "acme.json", "acme/grants", "acme/settings"),
            *("acme/delete", "acme/doctor", "acme/seen", "acme/tokens/new"),
            "acme/tokens/rotate",
        ):
            at = f"/recipients/{path}"
            answers = {client.get(at).status_code, client.post(at).status_code}

            assert 403 in answers, path
            assert answers <= {403, 405}, path  # it may not answer one of the methods

    @pytest.mark.parametrize("action", ["link", "profile", "revoke", "retire"])
    def test_only_they_touch_a_token(self, action: str) -> None:
        token, _ = new_token()
        client = signed_in()

        path = f"/recipients/acme/tokens/{token.id}/{action}"

        assert client.post(path, {"confirm": "yes"}).status_code == 403
        token.refresh_from_db()
        assert token.revoked_at is None

    def test_forms_need_the_csrf_token(self) -> None:
        new_recipient()
        client = Client(enforce_csrf_checks=True)
        client.force_login(new_user("ada", role=User.Role.ADMIN))

        for path in ("new", "acme/delete", "acme/tokens/new", "acme/settings"):
            assert client.post(f"/recipients/{path}").status_code == 403
        assert Recipient.objects.count() == 1

    def test_nobody_is_asked_to_sign_in_first(self) -> None:
        assert Client().get("/recipients/").status_code == 302
        assert Client().get("/recipients.json").status_code == 401
