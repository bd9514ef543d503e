"""What stores refuse is a sentence: which bucket, region, key or clock is wrong."""

from collections.abc import Iterator
from typing import Any

import fsspec
import pytest

from deltaweb.delta.errors import (
    CredentialsNeededError,
    DeltaError,
    LocationDeniedError,
    LocationInvalidError,
    LocationUnreachableError,
)
from deltaweb.storage.objects import scan
from deltaweb.storage.objects.errors import (
    BucketNotFoundError,
    ClockSkewedError,
    CredentialsExpiredError,
    KeyUnknownError,
    RegionWrongError,
    SecretWrongError,
)
from deltaweb.storage.objects.hosts import ALLOWED_HOSTS
from deltaweb.storage.objects.scan import first_object
from deltaweb.storage.objects.trial import Trial, try_storage
from deltaweb.storage.remote import RemoteTableStore
from tests.support.stores.azure_server import AzureServer
from tests.support.stores.refusing_server import RefusingServer, running_refusals
from tests.support.stores.s3_server import S3Server

REGION = "the region 'us-east-1' is wrong; expecting 'eu-west-1'"


@pytest.fixture(scope="module")
def refusing() -> Iterator[RefusingServer]:
    with pytest.MonkeyPatch.context() as patch, running_refusals() as server:
        patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
        # A driver may be slow to begin, on a machine that does much else.
        patch.setattr(scan, "FIRST_S", 60.0)
        yield server


@pytest.mark.parametrize(
    ("scheme", "status", "code", "message", "expected"),
    [
        ("s3", 404, "NoSuchBucket", "no", BucketNotFoundError),
        ("s3", 400, "AuthorizationHeaderMalformed", REGION, RegionWrongError),
        ("s3", 400, "ExpiredToken", "no", CredentialsExpiredError),
        ("s3", 403, "RequestTimeTooSkewed", "no", ClockSkewedError),
        ("s3", 403, "InvalidAccessKeyId", "no", KeyUnknownError),
        ("s3", 403, "SignatureDoesNotMatch", "no", SecretWrongError),
        ("s3", 403, "AccessDenied", "no", LocationDeniedError),
        ("az", 404, "ContainerNotFound", "no", BucketNotFoundError),
        ("az", 403, "AuthenticationFailed", "no", CredentialsNeededError),
        ("az", 403, "AuthorizationPermissionMismatch", "no", LocationDeniedError),
        ("gs", 404, "notFound", "The specified bucket does not exist.",
         BucketNotFoundError),
        ("gs", 401, "required", "Anonymous caller does not have access",
         CredentialsNeededError),
        ("gs", 401, "authError", "invalid_grant: Token has been expired",
         CredentialsExpiredError),
        ("gs", 403, "forbidden", "does not have storage.objects.list access",
         LocationDeniedError),
    ],
)  # fmt: skip
def test_a_refusal_is_a_sentence(  # noqa: PLR0913, PLR0917 (a column each)
    refusing: RefusingServer,
    scheme: str,
    status: int,
    code: str,
    message: str,
    expected: type[Exception],
) -> None:
    refusing.refusal.status, refusing.refusal.code = status, code
    refusing.refusal.message = message

    with pytest.raises(expected) as caught:
        first_object(f"{scheme}://bucket/lake", refusing.options(scheme))

    assert type(caught.value) is expected
    assert f"{scheme}://bucket/lake" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["s3", "az", "gs"])
@pytest.mark.parametrize("status", [301, 307])
def test_nobody_is_led_elsewhere(refusing: RefusingServer, scheme: str, status: int):
    inside = f"{refusing.url}/inside"
    refusing.refusal.code = refusing.refusal.message = "moved"
    refusing.asked.clear()
    refusing.refusal.status, refusing.refusal.location = status, inside
    store = RemoteTableStore(f"{scheme}://lake/{status}", refusing.options(scheme))

    try:
        with pytest.raises(DeltaError, match=r"another (address|region)"):
            store.list_names_from("")
        with pytest.raises((DeltaError, FileNotFoundError)):
            store.read(f"{0:020}.json")
    finally:
        refusing.refusal.location = ""

    assert refusing.asked
    assert not any("inside" in path for path in refusing.asked)


