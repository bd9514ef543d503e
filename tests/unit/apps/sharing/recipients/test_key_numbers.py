"""What the first page tells administrators about sharing."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.explorer.dashboard import dashboard_of
from apps.sharing.recipients.listing import RECIPIENTS, recipient_page
from apps.sharing.recipients.token_states import expiring_tokens
from tests.support.pages.factories import (
    NOW,
    new_recipient,
    new_table,
    new_token,
    new_user,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]
DAY = timedelta(days=1)
SOON = NOW + 5 * DAY
LATE = NOW + 30 * DAY
WAITING: dict[str, Any] = {
    "expires_at": LATE,
    "token_sha256": None,
    "activated_at": None,
}


@pytest.fixture
def ada() -> User:
    return new_user("ada", role=User.Role.ADMIN)


TOKENS: list[Any] = [
    pytest.param([{"expires_at": SOON}], 1, id="a token that ends soon"),
    pytest.param([{"expires_at": LATE}], 0, id="one that lives on"),
    pytest.param(
        [{"expires_at": SOON}, {"expires_at": LATE}], 0, id="another that lives on"
    ),
    pytest.param(
        [{"expires_at": LATE, "retires_at": SOON}, WAITING],
        1,
        id="a replaced token whose successor nobody fetched",
    ),
    pytest.param(
        [{"expires_at": LATE, "retires_at": SOON}, {"expires_at": LATE}],
        0,
        id="a replaced token with its successor",
    ),
]


@pytest.mark.parametrize(("tokens", "num_expiring"), TOKENS)
def test_counts_what_the_list_of_recipients_calls_expiring(ada, tokens, num_expiring):
    recipient = new_recipient()
    for fields in tokens:
        new_token(recipient, **fields)

    number = expiring_tokens(ada, NOW)
    page = recipient_page(None, RECIPIENTS.query(state="expiring"), NOW)

    assert number is not None
    assert (number.value, number.note) == (num_expiring, "in 7 days, of 1 with access")
    assert page.paged.count == num_expiring
    assert ("state=expiring" in str(number.url)) == bool(num_expiring)


def test_a_recipient_without_access_is_not_counted(ada: User) -> None:
    recipient = new_recipient()
    new_token(recipient, expires_at=SOON, revoked_at=NOW)
    new_token(recipient, expires_at=NOW - DAY)
    new_token(recipient, **WAITING)

    number = expiring_tokens(ada, NOW)

    assert number is not None
    assert (number.value, number.note) == (0, "in 7 days, of 0 with access")


@pytest.mark.parametrize("role", [User.Role.VIEWER, User.Role.EDITOR], ids=str)
def test_tells_administrators_alone(ada: User, role: User.Role) -> None:
    known, other = (
        dashboard_of(ada, NOW),
        dashboard_of(new_user("other", role=role), NOW),
    )

    keys = {number.key for number in known.numbers}
    assert keys == {"findings_open", "tokens_expiring_7d"}
    assert [step.url_name for step in known.steps] == ["sharing:share-new"]
    assert [number.key for number in other.numbers] == ["findings_open"]
    assert other.steps == []


def test_the_first_page_shows_the_step_and_then_the_number(ada: User, client: Client):
    client.force_login(ada)

    welcome = client.get("/").content.decode()
    new_table()
    shown = client.get("/").content.decode()

    assert 'href="/shares/new"' in welcome
    assert "Tokens expiring" in shown
    assert client.get("/dashboard.json").json()["tokens_expiring_7d"] == 0
