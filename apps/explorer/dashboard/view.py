"""The first page."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django_htmx.http import trigger_client_event

from deltaweb.web.explorer.dashboard import selector as dashboards
from deltaweb.web.pages.responses import respond_page


def dashboard(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show what happened last; an empty install is shown how to begin.

    The page asks how far its jobs are, and tells what it has `seen`: where that is no
    longer so, it fetches all of itself.
    """
    page = dashboards.dashboard(request.user, timezone.now())
    is_other = request.GET.get("seen", page.seen) != page.seen
    if is_other and "HX-Request" in request.headers:
        response = HttpResponse(status=204)
        trigger_client_event(response, "page-moved-on", {})
        return response
    return respond_page(
        request,
        fmt,
        page,
        template="explorer/dashboard/dashboard.html",
        fragment="running",
    )
