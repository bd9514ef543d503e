from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

import pyarrow as pa
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.storage.signing.derived_keys import derive_keys
from deltaweb.storage.signing.file_urls import (
    FileURLExpiredError,
    FileURLInvalidError,
    LocalFileSigner,
    SignedFile,
    terms_digest,
    verify,
)
from tests.support import cases

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
TABLE = UUID("0d6a1c6b-39a9-4f4c-9a51-1c6c1f0e2b11")
TOKEN = UUID("7b0e4a56-7a6e-4a2b-8a60-53b1f1b0a9d2")
KEYS = derive_keys("secret", [], "file urls")
TERMS = ("0d6a1c6b", "rule", "True", "")
TERMS_DIGEST = terms_digest(TERMS, KEYS[0])
NAMES = [
    "part-0.parquet",
    "day=2026-01-01/part 0.parquet",
    "k=a%20b/p+q&r=s;t.parquet",
    "a#b?c/d%2Fe.parquet",
    "größe/日本/\N{WAVING HAND SIGN}.parquet",
    "quotes'\"<>`{}|\\^[]:@!$(),*.parquet",
    "a.b..c/...d/%.parquet",
    "%C3%A9/%zz/é.parquet",
]


@dataclass(frozen=True)
class Request:
    """What a server sees of a URL."""

    share: str
    table_id: UUID
    path: str
    query: str

    @classmethod
    def of(cls, url: str) -> "Request":
        parts = urlsplit(url)
        _, _, _, share, table, path = parts.path.split("/", 5)
        return cls(unquote(share), UUID(table), unquote(path), parts.query)

    def verify(self, **changed: Any) -> SignedFile:  # noqa: ANN401 (any part of a request)
        values = {
            "share": self.share,
            "table_id": self.table_id,
            "path": self.path,
            "query": self.query,
            "keys": KEYS,
            "now": NOW,
        }
        return verify(**{**values, **changed})


def new_signer(**changed: Any) -> LocalFileSigner:  # noqa: ANN401 (any part of a URL)
    values: dict[str, Any] = {
        "base_url": "https://share.example/deltaweb",
        "share": "sales",
        "table_id": TABLE,
        "token_id": TOKEN,
        "terms": TERMS,
        "keys": KEYS,
        "expires_at": LATER,
    }
    return LocalFileSigner(**{**values, **changed})


def sign(path: str, size: int = 573, **changed: Any) -> str:  # noqa: ANN401 (as above)
    (url,) = new_signer(**changed).sign([path], [size])
    return url.replace("/deltaweb/", "/", 1)


def test_writes_the_url_that_clients_take_for_a_presigned_one() -> None:
    (url,) = new_signer(share="sales & more").sign(["day=1/a b.parquet"], [573])

    head, _, signature = url.rpartition("&sig=")
    assert head == (
        "https://share.example/deltaweb/delta-sharing/files/sales%20%26%20more/"
        f"{TABLE}/day%3D1/a%20b.parquet?sp=r&se=1767326645&sz=573&tk={TOKEN.hex}"
        f"&tm={TERMS_DIGEST}"
    )
    assert len(bytes.fromhex(signature)) == 32


@pytest.mark.parametrize("path", NAMES)
def test_a_signed_url_names_its_file_again(path: str) -> None:
    assert Request.of(sign(path)).verify() == SignedFile(
        table_id=TABLE,
        token_id=TOKEN,
        terms=TERMS_DIGEST,
        path=path,
        size=573,
        expires_at=LATER,
    )


@pytest.mark.parametrize("path", NAMES)
@cases(
    "quote_again",
    {
        "yarl": lambda url: str(URL(url)),
        "yarl twice": lambda url: str(URL(str(URL(url)))),
        "requests": lambda url: str(requests.Request("GET", url).prepare().url),
        "equals signs": lambda url: url.replace("%3D", "="),
    },
)
def test_a_url_survives_that_a_client_quotes_it_again(path, quote_again):
    assert Request.of(quote_again(sign(path))).verify().path == path


