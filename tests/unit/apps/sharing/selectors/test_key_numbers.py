"""What the first page tells administrators about sharing."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.explorer.selectors.dashboard import dashboard
from apps.sharing.selectors.key_numbers import expiring_tokens
from tests.factories import NOW, new_recipient, new_table, new_token, new_user

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
SOON = NOW + 20 * DAY


@pytest.fixture
def ada() -> User:
    return new_user("ada", role=User.Role.ADMIN)


def test_counts_live_tokens_that_expire_and_have_no_successor(ada: User) -> None:
    new, _ = new_token(new_recipient(), expires_at=NOW + 31 * DAY)
    tokens: list[dict[str, Any]] = [
        {"expires_at": SOON},
        {"expires_at": SOON, "retires_at": SOON, "replaced_by": new},
        {"expires_at": SOON, "revoked_at": NOW},
        {"expires_at": NOW - DAY},
        {"expires_at": SOON, "token_sha256": None, "activated_at": None},
    ]
    for fields in tokens:
        new_token(new.recipient, **fields)

    number = expiring_tokens(ada, NOW)

    assert number is not None
    assert (number.value, number.note) == (1, "in 30 days, of 3 live")


@pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR], ids=str)
def test_tells_administrators_alone(ada: User, role: User.Role) -> None:
    known, other = dashboard(ada, NOW), dashboard(new_user("other", role=role), NOW)

    assert [number.key for number in known.numbers] == ["tokens_expiring_30d"]
    assert [step.url_name for step in known.steps] == ["sharing:share-new"]
    assert (other.numbers, other.steps) == ([], [])


def test_the_first_page_shows_the_step_and_then_the_number(
    ada: User, client: Client
) -> None:
    client.force_login(ada)

    welcome = client.get("/").content.decode()
    new_table()
    shown = client.get("/").content.decode()

    assert 'href="/shares/new"' in welcome
    assert "Tokens expiring" in shown
    assert client.get("/dashboard.json").json()["tokens_expiring_30d"] == 0
