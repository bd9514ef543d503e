"""Keys of Cloudflare R2 for one prefix, as its API is asked for them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from deltaweb.storage.objects.vending.credentials import FolderCredentials
from deltaweb.storage.objects.vending.errors import VendingRefusedError
from deltaweb.storage.objects.vending.vendors import open_vendor
from deltaweb.storage.signing.s3 import S3Credentials
from tests.support.stores.token_service import TokenService, running_token_service

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ACCOUNT = "0123456789abcdef0123456789abcdef"
MADE = {"accessKeyId": "id", "secretAccessKey": "secret", "sessionToken": "token"}


@pytest.fixture
def service() -> Iterator[TokenService]:
    made = {"success": True, "errors": [], "result": MADE}
    with running_token_service(lambda _: (200, {}, made)) as running:
        yield running


def vend(url: str, *, lifetime_s: int = 1200) -> FolderCredentials:
    options: dict[str, Any] = {
        "key": "parent",
        "secret": "hunter2",
        "vend_r2_api_token": "api-token",
        "vend_r2_account_id": ACCOUNT,
        "vend_sts_endpoint_url": url,
    }
    return open_vendor("s3://b/lake/t", options).vend(lifetime_s=lifetime_s, now=NOW)


def test_keys_are_asked_for_that_read_below_one_folder(service: TokenService) -> None:
    found = vend(service.url)

    (asked,) = service.asked
    assert asked.path == f"/accounts/{ACCOUNT}/r2/temp-access-credentials"
    assert asked.authorization == "Bearer api-token"
    assert asked.json == {
        "bucket": "b",
        "parentAccessKeyId": "parent",
        "permission": "object-read-only",
        "prefixes": ["lake/t/"],
        "ttlSeconds": 1200,
    }
    assert found.secret == S3Credentials(
        access_key="id",
        secret_key="secret",
        token="token",
    )
    assert found.expires_at == NOW + timedelta(minutes=20)


def test_they_are_good_for_an_hour_at_most(service: TokenService) -> None:
    found = vend(service.url, lifetime_s=86_400)

    assert service.asked[0].json["ttlSeconds"] == 3600
    assert found.expires_at == NOW + timedelta(hours=1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            (
                403,
                {},
                {"errors": [{"code": 10000, "message": "api-token"}], "result": None},
            ),
            "status 403, code 10000",
        ),
        ((200, {}, {"result": {"accessKeyId": "id"}}), "status 200"),
        ((500, {}, b"api-token"), "status 500"),
        ((302, {"Location": "http://127.0.0.1:9/"}, {}), "status 302"),
        ((400, {}, {"errors": [7]}), "status 400"),
    ],
)
def test_a_refusal_is_a_sentence_without_what_was_asked(service, answer, said):
    service.answer = lambda _: answer

    with pytest.raises(VendingRefusedError, match=said) as caught:
        vend(service.url)

    assert "api-token" not in str(caught.value)
    assert "vend_r2_api_token" in caught.value.hint


def test_a_service_that_is_silent_is_one_that_refuses() -> None:
    with pytest.raises(VendingRefusedError, match="Error"):
        vend("http://127.0.0.1:9")
