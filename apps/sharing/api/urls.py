"""The endpoints of the Delta Sharing protocol; what is none of them is a 404 in JSON.

Source: delta_sharing_protocol.md, "REST APIs".
"""

from django.urls import path, re_path

from apps.sharing.api import views
from apps.sharing.api.files import FileView, PreparedFileView
from apps.sharing.api.token_endpoint import TokenEndpointView

app_name = "api"

SHARE = "shares/<str:share>"
SCHEMA = f"{SHARE}/schemas/<str:schema>"
TABLE = f"{SCHEMA}/tables/<str:table>"
# A file's path may hold every character but a NUL, line ends too.
FILE = r"/(?P<share>[^/]+)/(?P<table_id>[0-9a-f-]{36})/(?P<path>[\s\S]+)\Z"

urlpatterns = [
    path("shares", views.ShareListView.as_view(), name="share-list"),
    path(SHARE, views.ShareView.as_view(), name="share-detail"),
    path(f"{SHARE}/schemas", views.SchemaListView.as_view(), name="schema-list"),
    path(
        f"{SHARE}/all-tables", views.AllTableListView.as_view(), name="all-table-list"
    ),
    path(f"{SCHEMA}/tables", views.TableListView.as_view(), name="table-list"),
    path(TABLE, views.TableDetailView.as_view(), name="table-detail"),
    path(f"{TABLE}/version", views.TableVersionView.as_view(), name="table-version"),
    path(f"{TABLE}/metadata", views.TableMetadataView.as_view(), name="table-metadata"),
    path(f"{TABLE}/query", views.TableQueryView.as_view(), name="table-query"),
    path(f"{TABLE}/changes", views.TableChangesView.as_view(), name="table-changes"),
    path(f"{TABLE}/queries/<str:query>", views.QueryView.as_view(), name="query"),
    path(
        f"{TABLE}/temporary-table-credentials",
        views.TableCredentialsView.as_view(),
        name="table-credentials",
    ),
    path("oauth/token", TokenEndpointView.as_view(), name="oauth-token"),
    re_path(rf"^files{FILE}", FileView.as_view(), name="file"),
    re_path(rf"^prepared{FILE}", PreparedFileView.as_view(), name="prepared-file"),
    re_path(r"^[\s\S]*\Z", views.EndpointNotFoundView.as_view()),
]
