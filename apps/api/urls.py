"""Where the endpoints are."""

from functools import cache
from threading import Lock
from typing import Any, Final, NoReturn

from django.http import HttpRequest
from django.urls import path, re_path

from apps.api import doctor, events, jobs
from apps.api.catalogue import (
    contents,
    merges,
    new_tables,
    tables,
)
from apps.api.catalogue.operations import operation_paths
from apps.api.changes import change_paths
from apps.api.errors import EndpointNotFoundError
from apps.api.openapi import describe, description_view, reference
from apps.api.unity import recipients as unity_recipients
from apps.api.unity import shares as unity_shares
from apps.tables.head.finding import OF_TABLE

app_name = "api"

V1: Final = "api/v1"
UNITY: Final = "api/2.1/unity-catalog"
RECIPIENT: Final = f"{V1}/recipients/<str:name>"
TABLE: Final = f"{V1}/{OF_TABLE}"


def not_there(request: HttpRequest, **_: object) -> NoReturn:
    """Refuse every other address below."""
    raise EndpointNotFoundError(path=request.path[:200])


endpoints = [
    path(f"{V1}/uploads", new_tables.Uploads.as_view()),
    path(f"{V1}/tables/create", new_tables.TableCreation.as_view()),
    path(f"{V1}/tables/convert", new_tables.TableConversion.as_view()),
    path(f"{V1}/tables/import", new_tables.TableImport.as_view()),
    path(f"{TABLE}/operations/import_rows", new_tables.RowImport.as_view()),
    path(f"{TABLE}/operations/merge_rows", merges.RowMerge.as_view()),
    path(f"{V1}/tables/check", tables.TableCheck.as_view()),
    path(f"{V1}/tables/samples", tables.Samples.as_view()),
    path(f"{TABLE}/diff", contents.TableDiff.as_view()),
    path(f"{TABLE}/refresh", tables.TableRefresh.as_view()),
    path(f"{TABLE}/check-files", tables.TableFileCheck.as_view()),
    *operation_paths(f"{TABLE}/operations"),
    path(f"{V1}/events", events.EventList.as_view(), name="events"),
    path(f"{V1}/jobs", jobs.JobList.as_view()),
    path(f"{V1}/jobs/<uuid:job_id>", jobs.Job.as_view(), name="job"),
    path(f"{V1}/jobs/<uuid:job_id>/cancel", jobs.JobCancel.as_view()),
    path(f"{V1}/jobs/<uuid:job_id>/retry", jobs.JobRetry.as_view()),
    *change_paths(V1, {**contents.STARTS, doctor.ROUTE: doctor.Connection}),
]


def named(name: str) -> Any:  # noqa: ANN401 (as Django has a view)
    """Return the view of an endpoint by its URL name."""
    return next(one.callback for one in endpoints if one.name == name)


def described() -> dict[str, Any]:
    """Return the description of all endpoints.

    It is made once: views are described by objects that all threads share, so two
    threads would disturb each other.
    """
    with _describing:
        return _described()


@cache
def _described() -> dict[str, Any]:
    return describe(endpoints)


_describing: Final = Lock()


unity_endpoints = [
    path(f"{UNITY}/{route}", view.as_view())
    for route, view in (
        ("shares", unity_shares.UnityShareList),
        ("shares/<str:name>", unity_shares.UnityShareView),
        ("shares/<str:name>/permissions", unity_shares.UnityPermissions),
        ("recipients", unity_recipients.UnityRecipientList),
        ("recipients/<str:name>", unity_recipients.UnityRecipientView),
        ("recipients/<str:name>/rotate-token", unity_recipients.UnityRotation),
        (
            "recipients/<str:name>/share-permissions",
            unity_recipients.UnityRecipientPermissions,
        ),
    )
]
"""As other tools know them, who have descriptions of their own."""
urlpatterns = [
    path("api/openapi.json", description_view(described), name="openapi"),
    path("api/reference/", reference, name="rest-reference"),
    *endpoints,
    # Beside the tokens, too, where scripts look for it; described once, above.
    path(f"{RECIPIENT}/tokens/rotate", named("rotation")),
    *unity_endpoints,
    re_path(r"^api/[\s\S]*\Z", not_there),
]
