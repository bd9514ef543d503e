"""Admission: each rule that is set has to hold, and what is missing admits nobody."""

from dataclasses import replace
from typing import Final

import pytest

from apps.accounts.sign_on.admission import Person, Rules, role_of, verdict_of

ANN: Final = Person(
    issuer="https://id.example",
    subject="1",
    email="Ann@Example.com",
    is_email_verified=True,
    groups=("data", "ops"),
    claims={"employee": True, "site": ["berlin", "rome"], "level": "true", "n": 1},
)
BY_GROUP: Final = Rules(groups=("data", "admins"))
BY_DOMAIN: Final = Rules(domains=("example.com",))
CASES: Final = {
    "no rule": (ANN, Rules(), False),
    "a required group": (ANN, BY_GROUP, True),
    "another case of a group": (replace(ANN, groups=("Data",)), BY_GROUP, False),
    "no groups": (replace(ANN, groups=()), BY_GROUP, False),
    "a domain": (ANN, BY_DOMAIN, True),
    "an unverified address": (replace(ANN, is_email_verified=False), BY_DOMAIN, False),
    "no address": (replace(ANN, email=""), BY_DOMAIN, False),
    "a subdomain": (replace(ANN, email="ann@x.example.com"), BY_DOMAIN, False),
    "a longer domain": (replace(ANN, email="ann@notexample.com"), BY_DOMAIN, False),
    "two at signs": (replace(ANN, email="a@example.com@evil.org"), BY_DOMAIN, False),
    "only one of two rules": (ANN, replace(BY_DOMAIN, groups=("admins",)), False),
    "both rules": (ANN, replace(BY_DOMAIN, groups=("ops",)), True),
    "a true claim": (ANN, Rules(claims=[("employee", "true")]), True),
    "a text claim": (ANN, Rules(claims=[("level", "true")]), True),
    "an item of a claim": (ANN, Rules(claims=[("site", "rome")]), True),
    "another item": (ANN, Rules(claims=[("site", "ro")]), False),
    "a missing claim": (ANN, Rules(claims=[("team", "a")]), False),
    "a number is not its text": (ANN, Rules(claims=[("n", "1")]), False),
    "one of two claims": (
        ANN,
        Rules(claims=[("employee", "true"), ("site", "oslo")]),
        False,
    ),
    "roles admit nobody": (ANN, Rules(roles=[("data", "admin")]), False),
}


@pytest.mark.parametrize(("person", "rules", "expected"), CASES.values(), ids=CASES)
def test_a_person_is_admitted_by_the_rules(
    person: Person, rules: Rules, *, expected: bool
) -> None:
    verdict = verdict_of(person, rules, invited=False)
    assert verdict.admitted is expected
    assert verdict.reasons


def test_an_invitation_admits_without_a_rule() -> None:
    assert verdict_of(ANN, Rules(), invited=True).admitted


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (("data", "ops"), "ADMIN"),
        (("data",), "EDITOR"),
        (("others",), "VIEWER"),
        ((), "VIEWER"),
    ],
)
def test_the_highest_role_of_the_groups_counts(groups, expected: str) -> None:
    rules = Rules(roles=[("ops", "admin"), ("data", "editor")])
    assert role_of(groups, rules) == expected


def test_without_roles_of_groups_administrators_give_them() -> None:
    assert role_of(("data",), BY_GROUP) == ""
