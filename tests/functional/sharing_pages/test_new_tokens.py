"""Tokens are issued, and an old one is rotated for a new one."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.sharing.models import Recipient
from tests.functional.sharing_pages.tokens import DAY, NEW, ROTATE, nonce_in, waiting
from tests.support.pages.factories import new_token

pytestmark = pytest.mark.django_db


class TestANewToken:
    @pytest.mark.parametrize("path", [NEW, ROTATE])
    def test_is_not_made_by_an_empty_form(self, admin, acme, path):
        answer = admin.post(path, {})

        assert answer.status_code == 422
        assert "Choose how long the token is valid" in answer.content.decode()
        assert not acme.tokens.exists()


class TestRotation:
    def test_keeps_the_old_token_as_long_as_chosen(self, admin, acme):
        old, _ = new_token(acme)
        form = {"lifetime": "90d", "keep": "custom", "keep_until": "36h"}

        text = admin.post(ROTATE, form).content.decode()

        assert nonce_in(text)
        assert old.prefix in text
        old.refresh_from_db()
        new = old.replaced_by
        assert new is not None
        assert new.expires_at - new.created_at == 90 * DAY
        assert old.retires_at == new.created_at + timedelta(hours=36)

    def test_names_what_it_replaces(self, admin: Client, acme: Recipient) -> None:
        old, _ = new_token(acme, expires_at=timezone.now() + 9 * DAY)
        never = waiting(acme)
        gone, _ = new_token(acme, revoked_at=timezone.now())

        text = admin.get(ROTATE).content.decode()

        assert old.prefix in text
        assert never.prefix in text
        assert "it and its link end at once" in text
        assert gone.prefix not in text
