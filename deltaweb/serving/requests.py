"""A request while it arrives: where it ends, and what is refused before it is there.

The loop of the web server takes in whole requests, so that no thread ever reads from a
connection. How a request is framed is all that is looked at here, and afterwards its
length is all that frames it: chunks are put together, the client is asked for its body.
The parser of the server reads the head again, and refuses what else is wrong with it.

Source: RFC 9112, sections 2.1 (the head), 6.3 (length of a body) and 7.1.3 (chunks are
put together); RFC 9110, section 10.1.1 (Expect).
"""

import json
import re
from http import HTTPStatus
from typing import Final

from deltaweb.environment.variables import env_text
from deltaweb.sharing.errors import ErrorCode

HEAD_BYTES: Final = 1 << 16
BODY_BYTES: Final = (4 << 20) + 1  # of the largest query, and one that is too large
# Of the lines between chunks: the loop goes over them one by one.
FRAMING_BYTES: Final = 1 << 16
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
PROTOCOL_PATH: Final = b"/delta-sharing"

_END_OF_HEAD: Final = b"\r\n\r\n"
_CHUNK_LINE_BYTES: Final = 8190
_LENGTH: Final = re.compile(
    rb"\r\ncontent-length:[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.IGNORECASE
)
_CODING: Final = re.compile(
    rb"\r\ntransfer-encoding:[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.IGNORECASE
)
_EXPECTS: Final = re.compile(
    rb"\r\nexpect:[ \t]*100-continue[ \t]*(?=\r\n)", re.IGNORECASE
)
_CHUNK_LINE: Final = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;.*)?")
_MESSAGES: Final = {
    HTTPStatus.BAD_REQUEST: "The request is not valid HTTP.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body of the request is too large.",
    HTTPStatus.REQUEST_URI_TOO_LONG: "The address is too long.",
    HTTPStatus.EXPECTATION_FAILED: "The server does not do what the request expects.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "The request's headers are too large.",
    HTTPStatus.NOT_IMPLEMENTED: "The server does not read this transfer coding.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Too many requests arrive at once. Try again soon.",
}


ONCE: Final = frozenset(
    env_text(f"DELTAWEB_REMOTE_{part}_HEADER").lower().encode()
    for part in ("USER", "GROUPS", "EMAIL")
) - {b""}
"""The headers of an authenticating proxy. Another one would be a second opinion."""


