"""The link to a token is shown once; another replaces it, and so does the profile."""

import re
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from apps.audit.models import AuditEvent
from apps.sharing.models import ActivationLink, Recipient, RecipientToken
from tests.functional.sharing_pages.tokens import NEW, ROTATE, nonce_in, waiting
from tests.support import cases
from tests.support.pages.factories import new_recipient, new_token

pytestmark = pytest.mark.django_db


class TestALinkThatIsShownOnce:
    def test_is_in_no_later_answer_session_message_or_record(self, admin, acme):
        made = admin.post(NEW, {"lifetime": "90d"})

        nonce = nonce_in(made.content.decode())
        assert made.status_code == 201
        assert made["Cache-Control"] == "no-store"
        for path in (
            "/recipients/acme/",
            "/recipients/acme.json",
            "/recipients/",
            "/activity/",
            "/activity.json",
            NEW,
            ROTATE,
        ):
            assert nonce not in admin.get(path).content.decode(), path
        for session in Session.objects.all():
            assert nonce not in str(session.get_decoded())
        for event in AuditEvent.objects.all():
            assert nonce not in str(vars(event))
        assert nonce not in str(list(ActivationLink.objects.values()))
        assert acme.tokens.get().token_sha256 is None

    def test_is_not_made_again_by_a_reload(self, admin: Client, acme: Recipient):
        form = {"lifetime": "90d", "once": str(uuid4())}

        first = admin.post(NEW, form)
        again = admin.post(NEW, form, follow=True)

        assert first.status_code == 201
        assert "its link was shown then" in again.content.decode()
        assert "/activate/" not in again.content.decode()
        assert acme.tokens.count() == 1

    @cases(
        "path, form",
        {
            "a rotation": (ROTATE, {"keep": "24h"}),
            "a recipient": ("/recipients/new", {"name": "globex"}),
        },
    )
    def test_is_made_by_no_form_twice(self, admin, acme, path, form):
        del acme
        form = {"lifetime": "90d", "once": str(uuid4()), **form}

        first, again = admin.post(path, form), admin.post(path, form)

        assert (first.status_code, again.status_code) == (201, 302)
        assert RecipientToken.objects.count() == 1

    @pytest.mark.parametrize("path", [NEW, ROTATE, "/recipients/new"])
    def test_every_form_has_a_key_of_its_own(self, admin, acme, path):
        del acme
        keys = [
            re.findall(r'name="once" value="([0-9a-f-]{36})"', text)
            for text in (admin.get(path).content.decode() for _ in range(2))
        ]

        assert [len(found) for found in keys] == [1, 1]
        assert keys[0] != keys[1]

    def test_is_left_only_once_it_is_copied(self, admin: Client, acme: Recipient):
        del acme
        text = admin.post(NEW, {"lifetime": "7d"}).content.decode()

        assert re.search(r'<input type="checkbox" required data-copied>', text)
        assert "I have copied it" in text
        assert "js/sharing.js" in text

    def test_has_a_json_form_for_scripts(self, admin: Client, acme: Recipient) -> None:
        data = admin.post("/recipients/acme/tokens/new.json", {"lifetime": "7d"}).json()

        assert nonce_in(data["activation_link"])
        assert data["token"] == acme.tokens.get().prefix


class TestAnotherLink:
    def test_replaces_the_one_before(self, admin: Client, acme: Recipient) -> None:
        first = nonce_in(admin.post(NEW, {"lifetime": "7d"}).content.decode())
        token = acme.tokens.get()

        again = admin.post(f"/recipients/acme/tokens/{token.id}/link")

        assert again.status_code == 201
        assert again["Cache-Control"] == "no-store"
        second = nonce_in(again.content.decode())
        assert second != first
        assert Client().get(f"/activate/{first}").status_code == 410
        assert Client().get(f"/activate/{second}").status_code == 200

    def test_is_not_made_again_by_a_reload(self, admin: Client, acme: Recipient):
        token = waiting(acme)
        path, form = f"/recipients/acme/tokens/{token.id}/link", {"once": str(uuid4())}

        nonce = nonce_in(admin.post(path, form).content.decode())
        again = admin.post(path, form)

        assert again.status_code == 302
        assert Client().get(f"/activate/{nonce}").status_code == 200

    def test_is_refused_for_a_token_that_is_active(self, admin, acme):
        token, _ = new_token(acme)

        answer = admin.post(f"/recipients/acme/tokens/{token.id}/link", follow=True)

        assert "has been activated already" in answer.content.decode()
        assert not ActivationLink.objects.exists()

    def test_of_a_token_of_somebody_else_is_a_404(self, admin: Client, acme: Recipient):
        del acme
        token = waiting(new_recipient("initech"))

        path = f"/recipients/acme/tokens/{token.id}"

        assert admin.post(f"{path}/link").status_code == 404
        assert admin.post(f"{path}/revoke").status_code == 404


class TestTheProfileItself:
    def test_is_downloaded_once_and_closes_the_link(self, admin, acme):
        nonce = nonce_in(admin.post(NEW, {"lifetime": "7d"}).content.decode())
        token = acme.tokens.get()
        path = f"/recipients/acme/tokens/{token.id}/profile"

        profile = admin.post(path)
        again = admin.post(path, follow=True)

        assert profile["Content-Type"] == "application/json"
        assert profile["Content-Disposition"] == 'attachment; filename="acme.share"'
        assert profile["Cache-Control"] == "no-store"
        secret = profile.json()["bearerToken"]
        assert secret.startswith(token.prefix)
        assert secret not in again.content.decode()
        assert "cannot be shown again" in again.content.decode()
        assert Client().get(f"/activate/{nonce}").status_code == 410
        for event in AuditEvent.objects.all():
            assert secret not in str(vars(event))

    def test_is_not_for_a_get(self, admin: Client, acme: Recipient) -> None:
        token = waiting(acme)

        answer = admin.get(f"/recipients/acme/tokens/{token.id}/profile")

        assert answer.status_code == 405
        token.refresh_from_db()
        assert token.token_sha256 is None
