"""The manual under /help/: pages that were built beforehand, and need no account."""

import json

from csp.decorators import csp_update
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.views.decorators.http import require_safe
from django.views.static import serve

from deltaweb.web.pages.errors import PageError

INDEX = "index.html"
HASHES = "inline-scripts.json"


class ManualMissingError(PageError, code="manual-missing"):
    """The manual was not built."""

    status = 404
    message = "The manual is not part of this installation."
    hint = "In a checkout, 'make setup' builds it; installed packages have it inside."


@login_not_required
@require_safe
def manual_page(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Answer with a file of the manual; a page may run its own scripts."""
    site = settings.MANUAL
    if not (site / HASHES).is_file():
        raise ManualMissingError
    file = f"{path}{INDEX}" if not path or path.endswith("/") else path
    hashes = json.loads((site / HASHES).read_text(encoding="utf-8"))

    policy = csp_update({"script-src": hashes})
    try:
        return policy(lambda request: _read(request, file))(request)
    except Http404:
        if file != path:
            raise
        _read(request, f"{path}/{INDEX}")  # it may be a page, without its slash
        return HttpResponseRedirect(f"{request.path}/")


def _read(request: HttpRequest, file: str) -> HttpResponseBase:
    """Return a file whole: none stays open where nobody reads the answer to its end."""
    found = serve(request, file, document_root=str(settings.MANUAL))
    if not isinstance(found, FileResponse) or found.file_to_stream is None:
        return found  # the reader has it already
    # The file alone: to close the answer would tell Django that the request is over.
    with found.file_to_stream as opened:
        return HttpResponse(opened.read(), headers=dict(found.items()))
