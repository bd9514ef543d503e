"""A signature of one directory, as Azure and its sign-on are asked for its key."""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from deltaweb.storage.objects.vending.credentials import FolderCredentials, SASToken
from deltaweb.storage.objects.vending.errors import (
    VendingRefusedError,
    VendingUnsupportedError,
)
from deltaweb.storage.objects.vending.vendors import open_vendor
from tests.support.stores.token_service import (
    Asked,
    TokenService,
    new_certificate,
    running_token_service,
)

KEY = base64.b64encode(b"a key of the user's delegation").decode()
TOKEN = {"access_token": "own", "expires_in": 3600}
HIERARCHICAL = {"x-ms-is-hns-enabled": "true"}


class Azure:
    """Sign-on and blobs in one: every path that a vendor takes."""

    def __init__(self) -> None:
        self.account: tuple[int, dict[str, str], Any] = (200, HIERARCHICAL, b"")
        self.sign_on: tuple[int, dict[str, str], Any] = (200, {}, TOKEN)
        self.key: tuple[int, dict[str, str], Any] | None = None
        self.url = ""

    def answer(self, asked: Asked) -> tuple[int, dict[str, str], Any]:
        if "openid-configuration" in asked.path:
            names = ("authorization_endpoint", "token_endpoint", "issuer")
            return 200, {}, {name: f"{self.url}/t/{name}" for name in names}
        if asked.path.startswith("/t/"):
            return self.sign_on
        if "restype=account" in asked.path:
            return self.account
        return self.key or (200, {}, delegation_key(asked.body))


def delegation_key(body: bytes) -> bytes:
    """The answer of "Get User Delegation Key" for the times that were asked for."""
    start, expiry = re.findall(r"<(?:Start|Expiry)>([^<]+)<", body.decode())
    values = {
        "SignedOid": "oid",
        "SignedTid": "tid",
        "SignedStart": start,
        "SignedExpiry": expiry,
        "SignedService": "b",
        "SignedVersion": "2025-01-05",
        "Value": KEY,
    }
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
    return f"<UserDelegationKey>{inner}</UserDelegationKey>".encode()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def running(certificate: Path) -> Iterator[TokenService]:
    with running_token_service(Azure().answer, certificate=certificate) as service:
        yield service


@pytest.fixture
def azure(running: TokenService, certificate: Path, monkeypatch) -> Azure:
    azure = Azure()
    azure.url = running.url
    running.answer = azure.answer
    running.asked.clear()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", running.url)
    return azure


def vend(azure: Azure, *, now: datetime, **options: str) -> FolderCredentials:
    principal = {"tenant_id": "t", "client_id": "c", "client_secret": "hunter2"}
    endpoint = f"AccountName=lake;BlobEndpoint={azure.url};"
    options = principal | {"connection_string": endpoint} | options
    vendor = open_vendor("abfss://c@lake.dfs.core.windows.net/a b/ü=1", options)
    return vendor.vend(lifetime_s=1800, now=now)


def test_a_signature_reads_and_lists_below_one_directory_for_a_while(azure: Azure):
    now = datetime.now(UTC).replace(microsecond=0)

    found = vend(azure, now=now)

    assert isinstance(found.secret, SASToken)
    values = dict(parse_qsl(found.secret.text, strict_parsing=True))
    assert found.location == "abfss://c@lake.dfs.core.windows.net/a b/ü=1"
    assert found.expires_at == now + timedelta(minutes=30)
    assert values["se"] == f"{now + timedelta(minutes=30):%Y-%m-%dT%H:%M:%SZ}"
    named = {name: values[name] for name in ("sr", "sdd", "sp", "spr", "skoid")}
    assert named == {"sr": "d", "sdd": "2", "sp": "rl", "spr": "https", "skoid": "oid"}
    assert values["ske"] == values["se"]


def test_it_is_signed_as_azure_describes_it(azure: Azure) -> None:
    """Source: Microsoft, "Create a user delegation SAS", 2020-12-06 and later."""
    found = vend(azure, now=datetime.now(UTC))

    assert isinstance(found.secret, SASToken)
    values = dict(parse_qsl(found.secret.text, strict_parsing=True))
    resource = "/blob/lake/c/a b/ü=1"
    names = "sp st se . skoid sktid skt ske sks skv saoid suoid scid sduoid skdutid"
    names += " sip spr sv sr snapshot ses srh srq rscc rscd rsce rscl rsct"
    parts = [
        resource if name == "." else values.get(name, "") for name in names.split()
    ]
    digest = hmac.digest(
        base64.b64decode(KEY), "\n".join(parts).encode(), hashlib.sha256
    )
    assert values["sig"] == base64.b64encode(digest).decode()


def test_a_flat_account_is_refused_by_name(azure: Azure) -> None:
    azure.account = (200, {"x-ms-is-hns-enabled": "false"}, b"")

    with pytest.raises(VendingUnsupportedError, match="no hierarchical namespace"):
        vend(azure, now=datetime.now(UTC))


def test_the_key_of_the_account_says_what_it_is_where_it_is_given(running, azure):
    found = vend(azure, now=datetime.now(UTC), account_key=KEY)

    (asked,) = (one for one in running.asked if "restype=account" in one.path)
    assert asked.authorization.startswith("SharedKey lake:")
    assert isinstance(found.secret, SASToken)
    assert "skoid=oid" in found.secret.text


@pytest.mark.parametrize("refused", ["account", "key"])
def test_a_refusal_is_a_sentence_that_names_the_roles(azure: Azure, refused: str):
    code = "AuthorizationPermissionMismatch"
    body = f"<Error><Code>{code}</Code><Message>hunter2</Message></Error>".encode()
    setattr(azure, refused, (403, {"x-ms-error-code": code}, body))

    with pytest.raises(VendingRefusedError, match=code) as caught:
        vend(azure, now=datetime.now(UTC))

    assert "hunter2" not in str(caught.value)
    assert "Storage Blob Delegator" in caught.value.hint


def test_a_principal_that_cannot_sign_on_is_refused(azure: Azure) -> None:
    azure.sign_on = (401, {}, {"error": "invalid_client", "error_description": "no"})

    with pytest.raises(VendingRefusedError, match="ClientAuthenticationError"):
        vend(azure, now=datetime.now(UTC))
