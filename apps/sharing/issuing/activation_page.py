"""The activation page: public, without a login, one time.

GET and HEAD look and never spend the link, so that scanners of mail cannot burn it;
POST downloads the profile and closes it, from a browser without cookies and from curl
too: a caller that knows the secret of the address needs no other proof, and one that
could make another browser send it could send it as well.
"""

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from deltaweb.web.accounts.permissions import public
from deltaweb.web.pages.request.addresses import client_address
from deltaweb.web.sharing.clients.snippets import snippets
from deltaweb.web.sharing.errors import SharingStateError
from deltaweb.web.sharing.issuing.activation import (
    Activation,
    Caller,
    activate,
    look_up,
    view_activation,
)
from deltaweb.web.sharing.issuing.offers import offered_tables, to_read_first
from deltaweb.web.sharing.issuing.token_result import profile_response

MAX_TABLES: Final = 12  # named on the page; the rest is counted
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@public
@csrf_exempt
def activation(request: HttpRequest, nonce: str) -> HttpResponseBase:
    """Show what a link opens; download the profile by POST."""
    response = _checked_activation(request, nonce)
    for name, value in HEADERS.items():
        response[name] = value
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def _checked_activation(request: HttpRequest, nonce: str) -> HttpResponseBase:
    now = timezone.now()
    caller = Caller(
        address=client_address(request),
        user_agent=request.headers.get("User-Agent", ""),
        request_id=getattr(request, "id", ""),
    )
    try:
        if request.method == "POST":
            return profile_response(activate(nonce, caller=caller, now=now))
        if request.method == "HEAD":  # merely probes the link: leaves no record
            found = look_up(nonce, address=caller.address, now=now)
        else:
            found = view_activation(nonce, caller=caller, now=now)
        return _page(request, found)
    except SharingStateError as error:
        return _render(
            request, "activate_problem.html", {"error": error}, status=error.status
        )


def _page(request: HttpRequest, found: Activation) -> HttpResponseBase:
    tables = offered_tables(found.recipient)
    context = {
        "recipient": found.recipient,
        "file_name": found.file_name,
        "tables": tables[:MAX_TABLES],
        "num_tables": len(tables),
        "num_more": max(0, len(tables) - MAX_TABLES),
        "filtered": [table for table in tables if table.condition],
        "shares": found.shares,
        "link_expires_at": found.link_expires_at,
        "token_expires_at": found.token_expires_at,
        "snippets": snippets(
            endpoint=f"{settings.PUBLIC_URL}/delta-sharing/",
            profile_file_name=found.file_name,
            tables=to_read_first(tables),
        ),
    }
    return _render(request, "activate.html", context)


def _render(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponseBase:
    about = {
        "provider": settings.PROVIDER_NAME,
        "contact": settings.PROVIDER_CONTACT,
        "now": timezone.now(),
        "request_id": getattr(request, "id", ""),
    }
    return render(request, f"sharing/{template}", about | context, status=status)
