"""The page of the switches, for administrators."""

from django.http import HttpRequest, HttpResponseBase

from apps.operate.switches.changes import switch_list
from apps.pages.responses import respond_page


def switches(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show which parts of the server are on."""
    return respond_page(
        request, fmt, switch_list(), template="operate/switch_list.html"
    )


switches.role = "ADMIN"  # type: ignore[attr-defined]  # The middleware checks it.
