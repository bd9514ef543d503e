"""Profile files: which are taken, and what is shown of them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.storage.received.errors import ProfileInvalidError
from deltaweb.storage.received.profile import (
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
        "a later version": {"shareCredentialsVersion": 2},
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
