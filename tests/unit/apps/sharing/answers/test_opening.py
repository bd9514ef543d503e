"""The versions of a shared table that are refused, and the terms of an answer."""

from dataclasses import replace

import pytest

from apps.sharing.access.grants.rules import TableRule
from apps.sharing.answers.opening import (
    check_history,
    check_start,
    naming_shared_versions,
    terms_of,
)
from apps.sharing.models import SharedTable
from deltaweb.delta.errors import VersionNotFoundError
from deltaweb.sharing.errors import HistoryNotSharedError
from tests.support import cases
from tests.support.pages.factories import new_shared_table

pytestmark = pytest.mark.django_db
RULE = TableRule(("id < 5",), None, {})


@pytest.fixture
def shared() -> SharedTable:
    """The history is shared from version 3 on."""
    return new_shared_table(with_history=True, start_version=3)


@cases("changed", {"start": {"start_version": 4}, "history": {"with_history": False}})
def test_other_versions_make_other_terms(shared, changed) -> None:
    terms = terms_of(shared, RULE)
    assert terms == terms_of(SharedTable.objects.get(), RULE)

    for name, value in changed.items():
        setattr(shared, name, value)

    assert terms_of(shared, RULE) != terms


def test_another_rule_or_table_makes_other_terms(shared) -> None:
    other = new_shared_table(shared.share, "crm.other", **shared.terms)

    assert terms_of(shared, RULE) != terms_of(other, RULE)
    for changed in ({"conditions": ("id < 6",)}, {"columns": frozenset({"id"})}):
        assert terms_of(shared, replace(RULE, **changed)) != terms_of(shared, RULE)


def test_only_the_newest_version_is_read_without_history(shared) -> None:
    check_history(shared)
    shared.with_history = False

    with pytest.raises(HistoryNotSharedError):
        check_history(shared)


@pytest.mark.parametrize("version", [3, 4, None])
def test_versions_from_the_first_shared_one_on_are_read(shared, version) -> None:
    check_start(shared, version)


def test_versions_before_the_first_shared_one_are_refused(shared) -> None:
    with pytest.raises(HistoryNotSharedError) as caught:
        check_start(shared, 2)

    assert caught.value.since == 3


@cases(
    "start, earliest, latest, told",
    {
        "the share begins later": (3, 1, 9, (3, 9)),
        "the log begins later": (3, 5, 9, (5, 9)),
        "the share begins after the newest": (12, 1, 9, (9, 9)),
        "all is shared": (None, 1, 9, (1, 9)),
    },
)
def test_no_version_before_the_first_shared_one_is_named(
    shared, start, earliest, latest, told
) -> None:
    shared.start_version = start

    with pytest.raises(VersionNotFoundError) as caught, naming_shared_versions(shared):
        raise VersionNotFoundError(
            root="t", version=20, earliest=earliest, latest=latest
        )

    assert (caught.value.earliest, caught.value.latest) == told
