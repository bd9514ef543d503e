"""Presigned URLs beside botocore's own: byte for byte the same."""

import json
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.config import Config
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import (
    CredentialsNeededError,
    LocationInvalidError,
    PathEscapesTableError,
)
from deltaweb.storage.signing.s3 import S3Credentials, S3Endpoint, S3Signer
from deltaweb.storage.signing.signer import open_signer
from tests.support import cases

pytestmark = pytest.mark.slow

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ACCESS_KEY, SECRET = "AKIA/EXAMPLE", "se+cr/et="
KEYS = [
    "part-0.parquet",
    "day=2026-01-01/part 0.parquet",
    "größe/日本/\N{WAVING HAND SIGN}.parquet",
    "a%20b%2Fc+d&e=f;g?h#i.parquet",
    "~x*!'()@:$,;=[]{}|\\^`\"<>.parquet",
]
# An endpoint of one's own stands in the address, the region in the signature alone.
ENDPOINTS = [
    *[(None, region) for region in ("us-east-1", "eu-central-1", "cn-north-1")],
    ("http://127.0.0.1:9000", "us-east-1"),
    ("https://minio.example:443", "eu-central-1"),
    ("https://minio.example/below", "cn-north-1"),
    ("http://[::1]:8080", "eu-central-1"),
]


@pytest.fixture(autouse=True)
def no_aws_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)


def presign_with_botocore(bucket: str, keys: list[str], **options: Any) -> list[str]:  # noqa: ANN401 (any client option)
    client = botocore_client(json.dumps(options))
    return [
        client.generate_presigned_url(
            "get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=1234
        )
        for key in keys
    ]


@cache  # to make one takes longer than all that is asked of it
def botocore_client(options: str) -> Any:  # noqa: ANN401 (botocore makes its class)
    found = json.loads(options)
    config = Config(signature_version="s3v4", **found.pop("config_kwargs", {}))
    keys = {"aws_access_key_id": ACCESS_KEY, "aws_secret_access_key": SECRET}
    return boto3.client("s3", config=config, **keys, **found)


def new_signer(options, *, location="s3://bucket/t", now=NOW, lifetime_s=3600):
    return open_signer(location, options, now=now, lifetime_s=lifetime_s)


def time_of(url: str) -> datetime:
    stamp = parse_qs(urlsplit(url).query)["X-Amz-Date"][0]
    return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def assert_same(bucket: str, prefix: str, **options: Any) -> None:  # noqa: ANN401 (as above)
    """Sign each key at the second at which botocore has signed it."""
    location = "/".join(part for part in (f"s3://{bucket}", prefix) if part)
    full_keys = [f"{prefix}/{key}" if prefix else key for key in KEYS]
    client_kwargs = {
        name: options[name]
        for name in ("region_name", "endpoint_url")
        if options.get(name)
    }
    storage_options = {
        "key": ACCESS_KEY,
        "secret": SECRET,
        "token": options.get("aws_session_token"),
        "client_kwargs": client_kwargs,
        "config_kwargs": options.get("config_kwargs", {}),
    }
    theirs = presign_with_botocore(bucket, full_keys, **options)
    for key, url in zip(KEYS, theirs, strict=True):
        signer = new_signer(
            storage_options, location=location, now=time_of(url), lifetime_s=1234
        )
        assert signer.sign([key], [1]) == [url]


@pytest.mark.parametrize(("endpoint", "region"), ENDPOINTS)
def test_signs_as_botocore_in_every_style(endpoint: str | None, region: str) -> None:
    for bucket, style in product(
        ["bucket", "dotted.bucket", "Old_Bucket"], ["auto", "path", "virtual"]
    ):
        if endpoint and "[" in endpoint and style == "virtual":
            continue  # an address has no names below it, and no Python agrees on one
        assert_same(
            bucket,
            "lake/orders",
            region_name=region,
            endpoint_url=endpoint,
            config_kwargs={"s3": {"addressing_style": style}},
        )


@pytest.mark.parametrize("prefix", ["", "a b/ü+%20", "k=v"])
@pytest.mark.parametrize("token", [None, "session/token+=="])
def test_signs_as_botocore_with_a_session_token(prefix: str, token: str | None) -> None:
    assert_same("bucket", prefix, aws_session_token=token, region_name="eu-west-1")


@pytest.mark.parametrize(
    "option", ["use_dualstack_endpoint", "use_accelerate_endpoint"]
)
def test_signs_as_botocore_for_the_other_addresses_of_amazon(option: str) -> None:
    config = {"s3": {option: True}}
    assert_same("bucket", "t", region_name="eu-west-1", config_kwargs=config)


def test_a_storage_that_does_not_tell_its_region_is_signed_for_the_first(monkeypatch):
    monkeypatch.delenv("AWS_DEFAULT_REGION")

    assert_same("bucket", "t", endpoint_url="http://127.0.0.1:1")


def test_the_region_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")

    assert_same("bucket", "t")
    (url,) = new_signer({"key": "k", "secret": "s"}).sign(["a"], [1])
    assert "%2Feu-north-1%2Fs3%2F" in url


