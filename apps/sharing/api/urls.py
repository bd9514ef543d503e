"""The endpoints of the Delta Sharing protocol."""

from django.urls.resolvers import URLPattern

app_name = "api"

urlpatterns: list[URLPattern] = []