def test_signs_many_files_as_it_signs_each() -> None:
    sizes = list(range(len(NAMES)))
    urls = new_signer().sign(pa.array(NAMES), pa.chunked_array([sizes]))

    assert urls == [
        new_signer().sign([name], [size])[0]
        for name, size in zip(NAMES, sizes, strict=True)
    ]
    assert new_signer().sign([], []) == []


@pytest.mark.parametrize("path", ["../a", "a/../../b", "/etc/passwd", "a//b", ""])
def test_signs_no_path_that_leads_out_of_the_table(path: str) -> None:
    with pytest.raises(PathEscapesTableError):
        new_signer().sign(["fine.parquet", path], [1, 1])


def test_the_end_of_a_url_is_a_whole_second() -> None:
    signer = new_signer(expires_at=LATER + timedelta(milliseconds=900))

    assert signer.expires_at == LATER


# === What is refused ===


@cases(
    "changed",
    {
        "another file": {"path": "b.parquet"},
        "a NUL": {"path": "a.parquet\0"},
        "half a character": {"path": "\ud800"},
        "another share": {"share": "other"},
        "half a character of a share": {"share": "\ud800"},
        "another table": {"table_id": TOKEN},
        "another key": {"keys": derive_keys("other", [], "file urls")},
        "another purpose": {"keys": derive_keys("secret", [], "page tokens")},
        "no key": {"keys": []},
    },
)
def test_refuses_what_was_not_signed(changed: dict[str, Any]) -> None:
    request = Request.of(sign("a.parquet"))

    with pytest.raises(FileURLInvalidError):
        request.verify(**changed)


@cases(
    "old, new",
    {
        "another size": ("sz=573", "sz=574"),
        "a longer life": ("se=1767326645", "se=1767326646"),
        "another token": (TOKEN.hex, TABLE.hex),
        "other terms": (TERMS_DIGEST, TERMS_DIGEST[::-1]),
        "no terms": (f"&tm={TERMS_DIGEST}", ""),
        "shorter terms": (TERMS_DIGEST, TERMS_DIGEST[:-1]),
        "terms in capitals": ("&tm=", "&tm=A"),
        "two terms": ("sp=r", "sp=r&tm=0123456789abcdef"),
        "another right": ("sp=r", "sp=w"),
        "no right": ("sp=r&", ""),
        "no size": ("sz=573", "sz="),
        "a size below nothing": ("sz=573", "sz=-573"),
        "digits of another script": ("sz=573", "sz=５７３"),
        "a NUL": ("sz=573", "sz=573%00"),
        "a huge size": ("sz=573", "sz=" + "9" * 5000),
        "a huge time": ("se=1767326645", "se=" + "9" * 5000),
        "the last time": ("se=1767326645", "se=99999999999"),
        "a number in another form": ("se=1767326645", "se=1e9"),
        "two sizes": ("sp=r", "sp=r&sz=574"),
        "two signatures": ("sp=r", "sp=r&sig="),
        "many parameters": ("sp=r", "&" * 100 + "a=b&" * 100),
        "a signature that is no number": ("sig=", "sig=é"),
        "a longer signature": ("sig=", "sig=0"),
        "no signature": ("sig=", "sag="),
        "bytes that are no text": ("tk=", "tk=%FF"),
    },
)
def test_refuses_a_changed_query(old: str, new: str) -> None:
    request = Request.of(sign("a.parquet"))
    assert old in request.query

    with pytest.raises(FileURLInvalidError):
        request.verify(query=request.query.replace(old, new))


@given(st.text(), st.text())
def test_refuses_any_text_without_another_error(path: str, query: str) -> None:
    request = Request.of(sign("a.parquet"))

    with pytest.raises(FileURLInvalidError):
        request.verify(path=path, query=query)
    with pytest.raises(FileURLInvalidError):
        request.verify(path=f"{path}.", query=request.query)


def test_what_a_client_adds_to_the_query_changes_nothing() -> None:
    request = Request.of(sign("a.parquet"))

    assert request.verify(query=f"{request.query}&cache=1&cache=2").size == 573


