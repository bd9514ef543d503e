"""The URLs of the project."""

from django.urls import include, path

from apps.pages.views import manual_page

urlpatterns = [
    path("help/", manual_page, name="help"),
    path("help/<path:path>", manual_page, name="help"),
    path("portal/", include("apps.sharing.portal.urls")),
    path("", include("apps.news.urls")),
    path("", include("apps.operate.urls")),
    path("", include("apps.accounts.urls")),
    path("", include("apps.notices.urls")),
    path("", include("apps.jobs.urls")),
    path("", include("apps.tables.urls")),
    path("", include("apps.explorer.urls")),
    path("", include("apps.sharing.urls")),
    path("", include("apps.api.urls")),
]

handler400 = "apps.pages.views.bad_request"
handler403 = "apps.pages.views.permission_denied"
handler404 = "apps.pages.views.page_not_found"
handler500 = "apps.pages.views.server_error"
