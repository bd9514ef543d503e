"""The first page."""

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.explorer.dashboard import selector as dashboards
from apps.pages.responses import respond_page


@require_safe
def dashboard(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show what happened last; an empty install is shown how to begin."""
    page = dashboards.dashboard(request.user, timezone.now())
    return respond_page(request, fmt, page, template="explorer/dashboard.html")
