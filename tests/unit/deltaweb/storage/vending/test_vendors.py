"""Which folders credentials can be made for, before any store is asked."""

from datetime import UTC, datetime
from typing import Any

import pytest

from deltaweb.storage.objects.vending.credentials import (
    FolderCredentials,
    OAuthToken,
    SASToken,
)
from deltaweb.storage.objects.vending.errors import VendingUnsupportedError
from deltaweb.storage.objects.vending.vendors import open_vendor
from deltaweb.storage.signing.s3 import S3Credentials
from tests.support import cases

ROLE = {"vend_role_arn": "arn:aws:iam::123456789012:role/reader"}
R2 = {"vend_r2_api_token": "t", "vend_r2_account_id": "0" * 32}
PRINCIPAL = {"tenant_id": "t", "client_id": "c", "client_secret": "s"}
GOOGLE = {"token": {"client_email": "a@b", "private_key": "k"}}
HOST = "lake.dfs.core.windows.net"


@cases(
    "location, options, told",
    {
        "S3": ("s3a://b/lake/t/", ROLE, "s3://b/lake/t"),
        "R2": ("s3://b/lake/t", R2, "s3://b/lake/t"),
        "Google": ("gcs://b/lake/t", GOOGLE, "gs://b/lake/t"),
        "Azure, its account by the options": (
            "az://c/lake/t",
            PRINCIPAL | {"account_name": "lake"},
            f"abfss://c@{HOST}/lake/t",
        ),
        "Azure, its account by the location": (
            f"abfs://c@{HOST}/lake/t",
            {"anon": False},
            f"abfss://c@{HOST}/lake/t",
        ),
    },
)
def test_a_folder_is_told_as_clients_of_its_store_write_it(location, options, told):
    assert open_vendor(location, options).location == told


@pytest.mark.parametrize(
    ("location", "options", "reason"),
    [
        ("/data/t", {}, "not on S3"),
        ("hdfs://h/t", {}, "not on S3"),
        ("s3://b", ROLE, "a whole bucket"),
        ("s3://b/t", {}, "has no vend_role_arn"),
        ("s3://b/t*", ROLE, "wildcard"),
        ("s3://b/t", R2 | {"vend_r2_account_id": "../x"}, "is not an account"),
        ("gs://b/t", {"token": "anon"}, "no key of a service account"),
        ("gs://b/t", {"token": {"client_email": "a"}}, "no key of a service account"),
        ("az://c/t", PRINCIPAL, "says the account"),
        (
            f"abfss://c@{HOST}/t",
            {"account_key": "a2V5"},
            "names no service principal",
        ),
    ],
)
def test_a_folder_that_none_can_be_made_for_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch,
    location: str,
    options: dict[str, Any],
    reason: str,
) -> None:
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)

    with pytest.raises(VendingUnsupportedError, match=reason):
        open_vendor(location, options)


@pytest.mark.parametrize(
    "secret",
    [
        S3Credentials(access_key="id", secret_key="hunter2", token="hunter2"),
        SASToken("hunter2"),
        OAuthToken("hunter2"),
    ],
)
def test_credentials_do_not_show_in_a_log(secret):
    ends_at = datetime(2026, 1, 1, tzinfo=UTC)
    found = FolderCredentials(location="s3://b/t", secret=secret, expires_at=ends_at)

    assert "hunter2" not in repr(found)
