"""Keys and tokens of people who come by OAuth, good ones and hostile ones."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, OKPKey, RSAKey

Key = RSAKey | ECKey | OKPKey


def public_pem(key: Key) -> str:
    """What its owner hands out."""
    return key.as_pem(private=False).decode()


def signed(key: Key, claims: Mapping[str, Any], **header: Any) -> str:  # noqa: ANN401 (JSON)
    """A token as it should be, if its claims are."""
    algorithm = {"RSA": "RS256", "EC": "ES256", "OKP": "Ed25519"}[key.key_type]
    header = {"alg": algorithm, "kid": key.thumbprint(), **header}
    return jwt.encode(header, dict(claims), key, algorithms=[header["alg"]])


def unsigned(claims: Mapping[str, Any], algorithm: str = "none") -> str:
    """A token that says that it needs no signature."""
    return f"{_part({'alg': algorithm})}.{_part(claims)}."


def signed_by_public_key(key: Key, claims: Mapping[str, Any]) -> str:
    """A token whose secret is a key that everybody knows."""
    header = {"alg": "HS256", "kid": key.thumbprint()}
    text = f"{_part(header)}.{_part(claims)}"
    secret = key.as_pem(private=False)
    signature = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return f"{text}.{_bare(signature)}"


def _part(value: Mapping[str, Any]) -> str:
    return _bare(json.dumps(value).encode())


def _bare(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
