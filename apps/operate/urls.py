"""The URLs of those who run a server."""

from apps.operate.restored.views import restored, restored_compare
from apps.operate.switches.views import switches
from apps.pages.changes.html import change_patterns
from apps.pages.urls import action, page

app_name = "operate"
urlpatterns = [
    *page("admin-area/switches/", switches, "switch-list"),
    *change_patterns("switch"),
    *page("admin-area/restored/", restored, "restored"),
    action("admin-area/restored/compare", restored_compare, "restored-compare"),
    *change_patterns("restored"),
]
