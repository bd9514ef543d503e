"""One request to a webhook, within its limits.

The host is looked up once: the connection goes to the address that was checked. A
redirect is not followed, and nothing is sent again here.
"""

import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from apps.notices.errors import WebhookURLError
from deltaweb.delta.errors import DeltaError
from deltaweb.storage.objects.hosts import ANY_PUBLIC, is_named, refusal
from deltaweb.storage.received.connection import Deadline
from deltaweb.storage.received.errors import ProviderAnswerError
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.transport import (
    HTTPAnswer,
    HTTPStream,
    Transport,
    host_of,
)

TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 1 << 16
CONTENT_TYPE: Final = "application/cloudevents+json; charset=utf-8"
MAX_HOST: Final = 253
"""The longest name of a host, in characters. Source: RFC 1035, 2.3.4."""
LOOK_UP_S: Final = 5.0  # for the addresses of a new host: a page waits for them
_PART_BYTES: Final = 1 << 20  # more than one part of an answer has
_MAX_REASON: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a request.

    Attributes:
        status: None if there is no answer.
        reason: Why there is none.
        body: The beginning of its body, as text.
    """

    status: int | None
    reason: str = ""
    body: str = ""
    took_s: float

    @property
    def is_success(self) -> bool:
        """Whether the receiver has taken the event."""
        return self.status is not None and self.status // 100 == 2  # noqa: PLR2004


def checked_url(text: str) -> str:
    """Return an address that events can be sent to.

    Raises:
        WebhookURLError: If it is no address, its host may not be asked or looked up in
            time, or it is not `https`; `http` is for hosts that the setting names.
    """
    url, host = _readable(text)
    late = ProviderAnswerError(provider=host, reason="its name is not known in time")
    try:
        with Deadline(LOOK_UP_S, late) as deadline:
            reason = deadline.run(lambda: refusal(host, allowed=_allowed()))
    except ProviderAnswerError:
        reason = f"its name is not known after {LOOK_UP_S:g} seconds"
    if reason:
        raise WebhookURLError(host=host, reason=reason)
    return url


def _readable(text: str) -> tuple[str, str]:
    """Return an address and its host, which is not looked up."""
    url = text.strip()
    try:
        parts = urlsplit(url)
        host, _ = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise WebhookURLError(host=url, reason="it is not a URL") from None
    named = is_named(host, allowed=settings.WEBHOOK_HOSTS)
    reason = ""
    if parts.scheme not in {"http", "https"} or not host:
        reason = "it is not an address of a web server"
    elif parts.username is not None or parts.fragment or not url.isprintable():
        reason = "its address has a user, a fragment or control characters"
    elif len(host) > MAX_HOST or any(one.isspace() for one in host):
        reason = "its host cannot be the name of one"
    elif parts.scheme == "http" and not named:
        reason = "its address is not https"
    if reason:
        raise WebhookURLError(host=host or url, reason=reason)
    return url, host


def post(url: str, body: bytes, headers: dict[str, str]) -> Answer:
    """Send a body to a webhook."""
    begin = time.monotonic()
    try:
        checked, _ = _readable(url)
        transport = Transport(_allowed(), timeout_s=TIMEOUT_S, deadline_s=TIMEOUT_S)
        said = {"Content-Type": CONTENT_TYPE, **headers}
        most = MAX_ANSWER_BYTES + _PART_BYTES
        request = HTTPRequest("POST", checked, said, body, most)
        answer = transport.read(request, _beginning)
    except (DeltaError, WebhookURLError) as error:
        took_s = time.monotonic() - begin
        return Answer(status=None, reason=error.message[:_MAX_REASON], took_s=took_s)
    return Answer(
        status=answer.status,
        body=answer.body.decode("utf-8", "replace").replace(
            "\0", "\N{REPLACEMENT CHARACTER}"
        ),
        took_s=time.monotonic() - begin,
    )


def host_of_url(url: str) -> str:
    """Return the host of an address, in small letters and without a last dot."""
    return host_of(url).rstrip(".")


def _beginning(answer: HTTPStream) -> HTTPAnswer:
    """Return an answer with the first bytes of its body.

    The status says whether the event was taken, however long the body is.
    """
    found = b""
    for part in answer.parts:
        found += part
        if len(found) >= MAX_ANSWER_BYTES:
            break
    return HTTPAnswer(answer.status, answer.headers, found[:MAX_ANSWER_BYTES])


def _allowed() -> tuple[str, ...]:
    return (ANY_PUBLIC, *settings.WEBHOOK_HOSTS)
