"""The access tokens of this server: who they name, and until when."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey

from deltaweb.sharing.oauth.access_token import (
    ALGORITHM,
    LIFETIME,
    TYPE,
    client_of_token,
    new_access_token,
)
from deltaweb.sharing.oauth.errors import JWTRefusedError

CLIENT = UUID(int=7)
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ISSUER, OLD, NEW = "https://tables.example.org", b"o" * 32, b"n" * 32


def made(*keys: bytes, ends_at: datetime = NOW + timedelta(days=9)) -> tuple[str, int]:
    return new_access_token(CLIENT, keys=keys, issuer=ISSUER, now=NOW, ends_at=ends_at)


def client_of(token: str, *keys: bytes, now: datetime = NOW) -> UUID:
    return client_of_token(token, keys=keys, issuer=ISSUER, now=now)


def test_a_token_names_its_client_until_its_hour_is_over() -> None:
    token, seconds = made(NEW)

    assert seconds == LIFETIME.total_seconds()
    assert client_of(token, NEW, now=NOW + LIFETIME - timedelta(minutes=5)) == CLIENT
    with pytest.raises(JWTRefusedError):
        client_of(token, NEW, now=NOW + LIFETIME + timedelta(minutes=5))


def test_no_token_outlives_what_it_was_made_of() -> None:
    token, seconds = made(NEW, ends_at=NOW + timedelta(minutes=5))

    assert seconds == 300
    with pytest.raises(JWTRefusedError):
        client_of(token, NEW, now=NOW + timedelta(minutes=15))


def test_a_key_that_was_replaced_is_good_as_long_as_it_is_kept() -> None:
    token, _ = made(OLD)

    assert client_of(token, NEW, OLD) == CLIENT
    with pytest.raises(JWTRefusedError):
        client_of(token, NEW)


@pytest.mark.parametrize("subject", ["", "nobody", f"{CLIENT} ", 7, None])
def test_a_token_without_a_client_is_refused(subject: object) -> None:
    times = {"iat": int(NOW.timestamp()), "exp": int(NOW.timestamp()) + 60}
    claims = {"iss": ISSUER, "aud": ISSUER, "sub": subject, **times}
    key = OctKey.import_key(NEW)
    token = jwt.encode({"alg": ALGORITHM, "typ": TYPE}, claims, key, [ALGORITHM])

    with pytest.raises(JWTRefusedError):
        client_of(token, NEW)


@pytest.mark.parametrize("change", [str.upper, str.swapcase, lambda text: text[:-2]])
def test_a_token_that_was_changed_is_refused(change: Callable[[str], str]) -> None:
    token, _ = made(NEW)

    with pytest.raises(JWTRefusedError):
        client_of(change(token), NEW)
