"""What happens around every request: an id, and errors that read well."""

import logging
import re
from collections.abc import Callable
from typing import Any, Final

from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)

from apps.pages.errors import (
    DatabaseBusyError,
    PageError,
    error_response,
    from_delta_error,
    from_disk_error,
    is_busy,
)
from apps.pages.request.addresses import is_from_trusted_proxy
from apps.pages.request.server_paths import text_for_reader
from apps.pages.request.tidy_addresses import without_empty_parts
from deltaweb.delta.errors import DeltaError
from deltaweb.environment import logs

logger = logging.getLogger(__name__)
GIVEN_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def request_id(get_response: GetResponse) -> GetResponse:
    """Give every request an id that its answer, its error page, jobs and logs share.

    A trusted proxy may have given it one.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        sent = request.headers.get("X-Request-ID", "")
        is_taken = GIVEN_ID.fullmatch(sent) and is_from_trusted_proxy(request)
        own = sent if is_taken else logs.new_request_id()
        request.id = own  # type: ignore[attr-defined]  # ours alone
        with logs.named_in_lines(request=own):
            response = get_response(request)
        response["X-Request-Id"] = own
        return response

    return middleware


class TidyAddressMiddleware:
    """Leads a page whose address has empty parts, as forms write, to one without."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponseBase],
        args: list[Any],
        kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        """Redirect a page; scripts, which ask for other forms, get what they ask."""
        del view, args
        if request.method not in {"GET", "HEAD"} or kwargs.get("fmt") != "html":
            return None
        tidy = without_empty_parts(request)
        return None if tidy is None else HttpResponseRedirect(tidy)


class PageErrorMiddleware:
    """Turns a `PageError` or a `DeltaError` that a view raises into its answer."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponse | None:
        """Render the errors that say what they mean; Django answers the rest."""
        error = readable_error(exception)
        if error is None:
            return None
        logger.info("%s %s: %s", request.method, request.path, error)
        return error_response(request, error)


def readable_error(exception: Exception) -> PageError | None:
    """Return an error with a message for its reader; None where it has none."""
    place = ""
    if isinstance(exception, DeltaError):
        place = getattr(exception, "root", "") or getattr(exception, "location", "")
        exception = from_delta_error(exception)
    elif is_busy(exception):
        exception = DatabaseBusyError()
    elif (full := from_disk_error(exception)) is not None:
        exception = full
    if isinstance(exception, PageError):
        return _for_reader(exception, place)
    return None


def _for_reader(error: PageError, place: str) -> PageError:
    """Return an error, of a table that lies there, as its reader may know it."""
    texts = (text_for_reader(text, place) for text in (error.message, error.hint))
    message, hint = texts
    if (message, hint) == (error.message, error.hint):
        return error
    cut = PageError(status=error.status, code=error.code, message=message, hint=hint)
    cut.way_out, cut.facts = error.way_out, error.facts
    cut.correction = error.correction
    return cut
