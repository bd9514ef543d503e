"""The catalogue below `v1`, and the objects below `t`: its bucket is this very folder.

Source: Iceberg REST catalogue (rest-catalog-open-api.yaml).
"""

from django.urls import path, re_path

from apps.sharing.api.iceberg import catalog_views as views
from apps.sharing.api.iceberg.object_view import ObjectView
from apps.sharing.api.token_endpoint import TokenEndpointView

app_name = "iceberg"

NAMESPACE = "namespaces/<str:namespace>"
TABLE = f"{NAMESPACE}/tables/<str:table>"

urlpatterns = [
    path("v1/config", views.ConfigView.as_view(), name="config"),
    path("v1/oauth/tokens", TokenEndpointView.as_view()),
    *(
        route
        for prefix in ("v1/", "v1/<str:prefix>/")
        for route in (
            path(f"{prefix}namespaces", views.NamespaceListView.as_view()),
            path(f"{prefix}{NAMESPACE}", views.NamespaceView.as_view()),
            path(f"{prefix}{NAMESPACE}/tables", views.TableListView.as_view()),
            path(f"{prefix}{TABLE}", views.TableView.as_view()),
            path(f"{prefix}{TABLE}/metrics", views.MetricsView.as_view()),
        )
    ),
    re_path(r"^(?P<key>t(?:/[\s\S]*)?)\Z", ObjectView.as_view(), name="object"),
    re_path(r"^[\s\S]*\Z", views.NoEndpointView.as_view()),
]
