"""The pages of shares."""

from django.http import HttpRequest, HttpResponseBase

from apps.accounts.permissions import admin_required
from apps.pages.responses import json_response


@admin_required
def share_list(request: HttpRequest, *, fmt: str) -> HttpResponseBase:
    """Show the list."""
    del request, fmt
    return json_response({})
