"""A token is revoked, or the end of one on its way out is moved."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.sharing.models import Recipient
from tests.functional.sharing_pages.tokens import DAY, waiting
from tests.support.pages.factories import new_token

pytestmark = pytest.mark.django_db


class TestRevoking:
    def test_a_token_in_use_asks_again_in_words(self, admin: Client, acme: Recipient):
        now = timezone.now()
        new_token(acme, expires_at=now + 90 * DAY)
        token, _ = new_token(
            acme,
            expires_at=now + 90 * DAY,
            last_used_at=now,
            last_used_agent="curl/8.5.0",
        )
        path = f"/recipients/acme/tokens/{token.id}/revoke"

        asked = admin.get(path).content.decode()
        hasty = admin.post(path)

        assert "Not safe to revoke yet" in asked
        assert "by curl 8.5.0" in " ".join(asked.split())
        assert hasty.status_code == 409
        assert "Revoke anyway" in hasty.content.decode()
        token.refresh_from_db()
        assert token.revoked_at is None

    def test_has_a_json_form(self, admin: Client, acme: Recipient) -> None:
        token, secret = new_token(acme, last_used_at=timezone.now())
        path = f"/recipients/acme/tokens/{token.id}"

        asked = admin.get(f"{path}/revoke.json")
        hasty = admin.post(f"{path}/revoke.json")

        assert asked.json()["safe_to_revoke"] is False
        assert asked.json()["cause"] == "in-use"
        assert hasty.status_code == 409
        assert admin.get(f"{path}/retire.json").json()["prefix"] == token.prefix
        assert secret not in asked.content.decode()

    def test_is_never_forbidden(self, admin: Client, acme: Recipient) -> None:
        token, _ = new_token(acme, last_used_at=timezone.now())

        done = admin.post(
            f"/recipients/acme/tokens/{token.id}/revoke",
            {"confirm": "yes"},
            follow=True,
        )

        assert "is revoked" in done.content.decode()
        token.refresh_from_db()
        assert token.revoked_at is not None

    def test_of_a_silent_token_needs_no_second_question(self, admin, acme):
        token = waiting(acme)

        admin.post(f"/recipients/acme/tokens/{token.id}/revoke")

        token.refresh_from_db()
        assert token.revoked_at is not None

    def test_of_an_ended_token_offers_only_the_way_back(self, admin, acme):
        token, _ = new_token(acme, revoked_at=timezone.now())

        text = admin.get(f"/recipients/acme/tokens/{token.id}/revoke").content.decode()

        assert "It no longer works" in text
        assert '<button type="submit" class="dw-btn dw-btn-danger"' not in text


class TestTheEndOfATokenOnItsWayOut:
    def test_is_moved(self, admin, acme):
        now = timezone.now()
        token, _ = new_token(acme, expires_at=now + 30 * DAY, retires_at=now + 2 * DAY)

        path = f"/recipients/acme/tokens/{token.id}/retire"
        text = admin.get(path).content.decode()
        done = admin.post(path, {"at": "custom", "at_until": "9d"}, follow=True)

        assert "At the latest, it expires on" in text
        assert f"{token.prefix}… ends on" in done.content.decode()
        token.refresh_from_db()
        assert token.retires_at is not None
        assert abs(token.retires_at - (now + 9 * DAY)) < timedelta(minutes=1)

    @pytest.mark.parametrize("until", ["31d", "2001-01-01", "0", "never"])
    def test_cannot_be_an_odd_moment(self, admin: Client, acme: Recipient, until: str):
        now = timezone.now()
        retires_at = now + 2 * DAY
        token, _ = new_token(acme, expires_at=now + 30 * DAY, retires_at=retires_at)

        answer = admin.post(
            f"/recipients/acme/tokens/{token.id}/retire",
            {"at": "custom", "at_until": until},
        )

        assert answer.status_code == 422
        token.refresh_from_db()
        assert token.retires_at == retires_at
