"""What is counted and logged of each request."""

import logging
from collections.abc import Callable
from time import perf_counter
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from apps.operate.metrics.counters import count_request
from apps.pages.request.addresses import client_address

SECRETS: Final = ("token", "nonce", "secret")
"""Names of parts of an address that let in whoever has them."""
SIGNED: Final = ("/delta-sharing/files/", "/delta-sharing/prepared/", "/iceberg/t/")
"""What begins addresses whose rest is signed."""
access_log = logging.getLogger("deltaweb.access")


def observed(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Count each request, and log it if that is set."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        begun_s = perf_counter()
        response = get_response(request)
        duration_s = perf_counter() - begun_s
        count_request(
            request.path_info, status=response.status_code, duration_s=duration_s
        )
        if settings.ACCESS_LOG:
            log_request(request, response, duration_s=duration_s)
        return response

    return middleware


def log_request(
    request: HttpRequest, response: HttpResponseBase, *, duration_s: float
) -> None:
    """Write one line for a request. It holds no query, token or signature."""
    facts = {
        "method": request.method,
        "path": shown_path(request),
        "status": response.status_code,
        "duration_ms": round(duration_s * 1000, 1),
        "address": client_address(request),
        "user_id": getattr(getattr(request, "user", None), "pk", None),
        "request": getattr(request, "id", ""),
    }
    access_log.info(
        "%(method)s %(path)s %(status)s %(duration_ms)s ms %(address)s",
        facts,
        extra={"facts": facts},
    )


def shown_path(request: HttpRequest) -> str:
    """Return the path of a request without parts that are secrets."""
    path = request.path_info
    for prefix in SIGNED:
        if path.startswith(prefix):
            return f"{prefix}..."
    match = request.resolver_match
    for name, value in (match.kwargs if match else {}).items():
        if name in SECRETS:
            path = path.replace(str(value), "...")
    return path
