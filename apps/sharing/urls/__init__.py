"""The pages of sharing, and the protocol."""

from django.urls import include, path

from apps.sharing.urls import activity, recipients, shares

app_name = "sharing"

urlpatterns = [
    *shares.urlpatterns,
    *recipients.urlpatterns,
    *activity.urlpatterns,
    path("delta-sharing/", include("apps.sharing.api.urls")),
]
