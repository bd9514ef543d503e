"""When obstore answers, and when s3fs does."""

import os
from typing import Any

import pytest

from deltaweb.storage.objects import quick
from deltaweb.storage.objects.quick import QuickReads, quick_reads
from tests.support import cases

KEY = {"key": "AKIA", "secret": "open sesame"}
REGION = {"client_kwargs": {"region_name": "eu-west-1"}}
ENDPOINT = {"client_kwargs": {"endpoint_url": "http://127.0.0.1:9000"}}
ACCOUNT = {"account_name": "acme", "account_key": "a2V5"}
CONNECTION = "AccountName=acme;AccountKey=a2V5"
Opened = list[tuple[Any, ...]]


@pytest.fixture(autouse=True)
def used_by(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    found: dict[str, int] = {}
    monkeypatch.setattr(quick, "_used_by", found)
    for name in quick.TRUST:
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """What is opened for obstore, which then fails."""
    found: Opened = []

    def note(*asked: object) -> None:
        found.append(asked)
        raise OSError

    monkeypatch.setattr(quick, "_opened", note)
    return found


@cases(
    "root, options",
    {
        "a key and a region": ("s3://lake/t", {**KEY, **REGION}),
        "a public bucket": ("s3://lake/t", {"anon": True, **REGION}),
        "a session": ("s3://lake/t", {**KEY, "token": "t", **REGION}),
        "a key of Azure": ("abfss://lake@acme.dfs.core.windows.net/t", ACCOUNT),
    },
)
def test_obstore_is_asked_once_where_both_take_the_options_alike(root, options, opened):
    reads = quick_reads(root, options)

    assert reads.read(f"{root}/a", lambda: b"by s3fs") == b"by s3fs"
    assert reads.read(f"{root}/a", lambda: b"again") == b"again"
    ((bucket,),) = opened
    assert (bucket.name, "open sesame" in repr(bucket)) == ("lake", False)
    assert (bucket.credentials is None) == ("anon" in options)
    assert dict(bucket.credentials or ()).get("token") == options.get("token")


@cases(
    "root, options",
    {
        "Google": ("gs://lake/t", {**KEY, **REGION}),
        "a server of others": ("s3a://lake/t", {**KEY, **ENDPOINT}),
        "a server of others, as Azure has it": (
            "az://lake/t",
            {"connection_string": f"{CONNECTION};BlobEndpoint=https://acme.example"},
        ),
        "no key of Azure": ("az://lake/t", {"account_name": "acme"}),
        "no account of Azure": ("az://lake/t", {"account_key": "a2V5"}),
        "a sign-on of Azure": ("az://lake/t", {**ACCOUNT, "client_id": "me"}),
        "a token of Azure": (
            "az://lake/t",
            {"connection_string": "AccountName=acme;SharedAccessSignature=sig"},
        ),
        "what the machine finds": ("s3://lake/t", {}),
        "a region alone": ("s3://lake/t", REGION),
        "a key alone": ("s3://lake/t", KEY),
        "a profile": ("s3://lake/t", {"profile": "me", **REGION}),
        "another option": ("s3://lake/t", {**KEY, **REGION, "ssl": 1}),
        "another one of the client": (
            "s3://lake/t",
            {**KEY, "client_kwargs": {"region_name": "x", "verify": False}},
        ),
        "both": ("s3://lake/t", {**KEY, **REGION, "anon": True}),
    },
)
def test_else_s3fs_is_asked(root: str, options: dict[str, Any], opened: Opened) -> None:
    reads = quick_reads(root, options)

    assert reads.read_many([f"{root}/a"], lambda: [b"by s3fs"]) == [b"by s3fs"]
    assert not opened


def test_an_own_server_that_is_named_is_asked_by_obstore(opened: Opened) -> None:
    reads = quick_reads(
        "s3a://lake/t", {**KEY, **ENDPOINT}, allowed_hosts=["127.0.0.1"]
    )

    assert reads.read("s3a://lake/t/a", lambda: b"by s3fs") == b"by s3fs"
    assert opened


def test_s3fs_is_asked_where_an_own_authority_is_trusted(monkeypatch, opened):
    monkeypatch.setenv("AWS_CA_BUNDLE", "/etc/own.pem")
    reads = quick_reads("s3://lake/t", {**KEY, **REGION})

    assert reads.read("s3://lake/t/a", lambda: b"by s3fs") == b"by s3fs"
    assert not opened


def test_s3fs_is_asked_by_a_child_whose_parent_has_asked_obstore(used_by, opened):
    used_by["pid"] = os.getppid()
    reads = quick_reads("s3://lake/t", {**KEY, **REGION})

    assert reads.read("s3://lake/t/a", lambda: b"by s3fs") == b"by s3fs"
    assert not opened


def test_what_is_missing_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> bytes:
        raise FileNotFoundError

    monkeypatch.setattr(quick, "_object", missing)
    reads = QuickReads(lambda: None)

    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            reads.read("s3://lake/t/a", lambda: b"found")
