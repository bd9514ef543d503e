"""OAuth clients sign in to the page of a recipient by their secret or access token."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.sharing.access import oauth
from apps.sharing.api.authentication import oauth_server
from apps.sharing.models import RecipientToken
from tests.functional.portal.visitors import Visitor, text_of
from tests.functional.sharing_api.ruled import Ruled
from tests.support import cases
from tests.support.pages.factories import new_grant, new_recipient, new_token


@pytest.fixture
def client(staff: Ruled) -> Visitor:
    """The browser of a recipient that reads with an OAuth client."""
    recipient = new_recipient("fed")
    new_grant(staff.shared.share, recipient)
    tomorrow = timezone.now() + timedelta(days=1)
    kind = RecipientToken.Kind.CLIENT_SECRET
    return Visitor(*new_token(recipient, kind=kind, expires_at=tomorrow))


def profile(**fields: str) -> str:
    return json.dumps({"type": "oauth_client_credentials", **fields})


def test_a_client_signs_in_by_its_profile(client: Visitor) -> None:
    found = profile(clientId=client.token.prefix, clientSecret=client.secret)

    assert client.sign_in(found).url == "/portal/"
    assert "Signed in as fed" in text_of(client.get())


@cases(
    "sent",
    {
        "another secret": {"clientSecret": "no"},
        "another client": {"clientId": "no"},
        "no client": {"clientId": ""},
    },
)
def test_a_wrong_profile_opens_nothing(client: Visitor, sent: dict[str, str]) -> None:
    right = {"clientId": client.token.prefix, "clientSecret": client.secret}

    assert client.sign_in(profile(**(right | sent))).status_code == 401
    assert client.cookie == ""


def test_the_secret_alone_opens_nothing(client: Visitor) -> None:
    assert client.sign_in(client.secret).status_code == 401


def test_an_access_token_opens_an_hour(client: Visitor) -> None:
    now = timezone.now()
    token, _ = oauth.access_token(client.token, oauth_server(), now=now)

    assert client.sign_in(token).url == "/portal/"
    length = client.session.open_until - client.session.opened_at
    assert length == timedelta(hours=1)


def test_a_changed_access_token_opens_nothing(client: Visitor) -> None:
    now = timezone.now()
    token, _ = oauth.access_token(client.token, oauth_server(), now=now)

    assert client.sign_in(f"{token[:-4]}AAAA").status_code == 401


def test_a_client_that_was_revoked_opens_nothing(client: Visitor) -> None:
    found = profile(clientId=client.token.prefix, clientSecret=client.secret)
    client.sign_in(found)
    RecipientToken.objects.update(revoked_at=timezone.now())

    assert client.get().status_code == 302
    assert client.sign_in(found).status_code == 401


def test_a_client_is_not_rotated_here(client: Visitor) -> None:
    client.sign_in(profile(clientId=client.token.prefix, clientSecret=client.secret))
    client.recipient.may_rotate = True
    client.recipient.save()

    assert "with an OAuth client" in text_of(client.get("/portal/rotate"))
    assert client.post("/portal/rotate/now").status_code == 403
