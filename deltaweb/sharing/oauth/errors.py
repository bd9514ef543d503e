"""What OAuth refuses a caller with, and the wording of each.

SharingError
├── JWTRefusedError           401: a token that does not prove who calls
└── OAuthRequestError         400 or 401: what a token endpoint does not answer
KeyInvalidError               a text that is no public key
IssuerInvalidError            an address that no issuer can have
"""

from typing import ClassVar

from deltaweb.delta.errors import DeltaError
from deltaweb.sharing.errors import ErrorCode, SharingError


class JWTRefusedError(SharingError, code="jwt-refused"):
    reason: str
    status = 401
    error_code = ErrorCode.UNAUTHENTICATED
    message = "This token is refused: {reason}."
    hint = "Ask the token endpoint for a new one, or the provider what it expects."


class OAuthRequestError(SharingError, code="oauth-request"):
    """A request to the token endpoint is none that it answers.

    Attributes:
        oauth_error: The `error` of RFC 6749, section 5.2.
    """

    reason: str
    oauth_error: ClassVar[str] = "invalid_request"
    message = "No token was issued: {reason}."
    hint = "Send a form with grant_type, as OAuth 2.0 has it."


class GrantTypeError(OAuthRequestError, code="oauth-grant-type"):
    """A grant that the token endpoint does not give."""

    oauth_error = "unsupported_grant_type"


class ClientRefusedError(OAuthRequestError, code="oauth-client-refused"):
    """A client that does not prove who it is."""

    oauth_error = "invalid_client"
    status = 401
    error_code = ErrorCode.UNAUTHENTICATED
    hint = "Check the profile file, or ask the provider for a new one."


class AssertionUsedError(ClientRefusedError, code="oauth-assertion-used"):
    """An assertion that was traded for an access token before."""

    hint = "Sign a new one for each request, with its own `jti`."


class KeyInvalidError(DeltaError, code="public-key-invalid"):
    reason: str
    message = "This public key cannot be used: {reason}."
    hint = "Give it as PEM: RSA of 2048 bits or more, P-256, P-384 or Ed25519."


class IssuerInvalidError(DeltaError, code="issuer-invalid"):
    reason: str
    message = "The issuer cannot be used: {reason}."
    hint = "Give the address that its tokens have in `iss`, as https://id.example.com."
