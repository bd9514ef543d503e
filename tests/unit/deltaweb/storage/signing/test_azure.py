import base64
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deltaweb.delta.errors import CredentialsNeededError, PathEscapesTableError
from deltaweb.storage.signing.azure import HAND_OUT_OPTION
from deltaweb.storage.signing.errors import SigningKeyNeededError
from deltaweb.storage.signing.signer import URLSigner, open_signer
from tests.support import cases

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
KEY = base64.b64encode(b"k" * 64).decode()
LOCATION = "abfss://container@account.dfs.core.windows.net/pre fix/t"
TOKEN = "sv=2021-12-02&sp=rl&sr=c&sig=hunter2%3D"
# Made by azure-storage-blob 12.31.1 with this key, time and version.
SIGNATURES = {
    "a.parquet": "4FzHU0JQYlxsWfs45ZlD9fF8W9B+C1qK6M0owvhQJjM=",
    "k=a b/ü%20+&#?.parquet": "gCp631jxI5S5EGe00NYbJvObtL7ICfKUh1SmYnwn/Wo=",
    "~x*!'()@:$,;=[]": "NlJYIADMtRmVk389TtDujbB/i+NDUXv9kwzhrWRQHmM=",
}


@pytest.fixture(autouse=True)
def no_azure_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCOUNT_NAME", "ACCOUNT_KEY", "CONNECTION_STRING", "SAS_TOKEN"):
        monkeypatch.delenv(f"AZURE_STORAGE_{name}", raising=False)


def new_signer(location: str = LOCATION, **options: Any) -> URLSigner:  # noqa: ANN401 (any option)
    return open_signer(location, options, now=NOW, lifetime_s=3600)


HANDED_OUT: dict[str, Any] = {HAND_OUT_OPTION: True}


def sign(location: str = LOCATION, **options: Any) -> str:  # noqa: ANN401 (as above)
    (url,) = new_signer(location, **options).sign(["k=1/a b"], [1])
    return url


@pytest.mark.parametrize("path", SIGNATURES)
def test_signs_as_the_library_of_azure(path: str) -> None:
    (url,) = new_signer(account_key=KEY).sign([path], [1])

    assert {
        name: value for name, (value,) in parse_qs(urlsplit(url).query).items()
    } == {
        "se": "2026-01-02T04:04:05Z",
        "sp": "r",
        "spr": "https",
        "sv": "2021-12-02",
        "sr": "b",
        "sig": SIGNATURES[path],
    }


def test_signs_many_files_as_it_signs_each() -> None:
    signer = new_signer(account_key=KEY)

    assert signer.sign(list(SIGNATURES), [1] * 3) == [
        signer.sign([path], [1])[0] for path in SIGNATURES
    ]
    assert signer.expires_at == NOW + timedelta(hours=1)


CONNECTION = f"AccountName=account;AccountKey={KEY}"
EMULATOR = "BlobEndpoint=http://127.0.0.1:10000/account/"


@cases(
    "location, options, expected",
    {
        "the account of the location comes first": (
            LOCATION,
            {"account_key": KEY, "account_name": "other"},
            "https://account.blob.core.windows.net/container/pre%20fix/t/k%3D1/a%20b?",
        ),
        "the account of the options": (
            "az://container/t",
            {"account_key": KEY, "account_name": "account"},
            "https://account.blob.core.windows.net/container/t/k%3D1/a%20b?",
        ),
        "a connection string": (
            "abfs://container",
            {"connection_string": f"{CONNECTION};EndpointSuffix=core.example"},
            "https://account.blob.core.example/container/k%3D1/a%20b?",
        ),
        "an emulator": (
            "abfs://container",
            {"connection_string": f"{CONNECTION};{EMULATOR}"},
            "http://127.0.0.1:10000/account/container/k%3D1/a%20b?",
        ),
        "another cloud": (
            "abfs://container@account.dfs.core.chinacloudapi.cn",
            {"account_key": KEY},
            "https://account.blob.core.chinacloudapi.cn/container/k%3D1/a%20b?",
        ),
    },
)
def test_the_address_of_a_blob(location: str, options: dict[str, str], expected: str):
    assert sign(location, **options).startswith(expected)


def test_options_of_the_environment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", CONNECTION)

    assert sign() == sign(account_key=KEY)


def test_what_everybody_may_read_has_plain_urls() -> None:
    assert sign(anon=True) == (
        "https://account.blob.core.windows.net/container/pre%20fix/t/k%3D1/a%20b"
    )


def test_signs_no_path_that_leads_out_of_the_table() -> None:
    with pytest.raises(PathEscapesTableError):
        new_signer(account_key=KEY).sign(["a/../../b"], [1])


# === Tokens of the owner ===


def test_a_token_is_handed_out_only_where_that_is_asked_for() -> None:
    with pytest.raises(SigningKeyNeededError, match=HAND_OUT_OPTION) as caught:
        sign(sas_token=TOKEN)

    assert "hunter2" not in str(caught.value)
    url = sign(sas_token=f"?{TOKEN}", **HANDED_OUT)
    assert url.endswith(f"/t/k%3D1/a%20b?{TOKEN}")
    assert "sp=r&" in sign(sas_token=TOKEN, account_key=KEY)


@cases(
    "end, expected",
    {
        "before": ("2026-01-02T03:30:00Z", "2026-01-02T03:30:00+00:00"),
        "after": ("2027-01-01", "2026-01-02T04:04:05+00:00"),
        "no time": ("never", "2026-01-02T04:04:05+00:00"),
    },
)
def test_a_url_does_not_outlive_its_token(end: str, expected: str) -> None:
    signer = new_signer(sas_token=f"{TOKEN}&se={end}", **HANDED_OUT)

    assert signer.expires_at.isoformat() == expected


def test_a_token_that_has_ended_is_refused() -> None:
    with pytest.raises(CredentialsNeededError):
        new_signer(sas_token=f"{TOKEN}&se=2026-01-01", **HANDED_OUT)


@cases(
    "location, options, wanted",
    {
        "no key": (LOCATION, {}, "account_key"),
        "no base64": (LOCATION, {"account_key": "hunter2!"}, "account_key"),
        "no account": ("az://c/t", {"account_key": KEY}, "account_name"),
    },
)
def test_without_a_key_a_sentence_says_so(location, options, wanted):
    with pytest.raises(SigningKeyNeededError, match=wanted) as caught:
        sign(location, **options)
    assert "hunter2" not in str(caught.value)
