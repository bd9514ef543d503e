"""What the REST API refuses by itself; all else is said by what it calls."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from apps.pages.errors import PageError


class BodyInvalidError(PageError, code="body-invalid"):
    reason: str
    facts: Mapping[str, object] = MappingProxyType({})
    status = 400
    message = "The body cannot be read: {reason}."
    hint = "See the description at /api/openapi.json."


class NotJSONError(PageError, code="not-json"):
    content_type: str
    status = 415
    message = "A body of the type {content_type!r} is not supported."
    hint = "Send JSON, with the header 'Content-Type: application/json'."


class MethodNotAllowedError(PageError, code="method-not-allowed"):
    method: str
    allowed: Sequence[str]
    status = 405
    message = "This endpoint does not support {method}."
    hint = "It supports {_names}."

    @property
    def _names(self) -> str:
        return ", ".join(self.allowed)


class EndpointNotFoundError(PageError, code="endpoint-not-found"):
    path: str
    status = 404
    message = "No endpoint is at {path}."
    hint = "/api/openapi.json lists all endpoints."


class TooManyCallsError(PageError, code="too-many-requests"):
    """A key sends more requests than it may.

    `retry_after_s` is a whole number of seconds, at least 1.
    """

    wait_s: float
    status = 429
    message = "This API key sends requests faster than the server lets it."
    hint = "Try again in {retry_after_s} s, as 'Retry-After' says."

    @property
    def retry_after_s(self) -> int:
        """When to ask again."""
        return max(1, math.ceil(self.wait_s))


class IdempotencyKeyInvalidError(PageError, code="idempotency-key-invalid"):
    longest: int
    status = 400
    message = "The idempotency key cannot be used."
    hint = "Send 1 to {longest} printable characters of ASCII, such as a UUID."


class IdempotencyKeyReusedError(PageError, code="idempotency-key-reused"):
    status = 422
    message = "This idempotency key was sent with another request before."
    hint = "Use a new key for each request."


class StillAnsweredError(PageError, code="still-answered"):
    status = 409
    message = "An earlier call with this idempotency key has not ended yet."
    hint = (
        "Wait for its answer. If the server stopped meanwhile, send the request again"
        " in a minute, and check first what was done."
    )


class SecretGivenError(PageError, code="secret-given"):
    at: datetime
    facts: Mapping[str, object]
    status = 409
    message = "This was done at {at:%Y-%m-%d %H:%M} UTC; the secret was in that answer."
    hint = "If you have lost it, revoke it and make another one."
