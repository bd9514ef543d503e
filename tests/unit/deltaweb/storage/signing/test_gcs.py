import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.storage.signing.errors import SigningKeyNeededError
from deltaweb.storage.signing.signer import URLSigner, open_signer
from tests.support import cases

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
EMAIL = "signer@project.iam.gserviceaccount.com"
KEYS = ["part-0.parquet", "k=a b/ü%20+&#?.parquet", "~x*!'()@:$,;=[]"]


def as_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture(scope="module")
def account(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    return {"type": "x", "client_email": EMAIL, "private_key": as_pem(key)}


def new_signer(location: str = "gs://bucket/pre fix/t", **options: Any) -> URLSigner:  # noqa: ANN401 (any option)
    return open_signer(location, options, now=NOW, lifetime_s=3600)


def signed_by(url: str, key: rsa.RSAPrivateKey) -> bool:
    """Build the canonical request as Google describes it, and check its signature."""
    parts = urlsplit(url)
    values = dict(parse_qsl(parts.query, strict_parsing=True))
    signature = bytes.fromhex(values.pop("X-Goog-Signature"))
    query = "&".join(
        f"{quote(name, safe='~')}={quote(values[name], safe='~')}"
        for name in sorted(values)
    )
    request = (
        f"GET\n{parts.path}\n{query}\nhost:{parts.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
    )
    scope = values["X-Goog-Credential"].partition("/")[2]
    to_sign = "\n".join(
        [
            "GOOG4-RSA-SHA256",
            values["X-Goog-Date"],
            scope,
            hashlib.sha256(request.encode()).hexdigest(),
        ]
    )
    key.public_key().verify(
        signature, to_sign.encode(), padding.PKCS1v15(), hashes.SHA256()
    )
    return True


@pytest.mark.parametrize("path", KEYS)
def test_signs_as_google_describes_it(path, key, account):
    signer = new_signer(token=account)
    (url,) = signer.sign([path], [1])

    assert url.partition("&X-Goog-Signature=")[0] == (
        f"https://storage.googleapis.com/bucket/pre%20fix/t/{quote(path, safe='/')}"
        "?X-Goog-Algorithm=GOOG4-RSA-SHA256"
        "&X-Goog-Credential=signer%40project.iam.gserviceaccount.com"
        "%2F20260102%2Fauto%2Fstorage%2Fgoog4_request"
        "&X-Goog-Date=20260102T030405Z&X-Goog-Expires=3600&X-Goog-SignedHeaders=host"
    )
    assert signed_by(url, key)
    assert signer.expires_at == NOW + timedelta(hours=1)


def test_signs_many_files_in_their_order(key, account):
    paths = [f"k={number}/a.parquet" for number in range(100)]
    urls = new_signer(token=account).sign(paths, [1] * 100)

    assert [url.partition("?")[0].rpartition("/t/")[2] for url in urls] == [
        quote(path) for path in paths
    ]
    assert signed_by(urls[0], key)
    assert signed_by(urls[-1], key)


def test_takes_the_account_as_text_or_from_a_file(account, tmp_path, monkeypatch):
    text = json.dumps(account)
    file = tmp_path / "account.json"
    file.write_text(text)
    (expected,) = new_signer(token=account).sign(["a"], [1])

    assert new_signer(token=text).sign(["a"], [1]) == [expected]
    assert new_signer(token=str(file)).sign(["a"], [1]) == [expected]
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    assert new_signer().sign(["a"], [1]) == [expected]


def test_another_address_and_the_root_of_a_bucket(account: dict[str, Any]) -> None:
    signer = new_signer("gcs://bucket", token=account, endpoint_url="http://e:4443")

    assert signer.sign(["a"], [1])[0].startswith("http://e:4443/bucket/a?")


def test_what_everybody_may_read_has_plain_urls() -> None:
    assert new_signer(token="anon").sign(["k=1/a"], [1]) == [
        "https://storage.googleapis.com/bucket/pre%20fix/t/k%3D1/a"
    ]


def test_signs_no_path_that_leads_out_of_the_table(account: dict[str, Any]) -> None:
    with pytest.raises(PathEscapesTableError):
        new_signer(token=account).sign(["../a"], [1])


@cases(
    "token",
    {
        "nothing": None,
        "the account of the machine": "cloud",
        "a file that is not there": "/nowhere/hunter2.json",
        "no JSON": "{hunter2",
        "an account without a key": "{}",
        "no key": {"client_email": EMAIL, "private_key": "hunter2"},
        "another kind of key": {
            "client_email": EMAIL,
            "private_key": as_pem(ec.generate_private_key(ec.SECP256R1())),
        },
        "a number": 7,
    },
)
def test_without_a_key_a_sentence_says_so(token, monkeypatch):
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)

    with pytest.raises(SigningKeyNeededError, match="service account") as caught:
        new_signer(token=token)
    assert "hunter2" not in str(caught.value)
