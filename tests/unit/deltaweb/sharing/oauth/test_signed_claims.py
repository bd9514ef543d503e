"""Claims are believed if they are signed, in time, and meant for us."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from joserfc.jwk import ECKey, KeySet, RSAKey
from joserfc.jws import serialize_compact

from deltaweb.sharing.oauth import signed_claims
from deltaweb.sharing.oauth.errors import JWTRefusedError
from deltaweb.sharing.oauth.signed_claims import (
    ASYMMETRIC,
    MAX_TOKEN_BYTES,
    Expected,
    UnknownKeyError,
    checked_claims,
    looks_signed,
    unchecked_claims,
)
from tests.support.oauth_tokens import signed, signed_by_public_key, unsigned

KEY = ECKey.generate_key("P-256")
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
AT = int(NOW.timestamp())
HOUR = timedelta(hours=1)
CLAIMS = {"iss": "https://id.example", "aud": "deltaweb", "sub": "acme", "exp": AT + 60}


def check(*, max_life: timedelta | None = HOUR, **claims: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    """Check a token with these claims, and without those that are None."""
    told = {k: v for k, v in {**CLAIMS, **claims}.items() if v is not None}
    return checked_claims(
        signed(KEY, told), KEY, expected(max_life=max_life), algorithms=ASYMMETRIC
    )


def expected(**fields: Any) -> Expected:  # noqa: ANN401 (fields)
    defaults: dict[str, Any] = {
        "issuer": "https://id.example",
        "audiences": ["other", "deltaweb"],
        "now": NOW,
        "subject": "acme",
    }
    return Expected(**(defaults | fields))


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"aud": ["x", "other"]},
        {"exp": AT - 59},
        {"exp": AT + 3_660},
        {"max_life": None, "exp": AT + 10**6},
        {"nbf": AT + 60},
    ],
)
def test_claims_that_are_expected_are_returned(claims: dict[str, Any]) -> None:
    assert check(**claims)["sub"] == "acme"


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"iss": "https://other.example"}, "claim"),
        ({"iss": None}, "claim"),
        ({"aud": "else"}, "claim"),
        ({"aud": None}, "claim"),
        ({"sub": "globex"}, "claim"),
        ({"sub": None}, "claim"),
        ({"exp": None}, "claim"),
        ({"exp": "soon"}, "claim"),
        ({"exp": AT - 61}, "has expired"),
        ({"nbf": AT + 120}, "claim"),
        ({"exp": AT + 3_661}, "too long"),
        ({"exp": float("nan")}, "claim"),
        ({"exp": float("inf")}, "claim"),
        ({"exp": float("nan"), "max_life": None}, "claim"),
    ],
)
def test_any_other_claims_are_refused(claims: dict[str, Any], reason: str) -> None:
    with pytest.raises(JWTRefusedError, match=reason):
        check(**claims)


def test_a_nonce_with_half_a_letter_is_another() -> None:
    claims = json.dumps({**CLAIMS, "nonce": "\ud800"}).encode()
    token = serialize_compact({"alg": "ES256"}, claims, KEY)

    with pytest.raises(JWTRefusedError, match="nonce"):
        checked_claims(token, KEY, expected(nonce="known"), algorithms=ASYMMETRIC)


@pytest.mark.parametrize(
    "token",
    [
        unsigned(CLAIMS),
        signed_by_public_key(KEY, CLAIMS),
        signed(ECKey.generate_key("P-256"), CLAIMS, kid=KEY.thumbprint()),
        "a.b.c",
        "",
        signed(KEY, {**CLAIMS, "filling": "x" * MAX_TOKEN_BYTES}),
        signed(KEY, CLAIMS) + "\u00e9",
    ],
    ids=["unsigned", "public key", "other key", "text", "empty", "large", "not ASCII"],
)
def test_a_token_without_a_right_signature_is_refused(token: str) -> None:
    with pytest.raises(JWTRefusedError):
        checked_claims(token, KEY, expected(), algorithms=ASYMMETRIC)


def test_an_end_that_is_no_number_is_refused_whatever_the_library_lets_through() -> (
    None
):
    check_life = vars(signed_claims)["_check_life"]

    with pytest.raises(JWTRefusedError, match="valid for too long"):
        check_life({"exp": float("nan")}, expected(max_life=HOUR))


def test_a_key_serves_the_algorithms_that_are_named_alone() -> None:
    with pytest.raises(JWTRefusedError):
        checked_claims(signed(KEY, CLAIMS), KEY, expected(), algorithms=["RS256"])


def test_a_key_that_is_not_known_is_named_so() -> None:
    other = RSAKey.generate_key(2048)

    with pytest.raises(UnknownKeyError):
        checked_claims(
            signed(other, CLAIMS), KeySet([KEY]), expected(), algorithms=ASYMMETRIC
        )


def test_claims_are_read_unchecked_to_find_a_key() -> None:
    assert unchecked_claims(unsigned(CLAIMS)) == CLAIMS


@pytest.mark.parametrize("token", ["", "a.b.c", "é.b.c", "x" * (MAX_TOKEN_BYTES + 1)])
def test_what_holds_no_claims_is_refused(token: str) -> None:
    with pytest.raises(JWTRefusedError):
        unchecked_claims(token)


def test_a_signed_token_has_three_parts() -> None:
    assert [looks_signed(text) for text in ("a.b.c", "a.b", "a.b.c.d")] == [
        *(True, False, False)
    ]
