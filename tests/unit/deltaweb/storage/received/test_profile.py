"""Profile files: which are taken, and what is shown of them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.received.errors import ProfileInvalidError
from deltaweb.storage.received.profile import (
    OAuthClient,
    Profile,
    SharedName,
    parse_profile,
    split_location,
    split_table_url,
)
from tests.support import cases

GOOD = {
    "shareCredentialsVersion": 1,
    "endpoint": "https://sharing.example/delta-sharing/",
    "bearerToken": "dws_abcdWXYZ",
    "expirationTime": "2027-03-12T00:00:00Z",
}


def test_a_profile_says_where_and_until_when() -> None:
    profile = parse_profile(json.dumps(GOOD))

    assert profile.endpoint == "https://sharing.example/delta-sharing"
    assert profile.host == "sharing.example"
    assert profile.expires_at == datetime(2027, 3, 12, tzinfo=UTC)
    assert profile.token_end == "WXYZ"


def test_no_text_of_a_profile_has_its_token() -> None:
    assert "abcd" not in repr(parse_profile(json.dumps(GOOD)))


def test_a_profile_comes_back_from_what_is_sealed() -> None:
    profile = parse_profile(json.dumps(GOOD))

    assert Profile.of_texts(profile.fields()) == profile


@cases(
    "changed",
    {
        "a later version": {"shareCredentialsVersion": 3},
        "no type": {"shareCredentialsVersion": 2},
        "a version that is true": {"shareCredentialsVersion": True},
        "no token": {"bearerToken": None},
        "a reference": {"bearerToken": "env:DELTAWEB_SECRET_KEY"},
        "a header in the token": {"bearerToken": "a\r\nX-Other: b"},
        "a list": {"bearerToken": ["a"]},
        "a file": {"endpoint": "file:///etc/passwd"},
        "credentials": {"endpoint": "https://user:pw@host/"},
        "a query": {"endpoint": "https://host/?a=b"},
        "no port": {"endpoint": "https://host:99999/"},
        "no URL": {"endpoint": "https://[::1/"},
        "no host": {"endpoint": "https://"},
        "a NUL": {"endpoint": "https://host/\n"[:-1] + "\x00"},
    },
)
def test_what_cannot_be_a_profile_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(ProfileInvalidError):
        parse_profile(json.dumps(GOOD | changed))


OAUTH = {
    "shareCredentialsVersion": 2,
    "type": "oauth_client_credentials",
    "endpoint": "https://sharing.example/delta-sharing/",
    "icebergEndpoint": "https://sharing.example/iceberg/",
    "tokenEndpoint": "https://login.example/token?tenant=a",
    "clientId": "me",
    "clientSecret": "s3cret",
}


@pytest.mark.parametrize("scope", [None, "", "all-apis offline"])
def test_an_oauth_client_is_kept_and_comes_back(scope: str | None) -> None:
    profile = parse_profile(json.dumps(OAUTH | {"scope": scope}))

    assert profile.client == OAuthClient(
        "https://login.example/token?tenant=a", "me", "s3cret", scope or ""
    )
    assert profile.endpoint == "https://sharing.example/delta-sharing"
    assert (profile.bearer_token, profile.token_end) == ("", "")
    assert Profile.of_texts(profile.fields()) == profile
    assert "s3cret" not in repr(profile)


def test_a_bearer_token_may_be_of_version_2() -> None:
    fields = GOOD | {"shareCredentialsVersion": 2, "type": "bearer_token"}

    assert parse_profile(json.dumps(fields)) == parse_profile(json.dumps(GOOD))


@pytest.mark.parametrize(
    "kind", ["basic", "oauth_jwt_bearer_private_key_jwt", "other", 7, None, ["basic"]]
)
def test_other_types_are_refused_by_what_is_supported(kind: object) -> None:
    said = "is not one of bearer_token and oauth_client_credentials"

    with pytest.raises(ProfileInvalidError, match=said):
        parse_profile(json.dumps(OAUTH | {"type": kind}))


@cases(
    "changed",
    {
        "no token endpoint": {"tokenEndpoint": None},
        "a file": {"tokenEndpoint": "file:///etc/passwd"},
        "credentials": {"tokenEndpoint": "https://user:pw@host/"},
        "a placeholder": {"tokenEndpoint": "<your own>"},
        "a line feed in it": {"tokenEndpoint": "https://host/\n.x"},
        "no client": {"clientId": ""},
        "no secret": {"clientSecret": None},
        "a secret that is a number": {"clientSecret": 7},
        "a long secret": {"clientSecret": "a" * 3_000},
        "a line feed in the secret": {"clientSecret": "a\nb"},
        "a scope that is a list": {"scope": ["a"]},
        "no endpoint": {"endpoint": None},
    },
)
def test_what_cannot_be_an_oauth_profile_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(ProfileInvalidError) as caught:
        parse_profile(json.dumps(OAUTH | changed))

    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '"' + "a" * 70_000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ProfileInvalidError):
        parse_profile(text)


def test_a_table_is_named_behind_its_profile(tmp_path: Path) -> None:
    path = tmp_path / "acme.share"
    path.write_text(json.dumps(GOOD))

    assert split_table_url(f"{path}#s.c.t") == (path, SharedName("s", "c", "t"))


@pytest.mark.parametrize(
    "url", ["{path}#s.c", "{path}#s..t", "{path}", "{path}x#s.c.t"]
)
def test_other_texts_are_locations_as_ever(tmp_path: Path, url: str) -> None:
    path = tmp_path / "acme.share"
    path.write_text("{}")

    assert split_table_url(url.format(path=path)) is None


@pytest.mark.parametrize(
    "names", ["../../other", "%2e%2e/%2E%2E/other", "./s/t", "s/%2E/t", "s/t/.."]
)
def test_no_location_leads_to_the_folder_of_another_log(names: str) -> None:
    with pytest.raises(LocationInvalidError):
        split_location(f"received://acme/{names}")
