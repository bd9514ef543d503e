"""Django's own errors in our layout."""

import sys

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import Resolver404

from deltaweb.web.pages.errors import PageError, error_response, from_database_error
from deltaweb.web.pages.request.tidy_addresses import page_meant


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request cannot be read."""
    del exception  # It may quote what a stranger sent.
    return error_response(
        request,
        PageError(
            status=400,
            code="bad-request",
            message="The server cannot read this request.",
            hint="Go back and try again from a page of this site.",
        ),
    )


def permission_denied(
    request: HttpRequest, exception: PermissionDenied
) -> HttpResponse:
    """403: signed in, but not allowed."""
    message = str(exception) or "Your account may not open this page."
    hint = "Ask an administrator of this installation for the role that it needs."
    return error_response(
        request,
        PageError(status=403, code="permission-denied", message=message, hint=hint),
    )


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: no page has this address; one that a slash is wrong in leads to its page."""
    if isinstance(exception, Resolver404) and request.method in {"GET", "HEAD"}:
        meant = page_meant(request)
        if meant is not None:
            return HttpResponseRedirect(meant)
    return error_response(
        request,
        PageError(
            status=404,
            code="not-found",
            message=f"No page is at {request.path}.",
            hint="Check the address, or start from the catalog.",
        ),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500: a fault of ours; the request id finds it in the log.

    A database that does not answer is a 503, whose page asks nothing of it.
    """
    if (error := from_database_error(sys.exception())) is not None:
        request.user = AnonymousUser()
        return error_response(request, error)
    return error_response(
        request,
        PageError(
            status=500,
            code="internal-error",
            message="The server failed to make this page.",
            hint="Try again; if it stays, send the request id to the administrator.",
        ),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form's token is missing or old."""
    del reason  # It tells only what an attacker would like to know.
    return error_response(
        request,
        PageError(
            status=403,
            code="csrf-failed",
            message="This form is too old, or did not come from this site.",
            hint="Reload the page and send it again; cookies must be allowed.",
        ),
    )
