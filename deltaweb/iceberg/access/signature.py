"""Requests signed by AWS Signature Version 4, in their headers: who has signed one.

Source: AWS, "Authenticating Requests: Using the Authorization Header (AWS Signature
Version 4)".
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl, quote

from deltaweb.iceberg.access.errors import KeysRefusedError
from deltaweb.storage.signing.s3 import ALGORITHM, signing_key

MAX_SKEW: Final = timedelta(minutes=15)
MAX_HEADER_LENGTH: Final = 2000
MAX_QUERY_FIELDS: Final = 64
SERVICE: Final = "s3"
_AUTHORIZATION: Final = re.compile(
    rf"{ALGORITHM} +Credential=(?P<access_key>[A-Za-z0-9]+)/(?P<day>\d{{8}})/"
    r"(?P<region>[A-Za-z0-9-]{1,40})/s3/aws4_request, *"
    r"SignedHeaders=(?P<names>[a-z0-9;-]+), *Signature=(?P<signature>[0-9a-f]{64})",
    re.ASCII,
)
_STAMP: Final = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRequest:
    """A request as it was signed, before any proxy.

    Attributes:
        path: The path that the client asked for, quoted as it came.
        headers: By names in lower case; `host` is the public one.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a request says of its signature."""

    access_key: str
    session_token: str = field(repr=False)
    signed_at: datetime
    scope: str
    names: tuple[str, ...]
    text: str


def parse_signature(request: SignedRequest, *, now: datetime) -> Signature:
    header = request.headers.get("authorization", "")
    if len(header) > MAX_HEADER_LENGTH:
        raise KeysRefusedError(reason="its signature cannot be read")
    match = _AUTHORIZATION.fullmatch(header.strip())
    if match is None:
        raise KeysRefusedError(reason="it is not signed by AWS Signature Version 4")
    stamp = request.headers.get("x-amz-date", "")
    try:
        signed_at = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        raise KeysRefusedError(reason="it does not say when it was signed") from None
    if abs(now - signed_at) > MAX_SKEW:
        raise KeysRefusedError(
            reason=f"it was signed at {stamp}, and it is {now.strftime(_STAMP)} here",
            s3_code="RequestTimeTooSkewed",
        )
    names = tuple(match["names"].split(";"))
    if stamp[:8] != match["day"] or not {"host", "x-amz-date"} <= {*names}:
        raise KeysRefusedError(reason="its host or its time is not signed")
    return Signature(
        access_key=match["access_key"],
        session_token=request.headers.get("x-amz-security-token", ""),
        signed_at=signed_at,
        scope=f"{match['day']}/{match['region']}/{SERVICE}/aws4_request",
        names=names,
        text=match["signature"],
    )


def check_signature(
    request: SignedRequest, signature: Signature, *, secret_key: str
) -> None:
    expected = sign(request, signature, secret_key=secret_key)
    if not hmac.compare_digest(expected, signature.text):
        raise KeysRefusedError(
            reason="the signature is not valid for the request",
            s3_code="SignatureDoesNotMatch",
        )


def sign(request: SignedRequest, signature: Signature, *, secret_key: str) -> str:
    """Return the signature of a request by a secret key.

    Args:
        signature: Time, scope and headers of the signature; its text is not looked at.
    """
    headers = "".join(
        f"{name}:{' '.join(request.headers.get(name, '').split())}\n"
        for name in signature.names
    )
    canonical = "\n".join(
        (
            request.method,
            request.path,
            _canonical_query(request.query),
            headers,
            ";".join(signature.names),
            request.headers.get("x-amz-content-sha256", ""),
        )
    )
    digest = hashlib.sha256(canonical.encode("utf-8", "replace")).hexdigest()
    stamp = signature.signed_at.strftime(_STAMP)
    text = f"{ALGORITHM}\n{stamp}\n{signature.scope}\n{digest}"
    key = signing_key(secret_key, signature.scope)
    return hmac.new(key, text.encode(), "sha256").hexdigest()


def _canonical_query(query: str) -> str:
    try:
        pairs = parse_qsl(
            query, keep_blank_values=True, max_num_fields=MAX_QUERY_FIELDS
        )
    except ValueError:
        raise KeysRefusedError(reason="its query cannot be read") from None
    quoted = [(quote(n, safe="-_.~"), quote(v, safe="-_.~")) for n, v in pairs]
    return "&".join(f"{name}={value}" for name, value in sorted(quoted))
