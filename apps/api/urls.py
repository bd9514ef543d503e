"""Where the endpoints are."""

from functools import cache
from typing import Any, Final, NoReturn

from django.http import HttpRequest
from django.urls import path, re_path

from deltaweb.web.api import accounts, jobs
from deltaweb.web.api.catalogue import contents, lakes, tables
from deltaweb.web.api.catalogue.operations import operation_paths
from deltaweb.web.api.errors import EndpointNotFoundError
from deltaweb.web.api.openapi import describe, description_view
from deltaweb.web.api.sharing import activity, recipients, shares, tokens
from deltaweb.web.api.unity import recipients as unity_recipients
from deltaweb.web.api.unity import shares as unity_shares

app_name = "api"

V1: Final = "api/v1"
UNITY: Final = "api/2.1/unity-catalog"
SHARE: Final = f"{V1}/shares/<str:name>"
RECIPIENT: Final = f"{V1}/recipients/<str:name>"
USER: Final = f"{V1}/users/<str:name>"
TABLE: Final = f"{V1}/tables/<str:namespace>/<str:name>"


def not_there(request: HttpRequest, **_: object) -> NoReturn:
    """Refuse every other address below."""
    raise EndpointNotFoundError(path=request.path[:200])


endpoints = [
    path(f"{V1}/tables", tables.TableList.as_view(), name="table-list"),
    path(f"{V1}/tables/scan", lakes.TableScan.as_view(), name="table-scan"),
    path(TABLE, tables.Table.as_view(), name="table"),
    path(f"{TABLE}/versions", contents.TableVersions.as_view()),
    path(f"{TABLE}/versions/<int:version>", contents.TableVersion.as_view()),
    path(f"{TABLE}/schema", contents.TableSchema.as_view()),
    path(f"{TABLE}/files", contents.TableFiles.as_view()),
    path(f"{TABLE}/partitions", contents.TablePartitions.as_view()),
    path(f"{TABLE}/readers", contents.TableReaders.as_view()),
    path(f"{TABLE}/rows", contents.TableRows.as_view()),
    path(f"{TABLE}/changes", contents.TableChanges.as_view()),
    path(f"{TABLE}/diff", contents.TableDiff.as_view()),
    path(f"{TABLE}/refresh", tables.TableRefresh.as_view()),
    path(f"{TABLE}/check-files", tables.TableFileCheck.as_view()),
    *operation_paths(f"{TABLE}/operations"),
    path(f"{V1}/lakes", lakes.LakeList.as_view()),
    path(f"{V1}/lakes/<uuid:lake_id>", lakes.Lake.as_view()),
    path(f"{V1}/jobs", jobs.JobList.as_view()),
    path(f"{V1}/jobs/<uuid:job_id>", jobs.Job.as_view(), name="job"),
    path(f"{V1}/jobs/<uuid:job_id>/cancel", jobs.JobCancel.as_view()),
    path(f"{V1}/jobs/<uuid:job_id>/retry", jobs.JobRetry.as_view()),
    path(f"{V1}/shares", shares.ShareList.as_view(), name="share-list"),
    path(SHARE, shares.Share.as_view(), name="share"),
    path(
        f"{SHARE}/tables/<str:table>", shares.SharedTable.as_view(), name="shared-table"
    ),
    path(f"{SHARE}/grants", shares.GrantList.as_view(), name="grant-list"),
    path(f"{SHARE}/grants/<str:recipient>", shares.Grant.as_view(), name="grant"),
    path(f"{V1}/recipients", recipients.RecipientList.as_view(), name="recipient-list"),
    path(RECIPIENT, recipients.Recipient.as_view(), name="recipient"),
    path(f"{RECIPIENT}/tokens", tokens.TokenList.as_view(), name="token-list"),
    path(f"{RECIPIENT}/rotate", tokens.Rotation.as_view(), name="rotation"),
    path(f"{RECIPIENT}/tokens/<uuid:token_id>", tokens.Token.as_view(), name="token"),
    path(
        f"{RECIPIENT}/activation-links",
        tokens.ActivationLinks.as_view(),
        name="activation-links",
    ),
    path(f"{V1}/activity", activity.Activity.as_view(), name="activity"),
    path(f"{V1}/users", accounts.UserList.as_view(), name="user-list"),
    path(USER, accounts.UserAccount.as_view(), name="user"),
    path(f"{USER}/sign-in-links", accounts.SignInLinks.as_view(), name="sign-in-links"),
    path(f"{USER}/keys", accounts.KeyList.as_view(), name="key-list"),
    path(f"{USER}/keys/<uuid:key_id>", accounts.Key.as_view(), name="key"),
]


@cache
def described() -> dict[str, Any]:
    """Return the description of all endpoints."""
    return describe(endpoints)


unity_endpoints = [
    path(
        f"{UNITY}/shares",
        unity_shares.UnityShareList.as_view(),
        name="unity-share-list",
    ),
    path(
        f"{UNITY}/shares/<str:name>",
        unity_shares.UnityShareView.as_view(),
        name="unity-share",
    ),
    path(
        f"{UNITY}/shares/<str:name>/permissions",
        unity_shares.UnityPermissions.as_view(),
        name="unity-permissions",
    ),
    path(
        f"{UNITY}/recipients",
        unity_recipients.UnityRecipientList.as_view(),
        name="unity-recipient-list",
    ),
    path(
        f"{UNITY}/recipients/<str:name>",
        unity_recipients.UnityRecipientView.as_view(),
        name="unity-recipient",
    ),
    path(
        f"{UNITY}/recipients/<str:name>/rotate-token",
        unity_recipients.UnityRotation.as_view(),
        name="unity-rotation",
    ),
    path(
        f"{UNITY}/recipients/<str:name>/share-permissions",
        unity_recipients.UnityRecipientPermissions.as_view(),
        name="unity-recipient-permissions",
    ),
]
"""As other tools know them, who have descriptions of their own."""
urlpatterns = [
    path("api/openapi.json", description_view(described), name="openapi"),
    *endpoints,
    # Beside the tokens, too, where scripts look for it; described once, above.
    path(f"{RECIPIENT}/tokens/rotate", tokens.Rotation.as_view()),
    *unity_endpoints,
    re_path(r"^api/[\s\S]*\Z", not_there),
]
