"""Answers that are compressed without being asked to be."""

import gzip
import json
import zlib

import pyarrow as pa
import pytest

from deltaweb.storage.received.errors import ProviderAnswerError
from deltaweb.storage.received.patience import HTTPRequest
from deltaweb.storage.received.transport import HTTPStream, Transport
from tests.support.stores.sharing_provider import HERE, Provider

BODY = b"".join(json.dumps({"line": number}).encode() + b"\n" for number in range(9999))
PACKED = {
    "gzip": gzip.compress(BODY),
    "x-gzip": gzip.compress(BODY[:100]) + gzip.compress(BODY[100:]),
    "deflate": zlib.compress(BODY),
    "zstd": pa.compress(BODY, "zstd", asbytes=True),
    "br": pa.compress(BODY, "brotli", asbytes=True),
    "identity": BODY,
    "": BODY,
}


def get(
    provider: Provider, body: bytes, coding: str, max_bytes: int = 1 << 30
) -> bytes:
    provider.answers["/a"] = lambda asked: asked.say(200, body, Content_Encoding=coding)
    request = HTTPRequest("GET", f"{provider.endpoint}/a", max_bytes=max_bytes)
    return Transport(HERE).ask(request).body


@pytest.mark.parametrize("coding", PACKED)
def test_a_compressed_answer_is_read(provider: Provider, coding: str) -> None:
    assert get(provider, PACKED[coding], coding.upper()) == BODY


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd"])
def test_one_that_is_cut_off_or_none_is_named(provider: Provider, coding: str) -> None:
    for body in (PACKED[coding][:-30], b"plain text"):
        with pytest.raises(ProviderAnswerError, match="cannot be decompressed"):
            get(provider, body, coding)


@pytest.mark.parametrize("coding", ["compress", "gzip, gzip", "no coding"])
def test_other_codings_are_refused(provider: Provider, coding: str) -> None:
    with pytest.raises(ProviderAnswerError, match="compressed in a way"):
        get(provider, BODY, coding)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd", "br"])
def test_a_small_body_becomes_no_large_one(provider: Provider, coding: str) -> None:
    zeros = bytes(300 << 20)
    bombs = {
        "gzip": lambda: gzip.compress(zeros, 1),
        "deflate": lambda: zlib.compress(zeros, 1),
        "zstd": lambda: pa.compress(zeros, "zstd", asbytes=True),
        "br": lambda: pa.Codec("brotli", 1).compress(zeros, asbytes=True),
    }
    body = bombs[coding]()
    provider.answers["/a"] = lambda asked: asked.say(200, body, Content_Encoding=coding)
    sizes = []

    def count(answer: HTTPStream) -> None:
        for part in answer.parts:
            sizes.append(len(part))  # noqa: PERF401 (the parts end with an error)

    request = HTTPRequest("GET", f"{provider.endpoint}/a", max_bytes=8 << 20)
    with pytest.raises(ProviderAnswerError, match="more than 8,388,608 bytes"):
        Transport(HERE).read(request, count)

    assert max(sizes) <= 1 << 20
    assert len(sizes) == 8


def test_an_empty_body_needs_no_compression(provider: Provider) -> None:
    assert get(provider, b"", "gzip") == b""
