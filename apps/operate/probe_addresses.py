"""The addresses that probes and Prometheus ask.

They come before sessions, the check of host names and the redirect to HTTPS: a probe of
Kubernetes names the address of the pod as its host, and speaks plain HTTP.
"""

import hmac
import json
from collections.abc import Callable
from ipaddress import ip_network
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from apps.operate.probes.parts import is_ready, states
from apps.pages.request.addresses import (
    client_address,
    names_a_proxy,
    parse_address,
)

SAFE: Final = ("GET", "HEAD")
CLOSED: Final = (
    "Metrics are open to programs of this machine. Name the networks of Prometheus in "
    "DELTAWEB_METRICS_NETWORKS, or let it send the key of DELTAWEB_METRICS_KEY as a "
    "bearer token.\n"
)


def live(request: HttpRequest) -> HttpResponse:
    """Say that this process answers."""
    del request
    return _text("ok\n")


def ready(request: HttpRequest) -> HttpResponse:
    """Say whether this process can serve, and which parts of the server work."""
    del request
    found = states.look()
    can_serve = is_ready(found)
    body = {"status": "ready" if can_serve else "not ready", "parts": found}
    response = HttpResponse(
        json.dumps(body), "application/json", status=200 if can_serve else 503
    )
    response["Cache-Control"] = "no-store"
    return response


def metrics(request: HttpRequest) -> HttpResponse:
    """Write the metrics for those who may read them."""
    if not may_read_metrics(request):
        return _text(CLOSED, status=403)
    from apps.operate.metrics import exposition  # noqa: PLC0415 (few processes write them)

    response = HttpResponse(exposition.text(), exposition.CONTENT_TYPE)
    response["Cache-Control"] = "no-store"
    return response


def may_read_metrics(request: HttpRequest) -> bool:
    """Return whether a request is of this machine, of a named network, or has the key.

    A request that a proxy on this machine passed on is not from this machine, although
    its socket is. HTTP/1.0 counts as one, because nginx speaks it and adds no header.
    """
    key = settings.METRICS_KEY
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    if key and scheme.lower() == "bearer":
        return hmac.compare_digest(sent.strip().encode(), key.encode())
    address = parse_address(client_address(request))
    if address is None:
        return False
    if any(address in ip_network(one) for one in settings.METRICS_NETWORKS):
        return True
    return (
        address.is_loopback
        and not names_a_proxy(request)
        and request.META.get("SERVER_PROTOCOL") != "HTTP/1.0"
    )


ANSWERS: Final[dict[str, Callable[[HttpRequest], HttpResponse]]] = {
    "/livez": live,
    "/readyz": ready,
    "/metrics": metrics,
}


def probes(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer probes and Prometheus; pass everything else on."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        answer = ANSWERS.get(request.path_info)
        if answer is None:
            return get_response(request)
        if request.method not in SAFE:
            response = _text("Only GET and HEAD.\n", status=405)
            response["Allow"] = ", ".join(SAFE)
            return response
        return answer(request)

    return middleware


def _text(text: str, *, status: int = 200) -> HttpResponse:
    response = HttpResponse(text, "text/plain; charset=utf-8", status=status)
    response["Cache-Control"] = "no-store"
    return response
