"""Requests signed by botocore, and what is changed of them on the way."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from deltaweb.iceberg.access.errors import KeysRefusedError
from deltaweb.iceberg.access.signature import (
    Signature,
    SignedRequest,
    check_signature,
    parse_signature,
    sign,
)
from tests.support import cases

SECRET = "the secret"
PATH = "/prefix/iceberg/t/x/data/a.parquet"


def signed(*, path: str = PATH, query: str = "", **headers: str) -> SignedRequest:
    """A request as a client signs it, now."""
    url = f"https://lake.example.com:8443{path}{query and '?'}{query}"
    request = AWSRequest("GET", url, headers=headers)
    credentials = Credentials("DWKEY", SECRET, "the token")
    S3SigV4Auth(credentials, "s3", "us-east-1").add_auth(request)
    found = {name.lower(): value for name, value in request.headers.items()}
    return SignedRequest(
        method="GET",
        path=path,
        query=query,
        headers={**found, "host": "lake.example.com:8443"},
    )


def check(request: SignedRequest, now: datetime | None = None) -> None:
    signature = parse_signature(request, now=now or datetime.now(UTC))
    assert (signature.access_key, signature.session_token) == ("DWKEY", "the token")
    check_signature(request, signature, secret_key=SECRET)


@cases(
    "asked",
    {
        "plain": {},
        "of a range": {"Range": "bytes=0-9"},
        "with a query": {"query": "x-id=GetObject&partNumber=1"},
        "of a list": {"query": "prefix=a%2Fb&list-type=2&acl="},
    },
)
def test_a_request_that_was_signed_is_accepted(asked: dict[str, str]) -> None:
    check(signed(**asked))


def header(name: str, change: Callable[[str], str]) -> Callable[..., SignedRequest]:
    def changed(request: SignedRequest) -> SignedRequest:
        value = change(request.headers.get(name, ""))
        return replace(request, headers={**request.headers, name: value})

    return changed


HOSTILE = {
    "another method": lambda one: replace(one, method="PUT"),
    "another path": lambda one: replace(one, path=one.path + "x"),
    "a query that was not signed": lambda one: replace(one, query="acl="),
    "another range": header("range", lambda _: "bytes=0-"),
    "another host": header("host", lambda _: "elsewhere"),
    "another body": header("x-amz-content-sha256", lambda _: "0" * 64),
    "no signature": header("authorization", lambda _: ""),
    "a bearer token": header("authorization", lambda _: "Bearer x"),
    "half of a signature": header("authorization", lambda text: text[:-1]),
    "more than a signature": header("authorization", lambda text: text + "a"),
    "letters of another alphabet": header(
        "authorization", lambda text: text.replace("us-east-1", "ü")
    ),
    "another region": header(
        "authorization", lambda text: text.replace("us-east-1", "eu-west-1")
    ),
    "another service": header(
        "authorization", lambda text: text.replace("/s3/", "/iam/")
    ),
    "another day": header("authorization", lambda text: text.replace("/20", "/19", 1)),
    "a host that is not signed": header(
        "authorization", lambda text: text.replace("host;", "")
    ),
    "a very long signature": header("authorization", lambda text: text + " " * 4000),
    "no time": header("x-amz-date", lambda _: ""),
    "a time that is none": header("x-amz-date", lambda _: "20260231T000000Z"),
    "a NUL": header("x-amz-date", lambda text: text + "\0"),
    "too many parameters": lambda one: replace(one, query="&".join(["a=b"] * 999)),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_request_that_was_changed_is_refused(change):
    request = change(signed(Range="bytes=0-9"))

    with pytest.raises(KeysRefusedError):
        check(request)


@pytest.mark.parametrize("late", [timedelta(minutes=16), timedelta(minutes=-16)])
def test_a_request_of_another_time_is_refused(late: timedelta) -> None:
    with pytest.raises(KeysRefusedError) as caught:
        check(signed(), now=datetime.now(UTC) + late)

    assert caught.value.s3_code == "RequestTimeTooSkewed"


def signed_by_hand(*names: str, day: str = "20260301", query: str = "") -> None:
    """Check a request that its client has signed as it says, with our secret."""
    said = Signature(
        access_key="DWKEY",
        session_token="the token",
        signed_at=datetime(2026, 3, 1, tzinfo=UTC),
        scope=f"{day}/us-east-1/s3/aws4_request",
        names=names,
        text="",
    )
    headers = {
        "host": "lake.example.com:8443",
        "x-amz-date": "20260301T000000Z",
        "x-amz-security-token": "the token",
    }
    request = SignedRequest(method="GET", path=PATH, query=query, headers=headers)
    text = sign(request, said, secret_key=SECRET)
    header = (
        f"AWS4-HMAC-SHA256 Credential=DWKEY/{said.scope}, "
        f"SignedHeaders={';'.join(names)}, Signature={text}"
    )
    check(
        replace(request, headers={**headers, "authorization": header}),
        now=said.signed_at,
    )


def test_what_a_client_signs_by_hand_is_accepted() -> None:
    signed_by_hand("host", "x-amz-date")
    signed_by_hand("host", "x-amz-date", "x-amz-security-token", query="a=b")


@cases(
    "names, day",
    {
        "another day": (("host", "x-amz-date"), "20260228"),
        "no host": (("x-amz-date",), "20260301"),
        "no time": (("host",), "20260301"),
    },
)
def test_a_client_signs_its_host_and_its_time(names, day):
    with pytest.raises(KeysRefusedError, match="host or its time is not signed"):
        signed_by_hand(*names, day=day)


def test_a_query_of_very_many_parameters_is_not_looked_at() -> None:
    request = replace(signed(), query="&".join(["a=b"] * 999))

    with pytest.raises(KeysRefusedError, match="query cannot be read"):
        check(request)


def test_a_signature_that_does_not_fit_has_its_own_code() -> None:
    with pytest.raises(KeysRefusedError) as caught:
        check(replace(signed(), path="/other"))

    assert caught.value.s3_code == "SignatureDoesNotMatch"
