"""The URLs of the project."""

from django.urls import include, path

urlpatterns = [
    path("", include("deltaweb.web.news.urls")),
    path("", include("deltaweb.web.accounts.urls")),
    path("", include("deltaweb.web.jobs.urls")),
    path("", include("deltaweb.web.tables.urls")),
    path("", include("deltaweb.web.explorer.urls")),
    path("", include("deltaweb.web.sharing.urls")),
]

handler400 = "deltaweb.web.pages.views.bad_request"
handler403 = "deltaweb.web.pages.views.permission_denied"
handler404 = "deltaweb.web.pages.views.page_not_found"
handler500 = "deltaweb.web.pages.views.server_error"
