"""The URLs of those who run a server."""

from apps.operate.switches.views import switches
from apps.pages.changes.html import change_patterns
from apps.pages.urls import page

app_name = "operate"
urlpatterns = [
    *page("admin-area/switches/", switches, "switch-list"),
    *change_patterns("switch"),
]
