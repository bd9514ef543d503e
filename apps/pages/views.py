"""Pages of no app: Django's own errors in our layout, and the manual under /help/."""

import json
import sys
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    SuspiciousFileOperation,
)
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import Resolver404, get_script_prefix
from django.utils._os import safe_join
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from django.views.static import serve

from apps.pages.errors import (
    HostNotAllowedError,
    OriginNotAllowedError,
    PageError,
    error_response,
    from_database_error,
    from_disk_error,
)
from apps.pages.request.tidy_addresses import page_meant

# How Django's reasons begin where a form was sent by a page of another address.
OF_ANOTHER_SITE: Final = ("Origin checking failed", "Referer checking failed")


# === Faults ===


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request cannot be read, or names a host that this server is not."""
    if isinstance(exception, DisallowedHost):  # its text quotes what a stranger sent
        return error_response(request, HostNotAllowedError())
    del exception
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

    A database that does not answer, or a full disk, is a 503 whose page asks nothing of
    the database.
    """
    cause = sys.exception()
    if (error := from_database_error(cause) or from_disk_error(cause)) is not None:
        request.user = AnonymousUser()
        return error_response(request, error)
    return error_response(
        request,
        PageError(
            status=500,
            code="internal-error",
            message="The server failed to make this page.",
            hint=(
                "Try again. If the problem persists, send the request id to the "
                "administrator."
            ),
        ),
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form's token is missing or old, or the form is of another address."""
    if reason.startswith(OF_ANOTHER_SITE):
        return error_response(request, OriginNotAllowedError())
    return error_response(
        request,
        PageError(
            status=403,
            code="csrf-failed",
            message="This form is too old, or did not come from this site.",
            hint="Reload the page and send it again; cookies must be allowed.",
        ),
    )


# === The manual ===


PART: Final = "part.json"  # of a page, as `deltaweb.management.manual_parts` writes it
CONTENTS: Final = "contents.json"
INDEX: Final = "index.html"  # of a page as it is published, in a layout of its own
OF_APP: Final = 'href="app:'  # begins a link of the manual to a page of this server


class ManualMissingError(PageError, code="manual-missing"):
    """The manual was not built."""

    status = 404
    message = "The manual is not part of this installation."
    hint = "In a checkout, 'make setup' builds it; installed packages have it inside."


@login_not_required
@require_safe
def manual_page(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Show a page of the manual in our layout, or answer with its picture."""
    contents = _json(settings.MANUAL / CONTENTS)
    if contents is None:
        raise ManualMissingError
    folder = path.removesuffix(INDEX)
    if folder and not folder.endswith("/"):
        if _part(f"{folder}/") is None:
            return _read(request, path)
        return HttpResponseRedirect(f"{request.path}/")
    if folder != path:
        return HttpResponseRedirect(request.path.removesuffix(INDEX))
    part = _part(folder)
    if part is None:
        message = "no such page"
        raise Http404(message)
    text = part["content"].replace("<pre>", '<pre tabindex="0">')
    context = {
        "layout": "base.html" if request.user.is_authenticated else "pages/public.html",
        "contents": contents,
        "part": part,
        "text": mark_safe(  # noqa: S308 (our own manual)
            text.replace(OF_APP, f'href="{get_script_prefix()}')
        ),
        "here": folder,
    }
    return render(request, "pages/manual.html", context)


def _part(folder: str) -> Any:  # noqa: ANN401 (JSON)
    """Return what is shown of a page; None if there is no such page."""
    try:
        return _json(Path(safe_join(settings.MANUAL, folder, PART)))
    except SuspiciousFileOperation:
        return None


def _json(path: Path) -> Any:  # noqa: ANN401 (as above)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # there is none, or a name that no file can have
        return None


def _read(request: HttpRequest, file: str) -> HttpResponseBase:
    """Return a file whole: none stays open where nobody reads the answer to its end."""
    found = serve(request, file, document_root=str(settings.MANUAL))
    if not isinstance(found, FileResponse) or found.file_to_stream is None:
        return found  # the reader has it already
    # The file alone: to close the answer would tell Django that the request is over.
    with found.file_to_stream as opened:
        return HttpResponse(opened.read(), headers=dict(found.items()))
