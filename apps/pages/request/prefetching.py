"""Pages that a browser fetches before somebody asks for them.

A link that the pointer or the keyboard rests on is most probably followed next. The
rules by which browsers do this are a header's (`static/prefetch.rules`): no other host,
not where a person saves power, and two pages at a time at most for a pointer; of the
keyboard's link the page's script says when it has rested there (`data-rested`), since
browsers know no such rule. Who saves data or has a slow line gets no rules. Any page of
a table may be fetched so; here is said what is not worth it: work that nobody has asked
for and that takes long, or that people wait behind.

Source: WICG, "Speculation Rules", "Save Data API" and "Network Information API"; W3C,
"Secure Purpose".
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
LINE_HINT: Final = "ECT"  # what kind of line the browser takes its own for
SLOW_LINES: Final = frozenset({"slow-2g", "2g", "3g"})
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
            response["Accept-CH"] = LINE_HINT
            if not _is_metered(request):
                response["Speculation-Rules"] = f'"{static(RULES)}"'
        return response

    return middleware


def _is_metered(request: HttpRequest) -> bool:
    saves_data = request.headers.get("Save-Data", "").lower() == "on"
    return saves_data or request.headers.get(LINE_HINT, "") in SLOW_LINES


def is_prefetch() -> bool:
    """Whether what is being answered was not asked for by a person yet."""
    return _is_prefetch.get()
