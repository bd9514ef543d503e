"""Where the endpoints are."""

from functools import cache
from typing import Any, Final, NoReturn

from django.http import HttpRequest
from django.urls import path, re_path

from deltaweb.web.api import jobs, lakes, table_pages, tables
from deltaweb.web.api.errors import EndpointNotFoundError
from deltaweb.web.api.openapi import describe, description_view
from deltaweb.web.api.operations import operation_paths

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
    path(f"{V1}/tables/scan", lakes.TableScan.as_view(), name="table-scan"),
    path(TABLE, tables.Table.as_view(), name="table"),
    path(f"{TABLE}/versions", table_pages.TableVersions.as_view()),
    path(f"{TABLE}/versions/<int:version>", table_pages.TableVersion.as_view()),
    path(f"{TABLE}/schema", table_pages.TableSchema.as_view()),
    path(f"{TABLE}/files", table_pages.TableFiles.as_view()),
    path(f"{TABLE}/partitions", table_pages.TablePartitions.as_view()),
    path(f"{TABLE}/readers", table_pages.TableReaders.as_view()),
    path(f"{TABLE}/rows", table_pages.TableRows.as_view()),
    path(f"{TABLE}/changes", table_pages.TableChanges.as_view()),
    path(f"{TABLE}/diff", table_pages.TableDiff.as_view()),
    path(f"{TABLE}/refresh", tables.TableRefresh.as_view()),
    path(f"{TABLE}/check-files", tables.TableFileCheck.as_view()),
    *operation_paths(f"{TABLE}/operations"),
    path(f"{V1}/lakes", lakes.LakeList.as_view()),
    path(f"{V1}/lakes/<uuid:lake_id>", lakes.Lake.as_view()),
    path(f"{V1}/jobs", jobs.JobList.as_view()),
    path(f"{V1}/jobs/<uuid:job_id>", jobs.Job.as_view(), name="job"),
    path(f"{V1}/jobs/<uuid:job_id>/cancel", jobs.JobCancel.as_view()),
    path(f"{V1}/jobs/<uuid:job_id>/retry", jobs.JobRetry.as_view()),
]


@cache
def described() -> dict[str, Any]:
    """Return the description of all endpoints."""
    return describe(endpoints)


urlpatterns = [
    path("api/openapi.json", description_view(described), name="openapi"),
    *endpoints,
    re_path(r"^api/[\s\S]*\Z", not_there),
]
