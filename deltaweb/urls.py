"""The URLs of the project."""

from django.urls import include, path

from deltaweb.web.pages.views import manual_page

urlpatterns = [
    path("help/", manual_page, name="help"),
    path("help/<path:path>", manual_page, name="help"),
    path("", include("deltaweb.web.news.urls")),
    path("", include("deltaweb.web.accounts.urls")),
    path("", include("deltaweb.web.jobs.urls")),
    path("", include("deltaweb.web.tables.urls")),
    path("", include("deltaweb.web.explorer.urls")),
    path("", include("deltaweb.web.sharing.urls")),
    path("", include("deltaweb.web.api.urls")),
]

handler400 = "deltaweb.web.pages.views.bad_request"
handler403 = "deltaweb.web.pages.views.permission_denied"
handler404 = "deltaweb.web.pages.views.page_not_found"
handler500 = "deltaweb.web.pages.views.server_error"
