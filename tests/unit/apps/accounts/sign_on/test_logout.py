"""A logout token ends the session that it names, or all of a person.

Source: OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.7.
"""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from joserfc.jwk import RSAKey
from pytest_django.fixtures import Settings

from apps.accounts.models import Identity, SignOnSession, User
from apps.accounts.sign_on import provider
from apps.accounts.sign_on.logout import EVENT, log_out, remember_session
from deltaweb.sharing.oauth.errors import JWTRefusedError
from tests.support.local_issuer import LocalIssuer, running_issuer
from tests.support.oauth_tokens import signed

pytestmark = pytest.mark.django_db
NOW = datetime.now(UTC).replace(microsecond=0)
LONG = "s" * 300


@pytest.fixture
def issuer(settings: Settings) -> Iterator[LocalIssuer]:
    with running_issuer() as one:
        one.keys.append(RSAKey.generate_key(2048))
        for name in ("authorization", "token", "userinfo"):
            one.discovery[f"{name}_endpoint"] = f"{one.url}/{name}"
        settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = one.url, "deltaweb"
        provider.forget()
        yield one
    provider.forget()


def begun(issuer: LocalIssuer, subject: str, sid: str) -> str:
    """The key of a session of a person."""
    user, _ = User.objects.get_or_create(username=subject, signed_on_at=NOW)
    identity, _ = Identity.objects.get_or_create(
        user=user, issuer=issuer.url, subject=subject, defaults={"created_at": NOW}
    )
    session = SessionStore()
    session.create()
    key = session.session_key or ""
    remember_session(identity, session_key=key, sid=sid, now=NOW)
    return key


def token(issuer: LocalIssuer, **claims: Any) -> str:  # noqa: ANN401 (JSON)
    usual = {
        "iss": issuer.url,
        "aud": "deltaweb",
        "iat": int(NOW.timestamp()),
        "exp": int((NOW + timedelta(minutes=2)).timestamp()),
        "jti": uuid.uuid4().hex,
        "events": {EVENT: {}},
    }
    return signed(issuer.keys[0], usual | claims)


def open_sessions() -> set[str]:
    keys = SignOnSession.objects.values_list("session_key", flat=True)
    return {one for one in keys if SessionStore().exists(one)}


@pytest.mark.parametrize("names", [{"sid": "1"}, {"sid": "1", "sub": "ann"}])
def test_one_that_names_a_session_ends_it_alone(
    issuer: LocalIssuer, names: dict[str, str]
) -> None:
    begun(issuer, "ann", "1")
    others = {begun(issuer, "ann", "2"), begun(issuer, "bob", "3")}

    log_out(token(issuer, **names), now=NOW)

    assert open_sessions() == others
    assert not User.objects.filter(is_signed_out=True).exists()


def test_one_without_a_session_ends_all_of_a_person_and_suspends_the_keys(
    issuer: LocalIssuer,
) -> None:
    begun(issuer, "ann", "1")
    begun(issuer, "ann", "2")
    others = {begun(issuer, "bob", "3")}

    log_out(token(issuer, sub="ann"), now=NOW)

    assert open_sessions() == others
    assert [one.username for one in User.objects.filter(is_signed_out=True)] == ["ann"]


def test_one_that_names_the_session_of_another_person_ends_nothing(
    issuer: LocalIssuer,
) -> None:
    others = {begun(issuer, "ann", "1"), begun(issuer, "bob", "2")}

    log_out(token(issuer, sub="ann", sid="2"), now=NOW)

    assert open_sessions() == others


def test_a_session_with_a_long_name_is_ended_too(issuer: LocalIssuer) -> None:
    begun(issuer, "ann", LONG)

    log_out(token(issuer, sid=LONG), now=NOW)

    assert not open_sessions()


@pytest.mark.parametrize(
    "claims",
    [
        {"sub": "ann", "sid": ""},
        {"sub": "ann", "sid": 1},
        {"sub": "ann", "nonce": "n"},
        {"sub": "ann", "events": {}},
        {"sub": "ann", "aud": "others"},
        {},
    ],
)
def test_one_that_is_not_as_it_should_be_ends_nothing(
    issuer: LocalIssuer, claims: dict[str, Any]
) -> None:
    others = {begun(issuer, "ann", "1")}

    with pytest.raises(JWTRefusedError):
        log_out(token(issuer, **claims), now=NOW)

    assert open_sessions() == others
