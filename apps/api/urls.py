"""Where the endpoints are."""

from typing import Final, NoReturn

from django.http import HttpRequest
from django.urls import path, re_path

from deltaweb.web.api import tables
from deltaweb.web.api.errors import EndpointNotFoundError
from deltaweb.web.api.openapi import description_of

app_name = "api"

V1: Final = "api/v1"
TABLE: Final = f"{V1}/tables/<str:namespace>/<str:name>"


def not_there(request: HttpRequest, **_: object) -> NoReturn:
    """Refuse every other address below.

    Raises:
        EndpointNotFoundError: Always.
    """
    raise EndpointNotFoundError(path=request.path[:200])


endpoints = [
    path(f"{V1}/tables", tables.TableList.as_view(), name="table-list"),
    path(TABLE, tables.Table.as_view(), name="table"),
]
urlpatterns = [
    path("api/openapi.json", description_of(endpoints), name="openapi"),
    *endpoints,
    re_path(r"^api/[\s\S]*\Z", not_there),
]
