from datetime import UTC, datetime, timedelta

from django.utils import timezone

from apps.sharing.models import RecipientToken
from apps.sharing.recipients.token_states import TokensState
from apps.sharing.templatetags.recipients import (
    CHIPS,
    agent,
    day,
    long_day,
    recipient_chip,
    time_left,
)
from tests.support import cases


@cases(
    "sent, shown",
    {
        "the Python client": (
            "Delta-Sharing-Python/1.4.2 pandas/2.3.3 PyArrow/21.0.0",
            "Delta-Sharing-Python 1.4.2",
        ),
        "curl": ("curl/8.5.0", "curl 8.5.0"),
        "a browser": ("Mozilla/5.0 (X11; Linux)", "a browser"),
        "no version": ("home-made client", "home-made client"),
        "a long text": ("x" * 300, "x" * 60),
        "nothing": ("", ""),
    },
)
def test_an_agent_is_shown_by_its_first_product(sent: str, shown: str) -> None:
    assert agent(sent) == shown


@cases(
    "ahead, said",
    {
        "weeks": (timedelta(days=81), "in 81 d"),
        "a week, less the time it takes": (timedelta(days=7), "in 7 d"),
        "a day and a bit": (timedelta(hours=30), "in 30 h"),
        "minutes": (timedelta(minutes=5, seconds=30), "in 5 min"),
        "seconds": (timedelta(seconds=2), "in 1 min"),
        "over": (timedelta(days=-3), "3 d ago"),
    },
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