@pytest.mark.parametrize("scheme", ["s3", "az", "gs"])
def test_no_name_leads_inside(refusing: RefusingServer, scheme: str):
    """As where its owner answers with another address than when it was looked at."""
    options = refusing.options(scheme, host="localhost")
    place = f"{scheme}://lake/inside"
    refusing.refusal.status, refusing.refusal.code = 403, "AccessDenied"
    refusing.asked.clear()

    with pytest.raises(LocationUnreachableError, match="private network"):
        first_object(place, {**options, ALLOWED_HOSTS: ("*", "one.example")})
    assert not refusing.asked

    fsspec.get_filesystem_class(scheme).clear_instance_cache()  # drivers are kept
    with pytest.raises(LocationDeniedError):
        first_object(f"{place}/named", {**options, ALLOWED_HOSTS: ("localhost",)})
    assert refusing.asked


@pytest.mark.parametrize("place", ["lake@localhost:{port}#.dfs.one", "lake@localhost?"])
def test_an_account_begins_no_address(refusing: RefusingServer, place: str) -> None:
    port = refusing.url.rpartition(":")[2]
    refusing.asked.clear()

    with pytest.raises(LocationInvalidError, match="name of an Azure account"):
        first_object(f"abfss://{place.format(port=port)}/t", {"anon": True})
    assert not refusing.asked


def test_the_region_is_named(refusing: RefusingServer) -> None:
    refusing.refusal.status = 400
    refusing.refusal.code = "AuthorizationHeaderMalformed"
    refusing.refusal.message = REGION

    with pytest.raises(RegionWrongError, match=r"another region \(eu-west-1\)"):
        first_object("s3://bucket/lake", refusing.options("s3"))


@pytest.mark.parametrize("wrong", [{"secret": "wrong"}, {"key": "nobody"}])
def test_a_wrong_key_is_refused_by_a_server(seaweed: S3Server, wrong: dict[str, str]):
    options = {**seaweed.options, **wrong}

    with pytest.raises(CredentialsNeededError):
        first_object(f"s3://{seaweed.new_bucket()}", options)


def test_a_wrong_key_is_refused_by_azure(azure: AzureServer) -> None:
    container = azure.new_container()
    text = azure.options["connection_string"].replace("AccountKey=E", "AccountKey=F")

    with pytest.raises(CredentialsNeededError):
        first_object(f"az://{container}", {"connection_string": text})
    with pytest.raises(BucketNotFoundError):
        first_object("az://no-such-container/lake", azure.options)


def test_a_dead_address_says_so() -> None:
    options = {
        "key": "k",
        "secret": "hunter2",
        "client_kwargs": {"endpoint_url": "http://127.0.0.1:1"},
        "config_kwargs": {"retries": {"max_attempts": 0}},
    }

    with pytest.raises(LocationUnreachableError, match="nothing answers"):
        first_object("s3://bucket", options)


class TestTrial:
    @pytest.fixture
    def place(self, seaweed: S3Server) -> tuple[str, dict[str, Any]]:
        return f"s3://{seaweed.new_bucket()}/lake", seaweed.options

    def test_an_empty_bucket_is_listed_and_written(self, place):
        assert try_storage(*place, is_written=False) == Trial(
            was_read=None, was_written=None
        )
        assert try_storage(*place, is_written=True) == Trial(
            was_read=None, was_written=True
        )
        assert first_object(*place) is None

    def test_what_is_there_is_read(self, seaweed, place):
        seaweed.put(f"{place[0]}/a b/ü", b"data")

        assert try_storage(*place, is_written=False).was_read
