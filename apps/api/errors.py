"""What the REST API refuses by itself; all else is said by what it calls."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from deltaweb.web.pages.errors import PageError


class BodyInvalidError(PageError, code="body-invalid"):
    """The body of a request is none that the endpoint takes."""

    reason: str
    facts: Mapping[str, object] = MappingProxyType({})
    status = 400
    message = "The body cannot be read: {reason}."
    hint = "The description at /api/openapi.json says what it takes."


class NotJSONError(PageError, code="not-json"):
    """The body of a request says that it is something else than JSON."""

    content_type: str
    status = 415
    message = "A body of the type {content_type!r} is not read."
    hint = "Send JSON, with the header 'Content-Type: application/json'."


class MethodNotAllowedError(PageError, code="method-not-allowed"):
    """The address is there, but not for this method."""

    method: str
    allowed: Sequence[str]
    status = 405
    message = "{method} is not answered here."
    hint = "Answered are: {_names}."

    @property
    def _names(self) -> str:
        return ", ".join(self.allowed)


class EndpointNotFoundError(PageError, code="endpoint-not-found"):
    """No endpoint has the address."""

    path: str
    status = 404
    message = "No endpoint is at {path}."
    hint = "The description at /api/openapi.json has them all."
