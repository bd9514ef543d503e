"""How an error becomes an answer: a page, a fragment of one, or JSON."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, ClassVar, Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.pages.page_json import json_with
from apps.pages.registry import Registry
from apps.pages.responses import json_response
from deltaweb.delta.errors import DeltaError, StorageFullError
from deltaweb.errors import DeltawebError
from deltaweb.storage.write_faults import FULL

TITLES = {
    400: "Invalid request",
    401: "Sign in first",
    403: "No access",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    410: "No longer available",
    422: "Cannot be read",
    429: "Too many requests",
    500: "Server error",
    503: "Temporarily unavailable",
}
NOT_FOUND_CODES = {"not-a-delta-table", "version-not-found", "timestamp-not-found"}
REST: Final = "/api/"
_LOCK_NOT_AVAILABLE: Final = "55P03"  # of PostgreSQL


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A page around an error: its template, which holds the card, and its context."""

    template: str
    context: Mapping[str, Any]


# Returns the frame of the pages that a request's address belongs to, or None.
FrameProvider = Callable[[HttpRequest], Frame | None]

frames: Registry[FrameProvider] = Registry()


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as machine forms and the REST API tell it.

    Attributes:
        error: The code of the error, which does not change between versions.
        message: The error as a sentence.
        hint: What to do; empty if unknown.
        request_id: The id of the request in the server's log.
    """

    error: str
    message: str
    hint: str
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A part of an address as it was typed, for the page of the error to mend it.

    Attributes:
        label: What it is, in words.
        kept: The other parts of the address.
    """

    name: str
    value: str
    label: str
    kept: tuple[tuple[str, str], ...] = ()


class PageError(DeltawebError, code="page-error"):
    """An answer other than the page: a view raises it, the middleware renders it.

    Attributes:
        way_out: Words and address of the page that helps best; None where none does.
        correction: What somebody typed and may mend; None where nothing is.
    """

    status: int = 500
    code: str = "page-error"
    message: str = ""
    hint: str = ""
    way_out: tuple[str, str] | None = None
    correction: Correction | None = None
    facts: Mapping[str, object] = MappingProxyType({})


class DatabaseBusyError(PageError, code="database-busy"):
    status = 503
    message = "The database is busy, so this was not done."
    hint = "Nothing was changed. Try again in a few seconds."
    retry_after_s: ClassVar[int] = 5


class ChangedMeanwhileError(PageError, code="changed-meanwhile"):
    status = 409
    message = "Another request changed or removed this at the same time."
    hint = "Nothing was changed. Look at it as it is now, then try again."


class DatabaseUnavailableError(PageError, code="database-unavailable"):
    status = 503
    message = "The database does not answer at the moment."
    hint = "Try again in a moment. If the problem persists, tell the administrator."


class DiskFullError(PageError, code="disk-full"):
    status = 503
    message = "The server's disk is full, so this was not done."
    hint = "Free some space on the server, or tell the administrator, then try again."


class HostNotAllowedError(PageError, code="host-not-allowed"):
    status = 400
    message = "This server does not answer to this host name."
    hint = (
        "Open the address of DELTAWEB_PUBLIC_URL. An administrator can add host names "
        "to DELTAWEB_ALLOWED_HOSTS; a proxy has to pass on the Host header."
    )


class OriginNotAllowedError(PageError, code="origin-not-allowed"):
    status = 403
    message = "This form was sent from a page with another address."
    hint = (
        "Open the address of DELTAWEB_PUBLIC_URL. If people open another address, an "
        "administrator sets it there, and its host name in DELTAWEB_ALLOWED_HOSTS."
    )


def is_busy(error: BaseException | None) -> bool:
    """Whether a database was being written to for longer than was waited."""
    if not isinstance(error, OperationalError):
        return False
    cause: Any = error.__cause__
    if isinstance(cause, sqlite3.Error):
        # Its lowest byte is the kind of error.
        return cause.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
    return getattr(cause, "sqlstate", None) == _LOCK_NOT_AVAILABLE


def from_database_error(error: BaseException | None) -> PageError | None:
    """Say what kept the database from answering; None if it was something else."""
    if is_busy(error):
        return DatabaseBusyError()
    if isinstance(error, OperationalError | InterfaceError):
        return DatabaseUnavailableError()
    return None


def from_disk_error(error: BaseException | None) -> PageError | None:
    """Say that the server's disk is full; None if it was something else."""
    is_full = isinstance(error, OSError) and error.errno in FULL
    return DiskFullError() if is_full else None


def from_delta_error(error: DeltaError) -> PageError:
    """Say what the protocol's reader says; what is missing is a 404, a full disk a 503.

    An error that knows its own `status` keeps it.
    """
    usual = 404 if error.code in NOT_FOUND_CODES else 422
    usual = 503 if isinstance(error, StorageFullError) else usual
    status = getattr(error, "status", usual)
    return PageError(
        status=status, code=error.code, message=error.message, hint=error.hint
    )


def wants_json(request: HttpRequest) -> bool:
    """Whether a script asked: by the REST API, by the URL's suffix or by `Accept`."""
    return (
        request.path_info.startswith(REST)
        or request.path.endswith((".json", ".csv"))
        or "application/json" in request.headers.get("Accept", "")
    )


def error_response(request: HttpRequest, error: PageError) -> HttpResponse:
    """Render an error in the form that the request can show."""
    response = _rendered(request, error)
    retry_after_s = getattr(error, "retry_after_s", None)
    if retry_after_s is not None:
        response["Retry-After"] = str(retry_after_s)
    return response


def json_error(request: HttpRequest, error: PageError) -> HttpResponse:
    """Render an error as JSON, whatever the request can show."""
    request_id = getattr(request, "id", "")
    problem = Problem(error.code, error.message, error.hint, request_id)
    return json_response(json_with(problem, **error.facts), status=error.status)


def _rendered(request: HttpRequest, error: PageError) -> HttpResponse:
    if wants_json(request):
        return json_error(request, error)
    request_id = getattr(request, "id", "")
    fallback = HTTPStatus(error.status).phrase
    context = {
        "error": error,
        "title": TITLES.get(error.status, fallback),
        "request_id": request_id,
    }
    template = "pages/error.html"
    if "HX-Request" in request.headers:
        template += "#error-card"
    elif error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
        found = (provider(request) for provider in frames)
        for frame in filter(None, found):
            template, context = frame.template, {**context, **frame.context}
    return render(request, template, context, status=error.status)
