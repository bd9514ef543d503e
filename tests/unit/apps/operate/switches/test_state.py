"""Switches are read every few seconds, and a fault of the database changes nothing."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from django.db import OperationalError

from apps.operate.errors import SwitchedOffError, SwitchNotFoundError
from apps.operate.models import Switch
from apps.operate.switches import state
from apps.operate.switches.state import (
    READ_EVERY_S,
    SHARING,
    SIGN_IN,
    SWITCHES,
    SwitchStates,
    turn,
)
from apps.pages.actions import COMMAND_LINE, Stamp

if TYPE_CHECKING:
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db

STAMP = Stamp(COMMAND_LINE, datetime(2026, 11, 21, 12, tzinfo=UTC))


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_change_of_another_process_is_seen_after_some_seconds(
    django_assert_num_queries: "DjangoAssertNumQueries",
) -> None:
    clock = Clock()
    states = SwitchStates(clock)
    assert states.off() == {}
    Switch.objects.create(
        name=SHARING, is_off=True, sentence="Until 14:00.", changed_at=STAMP.at
    )

    with django_assert_num_queries(0):
        assert states.off() == {}
    clock.now_s += READ_EVERY_S
    with django_assert_num_queries(1):
        assert states.off() == {SHARING: "Until 14:00."}


def test_a_switch_without_a_sentence_has_the_usual_one() -> None:
    turn([SIGN_IN], is_off=True, stamp=STAMP)

    assert state.off_sentence(SIGN_IN) == SWITCHES[SIGN_IN].sentence
    assert state.off_sentence(SHARING) is None


def test_what_was_read_last_counts_while_the_database_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    states = SwitchStates(clock)
    turn([SHARING], is_off=True, stamp=STAMP)
    assert SHARING in states.off()

    def fails() -> dict[str, str]:
        raise OperationalError

    monkeypatch.setattr(state, "_read", fails)
    clock.now_s += READ_EVERY_S

    assert SHARING in states.off()
    with pytest.raises(OperationalError):
        SwitchStates(clock).off()


def test_off_is_an_error_with_the_sentence() -> None:
    state.require_on(SHARING)
    turn([SHARING], is_off=True, sentence="We move.", stamp=STAMP)

    with pytest.raises(SwitchedOffError) as caught:
        state.require_on(SHARING)

    assert (caught.value.message, caught.value.status) == ("We move.", 503)


def test_a_name_that_is_no_switch_is_refused() -> None:
    with pytest.raises(SwitchNotFoundError):
        turn(["everything"], is_off=True, stamp=STAMP)

    assert not Switch.objects.exists()


def test_a_row_of_an_unknown_switch_stops_nothing() -> None:
    Switch.objects.create(name="later", is_off=True, changed_at=STAMP.at)

    assert SwitchStates().off() == {}
