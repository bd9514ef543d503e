from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from deltaweb.web.sharing.models import RecipientToken
from deltaweb.web.sharing.recipients.token_states import TokensState
from deltaweb.web.sharing.templatetags.recipients import (
    CHIPS,
    agent,
    day,
    long_day,
    recipient_chip,
    time_left,
)


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        pytest.param(
            "Delta-Sharing-Python/1.4.2 pandas/2.3.3 PyArrow/21.0.0",
            "Delta-Sharing-Python 1.4.2",
            id="the Python client",
        ),
        pytest.param("curl/8.5.0", "curl 8.5.0", id="curl"),
        pytest.param("Mozilla/5.0 (X11; Linux)", "a browser", id="a browser"),
        pytest.param("home-made client", "home-made client", id="no version"),
        pytest.param("x" * 300, "x" * 60, id="a long text"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_an_agent_is_shown_by_its_first_product(sent: str, shown: str) -> None:
    assert agent(sent) == shown


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        pytest.param(timedelta(days=81), "in 81 d", id="weeks"),
        pytest.param(timedelta(days=7), "in 7 d", id="a week, less the time it takes"),
        pytest.param(timedelta(hours=30), "in 30 h", id="a day and a bit"),
        pytest.param(timedelta(minutes=5, seconds=30), "in 5 min", id="minutes"),
        pytest.param(timedelta(seconds=2), "in 1 min", id="seconds"),
        pytest.param(timedelta(days=-3), "3 d ago", id="over"),
    ],
)
def test_the_time_left_is_rounded(ahead: timedelta, said: str) -> None:
    assert time_left(timezone.now() + ahead) == said


def test_a_day_shows_its_year_only_when_it_is_another() -> None:
    this_year = timezone.now().replace(month=3, day=9)

    assert ">9 Mar</time>" in day(this_year)
    assert ">9 Mar 2019</time>" in day(datetime(2019, 3, 9, tzinfo=UTC))
    assert day(None) == "never"
    said = long_day(datetime(2026, 11, 27, 9, 0, tzinfo=UTC))
    assert said == "27 Nov 2026 at 09:00 UTC"


def test_every_state_has_a_chip_of_its_own() -> None:
    assert set(CHIPS) == set(RecipientToken.State)
    assert len({icon for _, icon in CHIPS.values()}) == len(CHIPS)


def test_the_chip_of_a_recipient_says_when_it_expires() -> None:
    soon = timezone.now() + timedelta(days=12)

    assert recipient_chip(TokensState(key="expiring", ends_at=soon))["label"] == (
        "expires in 12 d"
    )