@given(
    st.lists(
        st.text(st.characters(exclude_characters="/\0.", exclude_categories=["Cs"])),
        min_size=1,
    )
)
def test_signs_many_files_as_it_signs_each(names: list[str]) -> None:
    paths = [f"x{name}" for name in names]
    signer = new_signer({"key": "k", "secret": "s"})

    assert signer.sign(paths, []) == [signer.sign([path], [])[0] for path in paths]


def test_signs_no_path_that_leads_out_of_the_table() -> None:
    with pytest.raises(PathEscapesTableError):
        new_signer({"key": "k", "secret": "s"}).sign(["a", "../other/a"], [1, 1])


# === Credentials ===


def test_credentials_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "to/ken")

    given_by_hand = {"key": ACCESS_KEY, "secret": SECRET, "token": "to/ken"}
    assert new_signer({}).sign(["a"], [1]) == new_signer(given_by_hand).sign(["a"], [1])


def test_credentials_of_a_profile_are_used(monkeypatch, tmp_path):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    (tmp_path / "config").write_text(
        "[profile lake]\nregion = eu-west-2\n"
        f"aws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET}\n"
    )
    by_hand = {
        "key": ACCESS_KEY,
        "secret": SECRET,
        "client_kwargs": {"region_name": "eu-west-2"},
    }

    ours = new_signer({"profile": "lake"}).sign(["a"], [1])
    assert ours == new_signer(by_hand).sign(["a"], [1])
    monkeypatch.setenv("AWS_PROFILE", "lake")
    assert new_signer({}).sign(["a"], [1]) == ours


@pytest.mark.parametrize("options", [{}, {"key": "hunter2"}, {"secret": "hunter2"}])
def test_without_whole_credentials_a_sentence_says_so(options, monkeypatch):
    if options:  # the other half is not taken from another place
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)

    with pytest.raises(CredentialsNeededError, match="needs credentials") as caught:
        new_signer(options)
    assert "hunter2" not in str(caught.value)


def test_the_region_may_stand_in_the_configuration() -> None:
    options = {"key": "k", "secret": "s", "config_kwargs": {"region_name": "sa-east-1"}}

    assert "%2Fsa-east-1%2Fs3%2F" in new_signer(options).sign(["a"], [1])[0]


def test_a_url_does_not_outlive_the_credential_of_the_environment(monkeypatch):
    now = datetime.now(UTC)
    ends_at = (now + timedelta(minutes=40)).replace(microsecond=0)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", ends_at.isoformat())

    signer = open_signer("s3://bucket/t", {}, now=now, lifetime_s=3600)

    (url,) = signer.sign(["a"], [1])
    expires_s = int(parse_qs(urlsplit(url).query)["X-Amz-Expires"][0])
    assert signer.expires_at == ends_at
    assert time_of(url) + timedelta(seconds=expires_s) == ends_at


@cases(
    "left_s, lifetime_s, expected_s",
    {
        "it never ends": (None, 3600, 3600),
        "seven days at most": (None, 10**9, 7 * 86_400),
        "it ends later": (7200, 3600, 3600),
        "it ends before": (600.9, 3600, 600),
        "it has ended": (-5, 3600, -5),
    },
)
def test_the_end_of_a_url(left_s: float | None, lifetime_s: int, expected_s: int):
    expires_at = None if left_s is None else NOW + timedelta(seconds=left_s)
    signer = S3Signer(
        endpoint=S3Endpoint(base_url="https://b.example/", region="r"),
        prefix="t",
        credentials=S3Credentials(
            access_key="a", secret_key="b", expires_at=expires_at
        ),
        now=NOW + timedelta(microseconds=7),
        lifetime_s=lifetime_s,
    )

    assert signer.expires_at == NOW + timedelta(seconds=expected_s)


def test_what_everybody_may_read_has_plain_urls() -> None:
    options = {
        "anon": True,
        "client_kwargs": {"region_name": "eu-west-1"},
        "config_kwargs": {"s3": {"addressing_style": "virtual"}},
    }
    signer = new_signer(options)

    assert signer.sign(["k=v/a b.parquet"], [1]) == [
        "https://bucket.s3.eu-west-1.amazonaws.com/t/k%3Dv/a%20b.parquet"
    ]
    assert signer.expires_at == NOW + timedelta(hours=1)


@cases(
    "location, options",
    {
        "an option": ("s3://b/t", {"config_kwargs": {"nonsense": 1}}),
        "an address": ("s3://b/t", {"endpoint_url": "nonsense"}),
        "a bucket": ("s3://-&-/t", {}),
    },
)
def test_what_does_not_fit_is_a_sentence_without_a_secret(location, options):
    secrets = {"key": "hunter2", "secret": "hunter2"}

    with pytest.raises(LocationInvalidError, match="do not fit") as caught:
        new_signer({**secrets, **options}, location=location)
    assert "hunter2" not in str(caught.value)


def test_a_secret_is_not_in_the_text_of_credentials() -> None:
    text = repr(S3Credentials(access_key="a", secret_key="hunter2", token="hunter3"))

    assert "hunter" not in text
