"""Pages that a browser fetches before somebody asks for them.

A link that the pointer or the keyboard rests on is most probably followed next, so the
page's script fetches it ahead (`static/js/in_place.js`), of two pages at most, and not
over a line that is metered or slow. Any page of a table may be fetched so; here is said
what is not worth it: work that nobody has asked for and that takes long, or that people
wait behind.

Source: W3C, "Secure Purpose".
"""

from collections.abc import Callable
from contextvars import ContextVar
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponseBase

from apps.pages.errors import PageError

GetResponse = Callable[[HttpRequest], HttpResponseBase]
# The first is the browser's own, which no script can send.
PURPOSE_HEADERS: Final = ("Sec-Purpose", "Purpose")
_is_prefetch: ContextVar[bool] = ContextVar("is_prefetch", default=False)


class NotPrefetchedError(PageError, code="not-prefetched"):
    """A page that nobody has opened yet would begin work that is not worth it."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    message = "This page is not available to prefetching."
    hint = "Open it instead."


def prefetching(get_response: GetResponse) -> GetResponse:
    """Know what is fetched ahead."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        said = (request.headers.get(name, "") for name in PURPOSE_HEADERS)
        before = _is_prefetch.set(
            any(purpose.startswith("prefetch") for purpose in said)
        )
        try:
            return get_response(request)
        finally:
            _is_prefetch.reset(before)

    return middleware


def is_prefetch() -> bool:
    """Whether what is being answered was not asked for by a person yet."""
    return _is_prefetch.get()
