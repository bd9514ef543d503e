"""What base.html needs on every page."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from apps.pages import frame


def page(request: HttpRequest) -> dict[str, Any]:
    """Return the rail's entries, the current one, and the user's theme."""
    user = getattr(request, "user", None)
    entries = frame.entries_for(user) if user is not None else []
    current = [
        entry.url_name
        for entry in entries
        if any(request.path_info.startswith(prefix) for prefix in entry.prefixes)
    ]
    match = request.resolver_match
    theme = getattr(user, "theme", "SYSTEM")
    return {
        "nav_entries": entries,
        "nav_current": current[0] if current else "",
        "banners": frame.banners_for(user) if user is not None else [],
        "theme": {"LIGHT": "light", "DARK": "dark"}.get(theme, ""),
        "help_place": frame.help_of(match.view_name) if match else "",
        "tour": frame.tour_place(request.GET.get("tour", "")),
        "is_help": request.path_info.startswith("/help/"),
        "deltaweb_version": settings.VERSION,
    }