class RefusedError(Exception):
    """A request that is not taken in."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


def check_once(head: bytes, names: frozenset[bytes]) -> None:
    """Refuse a head that has one of these headers twice, or in another spelling.

    The parser drops a name with `_`, and joins the values of headers sent twice.
    """
    if not names:
        return
    lines = head.lower().split(b"\r\n")[1:]
    sent = [line.partition(b":")[0].strip() for line in lines]
    found = [name for name in sent if name.replace(b"_", b"-") in names]
    if len(set(found)) < len(found) or any(b"_" in name for name in found):
        raise RefusedError(HTTPStatus.BAD_REQUEST)


class Arrival:
    """What has arrived of a request, and what a client sent after it.

    Attributes:
        is_asking: Whether the client waits to be asked for the body.
    """

    def __init__(self) -> None:
        self.data = bytearray()
        self.is_asking = False
        self._wanted: int | None = None  # bytes until the end of the request
        self._chunks: _Chunks | None = None

    def take_in(self, data: bytes) -> bool:
        """Add bytes; tell whether the request is there."""
        searched = max(0, len(self.data) - len(_END_OF_HEAD))
        self.data += data
        if self._wanted is None and self._chunks is None:
            end = self.data.find(_END_OF_HEAD, searched)
            if end < 0:
                self._check_head()
                return False
            self._begin_body(end + len(_END_OF_HEAD))
        if self._chunks is not None and self._chunks.walk(self.data):
            self._wanted = self._chunks.put_together(self.data)
            self._chunks = None
        is_there = self._wanted is not None and len(self.data) >= self._wanted
        self.is_asking = self.is_asking and not is_there
        return is_there

    def _check_head(self) -> None:
        if len(self.data) <= HEAD_BYTES:
            return
        if self.data.find(b"\r\n", 0, HEAD_BYTES) < 0:
            raise RefusedError(HTTPStatus.REQUEST_URI_TOO_LONG)
        raise RefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def _begin_body(self, end: int) -> None:
        head = bytes(self.data[:end])
        is_new = head.partition(b"\r\n")[0].endswith(b" HTTP/1.1")
        if is_new and _EXPECTS.search(head):
            # The client is asked here: the server itself would ask it again.
            head = _EXPECTS.sub(b"", head)
            self.data[:end] = head
            self.is_asking = True
        check_once(head, ONCE)
        codings, lengths = _CODING.findall(head), _LENGTH.findall(head)
        if len(codings) + len(lengths) > 1 or (codings and not is_new):
            raise RefusedError(HTTPStatus.BAD_REQUEST)
        if codings:
            if codings[0].lower() != b"chunked":
                raise RefusedError(HTTPStatus.NOT_IMPLEMENTED)
            self._chunks = _Chunks(len(head))
            return
        self._wanted = len(head) + (_length(lengths[0]) if lengths else 0)


class _Chunks:
    """The chunks of a body, walked over as they arrive."""

    def __init__(self, begin: int) -> None:
        self._head_bytes = begin
        self._at = begin  # where the next line begins
        self._parts: list[tuple[int, int]] = []
        self._body_bytes = 0
        self._framing_bytes = 0

    def walk(self, data: bytearray) -> bool:
        """Go over the chunks that are there; tell whether they are all."""
        while self._at <= len(data):
            if data[self._at - 2 : self._at] != b"\r\n":  # of the head, or a chunk
                raise RefusedError(HTTPStatus.BAD_REQUEST)
            end = data.find(b"\r\n", self._at)
            if end < 0:
                if len(data) - self._at > _CHUNK_LINE_BYTES:
                    raise RefusedError(HTTPStatus.BAD_REQUEST)
                break
            line = _CHUNK_LINE.fullmatch(data, self._at, end)
            if line is None:
                raise RefusedError(HTTPStatus.BAD_REQUEST)
            if not (length := int(line[1], 16)):
                return self._find_end(data, end)
            begin = end + 2
            self._parts.append((begin, begin + length))
            self._body_bytes += length
            self._framing_bytes += begin - self._at + 2
            if self._body_bytes > BODY_BYTES or self._framing_bytes > FRAMING_BYTES:
                raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            self._at = begin + length + 2
        return False

    def put_together(self, data: bytearray) -> int:
        """Make the request one with a length; return where it ends.

        What came after the chunks, the trailers, is left out.
        """
        body = b"".join(data[begin:end] for begin, end in self._parts)
        head = _CODING.sub(b"", data[: self._head_bytes]).removesuffix(b"\r\n")
        head += b"Content-Length: %d\r\n\r\n" % len(body)
        data[: self._at] = head + body
        return len(head) + len(body)

    def _find_end(self, data: bytearray, last: int) -> bool:
        """Look for the end of the trailers, which follow the line that ends there."""
        end = data.find(_END_OF_HEAD, last)
        if end >= 0:
            self._at = end + len(_END_OF_HEAD)
        elif len(data) - last > HEAD_BYTES:
            raise RefusedError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        return end >= 0


def _length(text: bytes) -> int:
    if not text.isdigit():
        raise RefusedError(HTTPStatus.BAD_REQUEST)
    digits = text.lstrip(b"0") or b"0"
    if len(digits) > len(str(BODY_BYTES)) or int(digits) > BODY_BYTES:
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return int(digits)


def refusal(status: HTTPStatus, head: bytes) -> bytes:
    """Return the answer to a request that the application never sees.

    Below the path of the protocol it has the protocol's form. Nothing of the request
    is repeated.

    Source: sharing_wire.md, 2.3.
    """
    is_fault = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    message = _MESSAGES.get(status, "The server failed." if is_fault else "")
    method, _, target = head.partition(b"\r\n")[0].partition(b" ")
    if _is_protocol(target):
        code = ErrorCode.INTERNAL_ERROR if is_fault else ErrorCode.MALFORMED_REQUEST
        text = json.dumps({"errorCode": code, "message": message})
        content_type = "application/json; charset=utf-8"
    else:
        text, content_type = f"{message}\n", "text/plain; charset=utf-8"
    lines = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Connection: close",
        "Cache-Control: no-store",
        f"Content-Type: {content_type}",
        f"Content-Length: {len(text)}",
        *(["Retry-After: 5"] if status == HTTPStatus.SERVICE_UNAVAILABLE else []),
    )
    body = "" if method == b"HEAD" else text
    return "\r\n".join([*lines, "", body]).encode("ascii")


def _is_protocol(target: bytes) -> bool:
    """Whether a request asks for something below the path of the protocol."""
    path = re.sub(rb"^https?://[^/]*", b"", target, flags=re.IGNORECASE)
    path = b"/" + path.partition(b"?")[0].partition(b" ")[0].lstrip(b"/")
    return path == PROTOCOL_PATH or path.startswith(PROTOCOL_PATH + b"/")
