"""Claims of a provider, read as a person."""

from typing import Final

import pytest

from apps.accounts.sign_on.claims import groups_of_claim, is_true, person_of

ADDRESSES: Final = {
    "verified": ({"email": "a@b.c", "email_verified": True}, {}, "a@b.c"),
    "verified as text": ({"email": "a@b.c", "email_verified": "true"}, {}, "a@b.c"),
    "not verified": ({"email": "a@b.c", "email_verified": "yes"}, {}, ""),
    "says nothing": ({"email": "a@b.c"}, {}, ""),
    "by the other document": ({"email": "a@b.c"}, {"email_verified": True}, ""),
    "another one there": (
        {"email": "a@b.c"},
        {"email": "d@b.c", "email_verified": True},
        "d@b.c",
    ),
    "half a letter": ({"email": "\ud800@b.c", "email_verified": True}, {}, ""),
    "a NUL": ({"email": "a\0@b.c", "email_verified": True}, {}, ""),
    "a list": ({"email": ["a@b.c"], "email_verified": True}, {}, ""),
}


@pytest.mark.parametrize(
    ("claims", "said", "expected"), ADDRESSES.values(), ids=ADDRESSES
)
def test_an_address_is_verified_by_its_own_document(
    claims: dict[str, object], said: dict[str, object], expected: str
) -> None:
    assert person_of({"sub": "1", **claims}, said).verified_email == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (None, []),
        ({"data": 1}, []),
        (True, []),
        (5, []),
        ("data", ["data"]),
        (["data", 5, None, ["ops"], {"a": 1}], ["data"]),
    ],
)
def test_groups_are_texts(claim: object, expected: list[str]) -> None:
    assert groups_of_claim(claim) == expected


def test_groups_of_the_id_token_come_first() -> None:
    person = person_of({"sub": "1", "groups": []}, {"groups": ["data"]})
    assert person.groups == []


@pytest.mark.parametrize("claim", [False, "True", 1, "1", None, [True]])
def test_nothing_else_is_true(claim: object) -> None:
    assert not is_true(claim)
