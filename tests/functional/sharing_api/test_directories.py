"""Folders of tables beside S3's, as the protocol tells their credentials."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.audit.models import AuditEvent
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.sharing.answers import tables
from apps.sharing.recipients.rehearsals import rehearsal
from apps.sharing.shares.terms import Terms, add_table
from apps.tables.storage.connections import add_connection
from tests.functional.command_line import Ran, run_json
from tests.functional.sharing_api.calls import Caller, error, items
from tests.functional.sharing_api.conftest import NewCaller
from tests.functional.sharing_pages.pages import as_json, page
from tests.support import cases
from tests.support.pages.factories import new_share, new_table, signed_in
from tests.support.stores.token_service import (
    TokenService,
    google_key,
    running_token_service,
)

CREDENTIALS = "/shares/sales/schemas/crm/tables/orders/temporary-table-credentials"
GOOGLE = {"access_token": "narrow", "expires_in": 3600}
ON_AZURE: Final = {
    "account_name": "lake",
    "account_key": "aHVudGVyMg==",
    **dict.fromkeys(("tenant_id", "client_id", "client_secret"), "ours"),
}
R2 = {"accessKeyId": "id", "secretAccessKey": "secret", "sessionToken": "narrow"}


@pytest.fixture
def service() -> Iterator[TokenService]:
    with running_token_service(lambda _: (200, {}, GOOGLE | {"result": R2})) as running:
        yield running


@pytest.fixture
def on_google(service: TokenService) -> dict[str, str]:
    """Options of a storage connection on Google."""
    key = google_key(rsa.generate_private_key(65537, 2048), f"{service.url}/own")
    return {"token": json.dumps(key), "vend_sts_endpoint_url": f"{service.url}/sts"}


@pytest.fixture
def on_r2(service: TokenService) -> dict[str, str]:
    """Options of a storage connection on R2."""
    account = {"vend_r2_api_token": "hunter2", "vend_r2_account_id": "0" * 32}
    keys = {"key": "parent", "secret": "hunter2"}
    return account | keys | {"vend_sts_endpoint_url": service.url}


@pytest.fixture
def new_globex(new_caller: NewCaller, settings: Settings):
    """A recipient of a table, wherever that is."""
    settings.STORAGE_HOSTS = ["127.0.0.1"]

    def make(root: str, options: dict[str, str]) -> Caller:
        now, share = timezone.now(), new_share("sales")
        prefix = root.removesuffix("lake/orders")
        facts: dict[str, Any] = {"stamp": Stamp(COMMAND_LINE, now)}
        add_connection(name="lake", prefix=prefix, options=options, **facts)
        facts |= {"schema": "crm", "name": "orders"}
        table = new_table("crm.orders", location=root)
        add_table(share, table=table, terms=Terms(with_directory=True), **facts)
        return new_caller("globex", share)

    return make


def test_a_table_on_google_is_read_by_a_token(new_globex, on_google):
    globex = new_globex("gs://bucket/lake/orders", on_google)

    (item,) = items(globex.get("/shares/sales/all-tables"))
    found = globex.ask("POST", CREDENTIALS, b"{}").json()["credentials"]

    assert item["accessModes"] == ["url", "dir"]
    assert item["location"] == found["location"] == "gs://bucket/lake/orders"
    assert found.keys() == {"location", "gcpOauthToken", "expirationTime"}
    assert found["gcpOauthToken"] == {"oauthToken": "narrow"}
    ends_at = datetime.fromtimestamp(found["expirationTime"] / 1000, tz=UTC)
    assert timedelta(minutes=59) < ends_at - timezone.now() <= timedelta(hours=1)
    assert "narrow" not in str(AuditEvent.objects.values())


def test_a_table_on_r2_is_read_by_keys_of_s3(new_globex, on_r2):
    globex = new_globex("s3://bucket/lake/orders", on_r2)

    found = globex.ask("POST", CREDENTIALS, b"{}").json()["credentials"]

    assert found["awsTempCredentials"] == R2
    assert found["location"] == "s3://bucket/lake/orders"


def test_a_token_that_ends_within_googles_hour_gets_none(new_globex, on_google):
    globex = new_globex("gs://bucket/lake/orders", on_google)
    soon = timezone.now() + timedelta(minutes=50)
    globex.recipient.tokens.update(expires_at=soon)

    answer = globex.ask("POST", CREDENTIALS, b"{}")

    assert answer.status_code == 400
    assert "the token ends before" in error(answer)["message"]


@pytest.mark.parametrize("status", [302, 400, 403, 500])
def test_a_store_that_refuses_is_said_to(new_globex, on_r2, service, status):
    globex = new_globex("s3://bucket/lake/orders", on_r2)
    service.answer = lambda _: (status, {"Location": "/"}, {"errors": [{"code": 9}]})

    answer = globex.ask("POST", CREDENTIALS, b"{}")

    assert answer.status_code == 400
    assert error(answer)["errorCode"] == "UNSUPPORTED_OPERATION"
    assert "gives no credentials at the moment" in error(answer)["message"]
    assert "hunter2" not in answer.content.decode()


@pytest.mark.parametrize("root", ["gs://bucket/lake/orders", "s3://bucket/lake/orders"])
def test_a_host_that_is_allowed_no_more_is_not_asked(
    shared_at, service, settings, root
):
    globex = shared_at(root)
    settings.STORAGE_HOSTS = []

    answer = globex.ask("POST", CREDENTIALS, b"{}")

    assert answer.status_code == 400
    assert "gives no credentials at the moment" in error(answer)["message"]
    assert not service.asked


@pytest.fixture
def shared_at(new_globex, on_google, on_r2):
    """Shares the table in the store of its address, which can make credentials."""
    options = {"gs": on_google, "s3": on_r2, "abfss": ON_AZURE}
    return lambda root: new_globex(root, options[root.partition("://")[0]])


@cases(
    "root, reason",
    {
        "google": ("gs://bucket/lake/orders", "accepts no OAuth token"),
        "azure": (
            "abfss://lake@lake.dfs.core.windows.net/lake/orders",
            "cannot sign directories",
        ),
        "r2": ("s3://bucket/lake/orders", None),
    },
)
def test_a_folder_that_no_client_can_read_is_named_by_a_rehearsal(
    shared_at, monkeypatch, root, reason
):
    shared_at(root)
    monkeypatch.setattr(rehearsal, "CLIENTS", {})
    # No such bucket is there, which drivers take minutes to find out.
    monkeypatch.setattr(tables, "table_version", lambda *_, **__: 3)

    told = run_json("recipient", "rehearse", "globex")["untried"]
    words = Ran("recipient", "rehearse", "globex").stderr
    admin = signed_in("ada", role=User.Role.ADMIN)
    shown = page(admin, "/recipients/globex/rehearsals")
    in_json = as_json(admin, "/recipients/globex/rehearsals.json")["untried"]

    expected = [("sales.crm.orders", "folder")] if reason else []
    assert [(one["table"], one["way"]) for one in told] == expected
    assert in_json == told
    for one in told:
        assert reason in one["reason"]
        assert f"sales.crm.orders was not tried as a folder: {one['reason']}" in words
        assert "Not tried: sales.crm.orders as a folder" in shown
    assert ("not tried" in f"{words}{shown}".lower()) is bool(reason)
