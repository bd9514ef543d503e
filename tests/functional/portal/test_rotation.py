"""A recipient rotates its own token, where the provider allows it."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.sharing.models import Recipient, RecipientToken
from tests.functional.portal.visitors import Visitor, text_of
from tests.support.pages.factories import signed_in

DAY = timedelta(days=1)
NOW_URL = "/portal/rotate/now"


@pytest.fixture
def allowed(acme: Visitor) -> Visitor:
    """A recipient that may rotate, and is signed in."""
    Recipient.objects.update(may_rotate=True)
    acme.sign_in()
    return acme


class TestRotation:
    def test_hands_out_a_profile_that_opens(self, allowed: Visitor) -> None:
        assert "Rotate" in text_of(allowed.get())

        answer = allowed.post(NOW_URL)

        profile = json.loads(answer.content)
        assert answer["Content-Disposition"].endswith('acme.share"')
        assert allowed.sign_in(profile["bearerToken"]).url == "/portal/"

    def test_lets_the_old_token_end_a_day_later(self, allowed: Visitor) -> None:
        allowed.post(NOW_URL)

        allowed.token.refresh_from_db()
        assert allowed.token.retires_at is not None
        left = allowed.token.retires_at - timezone.now()
        assert DAY - timedelta(minutes=5) < left <= DAY
        assert allowed.get().status_code == 200

    def test_lengthens_no_lifetime(self, allowed: Visitor) -> None:
        RecipientToken.objects.update(
            created_at=timezone.now() - DAY, expires_at=timezone.now() + DAY
        )

        allowed.post(NOW_URL)

        new = RecipientToken.objects.exclude(id=allowed.token.id).get()
        assert new.expires_at <= timezone.now() + 2 * DAY

    def test_is_done_once_by_a_session(self, allowed: Visitor) -> None:
        form = {"form": allowed.form_token()}
        first = allowed.post(NOW_URL, form)

        again = allowed.post(NOW_URL, form)

        assert (first.status_code, again.status_code) == (200, 403)
        assert "was replaced by a newer one" in text_of(again)
        assert RecipientToken.objects.count() == 2

    def test_is_refused_until_it_is_allowed(self, acme: Visitor) -> None:
        acme.sign_in()

        assert "does not allow it" in text_of(acme.get("/portal/rotate"))
        assert acme.post(NOW_URL).status_code == 403
        assert RecipientToken.objects.count() == 1

    def test_needs_a_form_of_the_session(self, allowed: Visitor) -> None:
        assert allowed.get(NOW_URL).status_code == 405
        assert allowed.client.post(NOW_URL).status_code == 403
        assert RecipientToken.objects.count() == 1

    def test_is_recorded_as_the_recipients_own(self, allowed: Visitor) -> None:
        allowed.post(NOW_URL)

        change = AuditEvent.objects.get(action="token.rotate")
        assert (change.actor, change.recipient) == ("acme (in the browser)", "acme")
        call = AuditEvent.objects.get(action="portal.rotate")
        assert (call.kind, call.status) == ("CALL", 200)


class TestTheSwitches:
    def test_are_on_the_settings_pages(self, acme: Visitor) -> None:
        root = signed_in("root", role="ADMIN")
        page = root.get("/recipients/acme/settings").content.decode()
        for name, path in (
            ("in_browser", "/recipients/acme/browser"),
            ("may_rotate", "/recipients/acme/own-rotation"),
        ):
            assert f'action="{path}"' in page
            assert root.post(path).status_code == 302
            assert getattr(Recipient.objects.get(), name) is True
            assert root.post(f"{path}-off").status_code == 302
            assert getattr(Recipient.objects.get(), name) is False
        assert acme.recipient.name == "acme"

    def test_are_for_administrators(self, acme: Visitor) -> None:
        editor = signed_in("ed", role="EDITOR")

        for path in ("/recipients/acme/browser", "/shares/People/browser"):
            assert editor.post(path).status_code == 403
        assert acme.recipient.in_browser is False
