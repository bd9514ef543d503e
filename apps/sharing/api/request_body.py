"""The body of a request, as bytes and bounded, whatever type it claims to be."""

from typing import Protocol

from django.http.request import UnreadablePostError

from deltaweb.sharing.errors import RequestMalformedError, RequestTooLargeError


class BodyRequest(Protocol):
    """What is asked of a request of Django or of its REST framework."""

    @property
    def META(self) -> dict[str, object]:  # noqa: N802 (Django's name)
        """The variables of the WSGI environment."""
        ...

    def read(self, size: int, /) -> bytes:
        """Read at most `size` bytes of the body."""
        ...


def read_body(request: BodyRequest, *, limit_bytes: int) -> bytes:
    """Return the whole body.

    Raises:
        RequestTooLargeError: If it is longer than the limit; not more is read.
        RequestMalformedError: If it breaks off.
    """
    length = str(request.META.get("CONTENT_LENGTH") or "")
    if length.isdecimal() and int(length[:19]) > limit_bytes:
        raise RequestTooLargeError(limit_bytes=limit_bytes)
    stream: object = request
    if not length and request.META.get("wsgi.input_terminated"):
        # A body in chunks has no length; Django would take it for empty.
        stream = request.META["wsgi.input"]
    try:
        parts: list[bytes] = []
        total = 0
        while total <= limit_bytes:
            part = stream.read(limit_bytes + 1 - total)  # type: ignore[attr-defined]  # both kinds have it
            if not part:
                return b"".join(parts)
            parts.append(part)
            total += len(part)
    except (OSError, UnreadablePostError):
        raise RequestMalformedError(reason="its body breaks off") from None
    raise RequestTooLargeError(limit_bytes=limit_bytes)
