"""The paths of the protocol, and the form of all answers below them."""

import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponseBase

from apps.pages.request.django_internals import count_as_logged
from apps.sharing.api.errors import Failure, failure_of, of_status
from apps.sharing.api.responses import Answer, without_body
from deltaweb.sharing.errors import EndpointNotFoundError

GetResponse = Callable[[HttpRequest], HttpResponseBase]
PREFIX: Final = "/delta-sharing"
_DOORS: Final = (f"{PREFIX}/", "/iceberg/")
# A name of a file may have several slashes in a row, and its URL is signed as it is.
_FILES: Final = (f"{PREFIX}/files/", f"{PREFIX}/prepared/", "/iceberg/t/")
_SLASHES: Final = re.compile("//+")


def single_slashes(get_response: GetResponse) -> GetResponse:
    """Take several slashes in a row for one, below the endpoints of recipients.

    Profiles have an endpoint that ends with a slash, to which some clients append
    `/shares`. This comes before everything that looks at the path, so that all of it
    sees the same one. A slash that is encoded belongs to a name and stays.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        path = request.path_info
        target = str(request.META.get("RAW_URI", ""))
        if "//" in path and "%2f" not in target.partition("?")[0].lower():
            single = _SLASHES.sub("/", path)
            if single.startswith(_DOORS) and not single.startswith(_FILES):
                prefix = request.path.removesuffix(path)
                request.path_info = request.META["PATH_INFO"] = single
                request.path = f"{prefix}{single}"
        return get_response(request)

    return middleware


def protocol_answers(get_response: GetResponse) -> GetResponse:
    """Put errors that never reach an endpoint into JSON.

    Other layers answer with pages or redirects: a host that is not ours, plain HTTP
    where only HTTPS is served, a fault before the endpoint is found.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path_info == PREFIX:
            return _answered(failure_of(EndpointNotFoundError()), request)
        response = get_response(request)
        if isinstance(response, Answer) or not _is_protocol(request.path_info):
            return response
        status = response.status_code
        status = max(status, HTTPStatus.BAD_REQUEST)
        message = (
            "The request cannot be answered at this address. Its administrator names "
            "the right one in DELTAWEB_PUBLIC_URL and DELTAWEB_ALLOWED_HOSTS."
        )
        answer = _answered(of_status(status, message), request)
        count_as_logged(answer, instead_of=response)
        return answer

    return middleware


def _answered(failure: Failure, request: HttpRequest) -> HttpResponseBase:
    answer = failure.answer()
    return without_body(answer) if request.method == "HEAD" else answer


def _is_protocol(path: str) -> bool:
    """Whether a path is the protocol's; a slash too many does not make it another."""
    return f"/{path.lstrip('/')}".startswith(f"{PREFIX}/")
