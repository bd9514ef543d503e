"""The age of a session is counted from its sign-in."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.sessions.backends.signed_cookies import SessionStore
from django.test import Client

from apps.accounts.lifetimes.sessions import BEGAN_AT, ends_at, is_over, session_age
from apps.accounts.models import User

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def _session(began_at: object) -> SessionStore:
    session = SessionStore()
    if began_at is not None:
        session[BEGAN_AT] = began_at
    return session


@pytest.mark.parametrize(
    ("began_at", "expected"),
    [
        (NOW.timestamp(), False),
        ((NOW - session_age()).timestamp(), True),
        ((NOW - session_age() + timedelta(seconds=1)).timestamp(), False),
        (None, True),
        ("yesterday", True),
    ],
    ids=["now", "at its end", "a second before", "unmarked", "not a time"],
)
def test_a_session_is_over_at_its_age(began_at: object, *, expected: bool) -> None:
    assert is_over(_session(began_at), NOW) is expected


def test_a_session_without_a_beginning_has_no_end() -> None:
    assert ends_at(_session(None)) is None


@pytest.mark.django_db
def test_use_does_not_lengthen_a_session() -> None:
    client = Client()
    client.force_login(User.objects.create(username="ann"))
    assert client.get("/me/").status_code == 200
    session = client.session
    session[BEGAN_AT] -= session_age().total_seconds()
    session["used"] = True
    session.save()
    answer = client.get("/me/")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/")
    assert client.get("/me.json").status_code == 401