@pytest.mark.parametrize("added", ["sz=574", "sp=w", f"tk={TABLE.hex}", "sig="])
def test_a_second_value_that_follows_is_refused(added: str) -> None:
    request = Request.of(sign("a.parquet"))

    with pytest.raises(FileURLInvalidError, match="two values"):
        request.verify(query=f"{request.query}&{added}")


def test_a_query_of_very_many_parameters_is_not_looked_at() -> None:
    request = Request.of(sign("a.parquet"))

    with pytest.raises(FileURLInvalidError, match="too long"):
        request.verify(query=request.query + "&a=b" * 100)


def test_a_share_is_one_part_of_the_path() -> None:
    request = Request.of(sign("a.parquet", share="a/b %"))

    assert request.share == "a/b %"
    assert request.verify().path == "a.parquet"


def test_an_expired_url_says_whose_it_was() -> None:
    with pytest.raises(FileURLExpiredError) as caught:
        Request.of(sign("a.parquet")).verify(now=LATER)

    assert caught.value.token_id == TOKEN


def test_a_column_is_signed_as_each_of_its_files_is() -> None:
    sizes = list(range(len(NAMES)))

    urls = new_signer().sign_all(pa.array(NAMES), pa.array(sizes)).to_pylist()

    assert urls == new_signer().sign(NAMES, sizes)


def test_a_url_ends_with_its_time() -> None:
    request = Request.of(sign("a.parquet"))

    assert request.verify(now=LATER - timedelta(seconds=1)).expires_at == LATER
    with pytest.raises(FileURLExpiredError) as caught:
        request.verify(now=LATER)
    assert caught.value.code == "file-url-expired"
    assert "2026-01-02T04:04:05" in str(caught.value)


def test_a_refusal_does_not_show_the_signature() -> None:
    request = Request.of(sign("a.parquet"))
    signature = request.query.rpartition("=")[2]

    with pytest.raises(FileURLInvalidError) as caught:
        request.verify(path="b.parquet")
    assert signature not in str(caught.value)


# === Terms ===


@cases(
    "changed",
    {
        "another rule": ("0d6a1c6b", "other", "True", ""),
        "without history": ("0d6a1c6b", "rule", "False", ""),
        "a first version": ("0d6a1c6b", "rule", "True", "5"),
        "another table": ("0d6a1c6c", "rule", "True", ""),
        "texts cut elsewhere": ("0d6a1c6b", "ruleTrue", ""),
    },
)
def test_other_terms_have_another_digest(changed: tuple[str, ...]) -> None:
    assert terms_digest(changed, KEYS[0]) != TERMS_DIGEST


def test_the_terms_of_a_url_are_named_by_the_key_that_signed_it() -> None:
    rotated = derive_keys("new", ["secret"], "file urls")
    found = Request.of(sign("a.parquet")).verify(keys=rotated)

    assert [terms_digest(TERMS, key) == found.terms for key in rotated] == [False, True]


def test_a_digest_cannot_be_tested_without_the_key() -> None:
    unkeyed = sha256("\0".join(("terms", *TERMS)).encode()).hexdigest()

    assert TERMS_DIGEST not in unkeyed
    assert terms_digest(TERMS, b"another") != TERMS_DIGEST


# === Keys ===


def test_a_former_key_still_checks_and_signs_no_more() -> None:
    request = Request.of(sign("a.parquet", keys=derive_keys("old", [], "file urls")))
    rotated = derive_keys("new", ["old"], "file urls")

    assert request.verify(keys=rotated).path == "a.parquet"
    fresh = Request.of(sign("a.parquet", keys=rotated))
    assert fresh.verify(keys=rotated[:1]).path == "a.parquet"


def test_keys_differ_by_secret_and_purpose() -> None:
    keys = {
        key
        for purpose in ("a", "b")
        for key in derive_keys("secret", ["former"], purpose)
    }

    assert len(keys) == 4
    assert {len(key) for key in keys} == {32}
