"""The activation page: public, without a login, one time.

GET and HEAD look and never spend the link, so that scanners of mail cannot burn it;
POST downloads the profile and closes it, from a browser without cookies and from curl
too: who knows the secret of the address needs no other proof, and whoever could make
somebody else's browser send it could send it as well.
"""

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from apps.accounts.permissions import public
from apps.pages.addresses import client_address
from apps.sharing.errors import SharingStateError
from apps.sharing.selectors.offers import offered_tables, to_read_first
from apps.sharing.services.activation import Activation, activate, look_up
from apps.sharing.services.activation_views import view_activation
from apps.sharing.snippets import snippets
from apps.sharing.views.tokens import profile_response

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
    try:
        if request.method == "POST":
            return profile_response(
                activate(
                    nonce,
                    address=client_address(request),
                    user_agent=request.headers.get("User-Agent", ""),
                    request_id=getattr(request, "id", ""),
                    now=timezone.now(),
                )
            )
        return _page(request, _look(request, nonce))
    except SharingStateError as error:
        return _problem(request, error)


def _look(request: HttpRequest, nonce: str) -> Activation:
    """Look the link up; what merely probes it by HEAD leaves no record."""
    address, now = client_address(request), timezone.now()
    if request.method == "HEAD":
        return look_up(nonce, address=address, now=now)
    return view_activation(
        nonce,
        address=address,
        user_agent=request.headers.get("User-Agent", ""),
        request_id=getattr(request, "id", ""),
        now=now,
    )


def _page(request: HttpRequest, found: Activation) -> HttpResponseBase:
    tables = offered_tables(found.recipient)
    context = {
        "provider": settings.PROVIDER_NAME,
        "contact": settings.PROVIDER_CONTACT,
        "recipient": found.recipient,
        "file_name": found.file_name,
        "tables": tables[:MAX_TABLES],
        "num_tables": len(tables),
        "num_more": max(0, len(tables) - MAX_TABLES),
        "filtered": [table for table in tables if table.partition_filter],
        "shares": found.shares,
        "link_expires_at": found.link_expires_at,
        "token_expires_at": found.token_expires_at,
        "snippets": snippets(
            endpoint=f"{settings.PUBLIC_URL}/delta-sharing/",
            profile_file_name=found.file_name,
            tables=to_read_first(tables),
        ),
        "now": timezone.now(),
        "request_id": getattr(request, "id", ""),
    }
    return render(request, "sharing/activate.html", context)


def _problem(request: HttpRequest, error: SharingStateError) -> HttpResponseBase:
    context = {
        "provider": settings.PROVIDER_NAME,
        "contact": settings.PROVIDER_CONTACT,
        "error": error,
        "now": timezone.now(),
        "request_id": getattr(request, "id", ""),
    }
    return render(
        request, "sharing/activate_problem.html", context, status=error.status
    )
