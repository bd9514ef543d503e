"""When a table is looked at next, and how its schedule reads."""

from datetime import timedelta

import pytest
from pytest_django.fixtures import Settings

from apps.tables.models.schedules import (
    DEFAULT,
    NEVER,
    SCHEDULES,
    next_look,
    schedule_choices,
    schedule_json,
    schedule_name,
    schedule_words,
)
from tests.support import cases
from tests.support.pages.factories import NOW


@pytest.fixture(autouse=True)
def installation(settings: Settings) -> None:
    settings.PROBE_INTERVAL_S = 90


class TestNextLook:
    @cases(
        "interval_s, failures, seconds",
        {
            "as the installation is set": (None, 0, 90),
            "doubled by a failure": (None, 1, 180),
            "an hour at most": (None, 500, 3600),
            "its own interval": (600, 0, 600),
            "its own, doubled": (600, 2, 2400),
            "never less than its own": (86_400, 3, 86_400),
        },
    )
    def test_rests_longer_for_each_failure(self, interval_s, failures, seconds):
        due_at = next_look(interval_s, now=NOW, failures=failures)

        assert due_at == NOW + timedelta(seconds=seconds)


class TestSchedules:
    @pytest.mark.parametrize("name", SCHEDULES)
    def test_the_name_of_a_stored_one_is_the_one_that_was_chosen(self, name: str):
        assert schedule_name(SCHEDULES[name]) == name

    @pytest.mark.parametrize(
        "name", [name for name in SCHEDULES if name not in {DEFAULT, NEVER}]
    )
    def test_intervals_are_what_their_names_say(self, name: str) -> None:
        unit_s = {"s": 1, "m": 60, "h": 3600, "d": 86_400}[name[-1]]

        assert SCHEDULES[name] == int(name[:-1]) * unit_s

    @pytest.mark.parametrize(
        ("interval_s", "words"),
        [
            (None, "every 90 seconds (the default)"),
            (1, "every second"),
            (30, "every 30 seconds"),
            (60, "every minute"),
            (1800, "every 30 minutes"),
            (3600, "every hour"),
            (43_200, "every 12 hours"),
            (86_400, "every day"),
            (0, "only when asked"),
        ],
    )
    def test_read_as_words(self, interval_s: int | None, words: str) -> None:
        assert schedule_words(interval_s) == words

    def test_an_interval_that_is_no_longer_offered_still_has_a_name(self) -> None:
        assert schedule_json(7) == {"refresh": "7s", "refresh_interval_s": 7}

    def test_are_listed_from_the_installations_to_never(self) -> None:
        choices = schedule_choices()

        assert choices[0] == ("default", "Every 90 seconds (the default)")
        assert choices[-1] == ("never", "Only when asked")
        assert len(choices) == len(SCHEDULES)
