"""Pages that a browser fetches before somebody asks for them.

A link that the pointer rests on is most probably followed next. The rules by which
browsers do this are a header's (`static/prefetch.rules`): no script, no other host, not
where a person saves data or power, and two pages at a time at most. Any page of a table
may be fetched so; here is said what is not worth it: work that nobody has asked for and
that takes long, or that people wait behind.

Source: WICG, "Speculation Rules"; W3C, "Secure Purpose".
"""

from collections.abc import Callable
from contextvars import ContextVar
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.templatetags.static import static

from deltaweb.web.pages.errors import PageError

GetResponse = Callable[[HttpRequest], HttpResponseBase]
RULES: Final = "prefetch.rules"
_is_prefetch: ContextVar[bool] = ContextVar("is_prefetch", default=False)


class NotPrefetchedError(PageError, code="not-prefetched"):
    """A page that nobody has opened yet would begin work that is not worth it."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    message = "This page is made when somebody opens it."
    hint = "Open it; browsers that prefetch pages do so by themselves."


def prefetching(get_response: GetResponse) -> GetResponse:
    """Know what is fetched ahead, and tell browsers what they may fetch so."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        purpose = request.headers.get("Sec-Purpose", "")
        before = _is_prefetch.set(purpose.startswith("prefetch"))
        try:
            response = get_response(request)
        finally:
            _is_prefetch.reset(before)
        is_page = response.get("Content-Type", "").startswith("text/html")
        if is_page and request.user.is_authenticated:
            response["Speculation-Rules"] = f'"{static(RULES)}"'
        return response

    return middleware


def is_prefetch() -> bool:
    """Whether what is being answered was not asked for by a person yet."""
    return _is_prefetch.get()
