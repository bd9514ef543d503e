"""Keys that are handed out, and what becomes of changed ones."""

import base64
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from deltaweb.iceberg.access.errors import KeysRefusedError
from deltaweb.iceberg.access.vended_keys import (
    Claims,
    VendedKeys,
    access_key_of,
    open_keys,
    vend_keys,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
KEYS = [b"new", b"old"]
CLAIMS = Claims(
    token_id=UUID(int=1),
    table_id=UUID(int=2),
    first_version=3,
    last_version=9,
    expires_at=NOW + timedelta(hours=1),
)


@pytest.mark.parametrize("signer", [[b"new"], [b"old"], KEYS])
def test_keys_are_good_for_what_was_claimed(signer: list[bytes]) -> None:
    keys = vend_keys(CLAIMS, signer)

    opened = open_keys(keys.session_token, keys.access_key, keys=KEYS, now=NOW)

    assert (opened.claims, opened.secret_key) == (CLAIMS, keys.secret_key)
    for secret in (keys.secret_key, keys.session_token):
        assert secret not in repr((keys, opened))


def test_other_claims_have_other_keys() -> None:
    keys = vend_keys(CLAIMS, KEYS)
    others = vend_keys(replace(CLAIMS, last_version=10), KEYS)

    assert keys.access_key != others.access_key
    assert keys.secret_key != others.secret_key


def longer(token: str) -> str:
    signed = bytearray(base64.urlsafe_b64decode(token))
    signed[-40] ^= 1  # the end of their time
    return base64.urlsafe_b64encode(bytes(signed)).decode()


def with_token(change: Callable[[str], str]) -> Callable[[VendedKeys], VendedKeys]:
    def changed(keys: VendedKeys) -> VendedKeys:
        token = change(keys.session_token)
        return replace(keys, session_token=token, access_key=access_key_of(token))

    return changed


HOSTILE = {
    "claims that were changed": with_token(longer),
    "no token": with_token(lambda _: ""),
    "half a token": with_token(lambda token: token[: len(token) // 2]),
    "a token of other letters": with_token(lambda token: "ü" + token[1:]),
    "a token of a strange letter": with_token(lambda token: "$" + token[1:]),
    "a very long token": with_token(lambda token: token * 1000),
    "another access key": lambda keys: replace(keys, access_key="DWOTHER"),
    "keys of another server": lambda _: vend_keys(CLAIMS, [b"foreign"]),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_keys_that_this_server_has_not_vended_are_refused(change):
    keys = change(vend_keys(CLAIMS, KEYS))

    with pytest.raises(KeysRefusedError):
        open_keys(keys.session_token, keys.access_key, keys=KEYS, now=NOW)


def test_keys_end() -> None:
    keys = vend_keys(CLAIMS, KEYS)

    with pytest.raises(KeysRefusedError) as caught:
        open_keys(keys.session_token, keys.access_key, keys=KEYS, now=CLAIMS.expires_at)

    assert caught.value.s3_code == "ExpiredToken"


def test_a_token_of_another_form_is_refused() -> None:
    token = base64.urlsafe_b64decode(vend_keys(CLAIMS, KEYS).session_token)
    packed = b"\x02" + token[1:-32]
    signed = packed + hmac.digest(KEYS[0], packed, "sha256")
    text = base64.urlsafe_b64encode(signed).decode()

    with pytest.raises(KeysRefusedError):
        open_keys(text, access_key_of(text), keys=KEYS, now=NOW)


def test_a_secret_cannot_be_made_of_what_is_public() -> None:
    keys = vend_keys(CLAIMS, KEYS)
    token = keys.session_token.encode()

    made = {
        *(hashlib.sha256(text).hexdigest() for text in (token, b"secret\0" + token)),
        *(
            hmac.new(b"", text, "sha256").hexdigest()
            for text in (token, b"secret\0" + token)
        ),
    }

    assert keys.secret_key not in made


def test_an_access_key_is_a_digest_of_its_token() -> None:
    keys = vend_keys(CLAIMS, KEYS)

    assert keys.access_key == access_key_of(keys.session_token)
    assert len(keys.access_key) == 20
