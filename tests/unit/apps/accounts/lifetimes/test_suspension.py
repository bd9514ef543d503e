"""Suspension of what works without a sign-in, once its person no longer signs on."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client, override_settings

from apps.accounts import selectors, services
from apps.accounts.errors import APIKeySuspendedError
from apps.accounts.lifetimes.suspension import is_suspended, not_suspended
from apps.accounts.models import Identity, User
from apps.accounts.sign_on import linking
from apps.pages.actions import COMMAND_LINE, Stamp

NOW = datetime(2026, 11, 30, tzinfo=UTC)
DAYS = timedelta(days=1)
OLD = NOW - 30 * DAYS
PEOPLE = {
    "local": ({}, False),
    "just signed on": ({"signed_on_at": NOW}, False),
    "on the last day": ({"signed_on_at": NOW - 7 * DAYS}, False),
    "too long ago": ({"signed_on_at": NOW - 7 * DAYS - DAYS / 86400}, True),
    "signed out": ({"signed_on_at": NOW, "is_signed_out": True}, True),
}
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("facts", "expected"), PEOPLE.values(), ids=PEOPLE)
def test_a_person_is_suspended_who_no_longer_signs_on(facts, *, expected: bool) -> None:
    user = User.objects.create(username="ann", **facts)
    assert is_suspended(user, NOW) is expected
    assert User.objects.filter(not_suspended(NOW)).exists() is not expected


def test_a_setting_says_how_many_days_keys_work() -> None:
    user = User(signed_on_at=NOW - 2 * DAYS)
    with override_settings(SSO_KEY_DAYS=1):
        assert is_suspended(user, NOW)
    assert not is_suspended(user, NOW)


def test_a_key_works_again_after_the_next_sign_on() -> None:
    user = User.objects.create(username="ann", signed_on_at=NOW)
    stamp = Stamp(COMMAND_LINE, NOW)
    secret = services.issue_api_key(user=user, name="etl", stamp=stamp).secret
    late = NOW + 8 * DAYS
    with pytest.raises(APIKeySuspendedError) as refused:
        selectors.key_of_secret(secret, now=late)
    assert refused.value.status == 401
    User.objects.update(signed_on_at=late)
    assert selectors.key_of_secret(secret, now=late).user == user


@pytest.mark.parametrize("facts", [{"is_signed_out": True}, {"signed_on_at": OLD}])
def test_a_suspended_account_that_becomes_local_waits_for_its_user(
    facts: dict[str, object],
) -> None:
    user = User.objects.create(username="ann", **{"signed_on_at": NOW, **facts})
    Identity.objects.create(user=user, issuer="proxy", subject="a", created_at=NOW)
    stamp = Stamp(COMMAND_LINE, NOW)
    secret = services.issue_api_key(user=user, name="etl", stamp=stamp).secret

    linking.unlink(user, now=NOW)
    with pytest.raises(APIKeySuspendedError):
        selectors.key_of_secret(secret, now=NOW)
    Client().force_login(user)

    assert selectors.key_of_secret(secret, now=NOW).user == user


def test_an_account_that_is_not_suspended_keeps_its_keys_as_it_becomes_local() -> None:
    user = User.objects.create(username="ann", signed_on_at=NOW)
    secret = services.issue_api_key(
        user=user, name="etl", stamp=Stamp(COMMAND_LINE, NOW)
    ).secret

    linking.unlink(user, now=NOW)

    assert selectors.key_of_secret(secret, now=NOW + 30 * DAYS).user == user
