"""The body of a request, as bytes and bounded, whatever type it claims to be."""

from typing import Protocol

from deltaweb.sharing.errors import RequestMalformedError, RequestTooLargeError


class BodyRequest(Protocol):
    """What is asked of a request of Django or of its REST framework."""

    @property
    def META(self) -> dict[str, object]:  # noqa: N802 (Django's name)
        """The variables of the WSGI environment."""

    def read(self, size: int, /) -> bytes:
        """Read at most `size` bytes of the body."""


def read_body(request: BodyRequest, *, limit_bytes: int) -> bytes:
    """Return the whole body."""
    length = str(request.META.get("CONTENT_LENGTH") or "")
    if length.isdecimal() and int(length[:19]) > limit_bytes:
        raise RequestTooLargeError(limit_bytes=limit_bytes)
    stream: object = request
    if not length and request.META.get("wsgi.input_terminated"):
        # A body in chunks has no length; Django would take it for empty.
        stream = request.META["wsgi.input"]
    parts: list[bytes] = []
    total = 0
    while total <= limit_bytes:
        part = _next_part(stream, limit_bytes + 1 - total)
        if not part:
            return b"".join(parts)
        parts.append(part)
        total += len(part)
    raise RequestTooLargeError(limit_bytes=limit_bytes)


def _next_part(stream: object, size: int) -> bytes:
    """Return the next bytes of a body, b"" at its end.

    Each server has errors of its own for a body that breaks off, or whose chunks are
    none; whatever they are, it is what the caller sent that cannot be read.
    """
    try:
        part: bytes = stream.read(size)  # type: ignore[attr-defined]  # both kinds have it
    except Exception:  # noqa: BLE001 (as above)
        raise RequestMalformedError(reason="its body breaks off") from None
    return part
