"""The light over a token: every state, and that green is never shown in vain."""

import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from apps.sharing.issuing.rotation import (
    QUIET_AFTER,
    SILENT_AFTER,
    Cause,
    Light,
    Progress,
    StepKind,
    judge,
    rotation,
)
from apps.sharing.models import RecipientToken
from tests.support import cases

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


def token(**fields: object) -> RecipientToken:
    """An active token of a month ago that nobody has used yet."""
    defaults: dict[str, object] = {
        "id": uuid.uuid4(),
        "prefix": "dwt_0000",
        "token_sha256": "0",
        "created_at": NOW - 30 * DAY,
        "activated_at": NOW - 30 * DAY,
        "expires_at": NOW + 60 * DAY,
    }
    return RecipientToken(**(defaults | fields))


def retiring(**fields: object) -> RecipientToken:
    """A token that was replaced and ends in five days."""
    return token(**({"retires_at": NOW + 5 * DAY} | fields))


def waiting(**fields: object) -> RecipientToken:
    """A token that has not been activated."""
    return token(**({"token_sha256": None, "activated_at": None} | fields))


class TestTheLight:
    @cases(
        "silence, light, cause",
        {
            "a clock that runs ahead": (-SECOND, Light.RED, Cause.IN_USE),
            "right now": (timedelta(0), Light.RED, Cause.IN_USE),
            "two hours ago": (2 * HOUR, Light.RED, Cause.IN_USE),
            "nearly a day ago": (QUIET_AFTER - SECOND, Light.RED, Cause.IN_USE),
            "a day ago": (QUIET_AFTER, Light.AMBER, Cause.QUIET),
            "three days ago": (3 * DAY, Light.AMBER, Cause.QUIET),
            "nearly a week ago": (SILENT_AFTER - SECOND, Light.AMBER, Cause.QUIET),
            "a week ago": (SILENT_AFTER, Light.GREEN, Cause.SILENT),
            "a month ago": (29 * DAY, Light.GREEN, Cause.SILENT),
        },
    )
    def test_follows_the_last_request_when_another_key_works(
        self, silence: timedelta, light: Light, cause: Cause
    ) -> None:
        old = retiring(last_used_at=NOW - silence)

        verdict = judge(old, others=[old, token()], now=NOW)

        assert (verdict.light, verdict.cause) == (light, cause)
        assert verdict.is_safe == (light is Light.GREEN)

    @cases(
        "silence, light, cause",
        {
            "in use": (HOUR, Light.RED, Cause.IN_USE),
            "quiet": (3 * DAY, Light.RED, Cause.ALONE),
            "silent": (SILENT_AFTER, Light.AMBER, Cause.ALONE),
            "long silent": (29 * DAY, Light.AMBER, Cause.ALONE),
        },
    )
    @cases(
        "other",
        {
            "no other token": None,
            "another that waits for its activation": waiting(),
            "another that is revoked": token(revoked_at=NOW),
            "another that has expired": token(expires_at=NOW),
            "another that is on its way out, too": retiring(),
        },
    )
    def test_is_never_green_for_the_only_key_that_works(
        self,
        other: RecipientToken | None,
        silence: timedelta,
        light: Light,
        cause: Cause,
    ) -> None:
        old = retiring(last_used_at=NOW - silence)

        verdict = judge(old, others=[other] if other else [], now=NOW)

        assert (verdict.light, verdict.cause) == (light, cause)
        assert verdict.green_at is None

    @cases(
        "activated, light",
        {
            "just activated": (HOUR, Light.AMBER),
            "activated six days ago": (6 * DAY, Light.AMBER),
            "activated a week ago": (7 * DAY, Light.GREEN),
        },
    )
    def test_of_a_key_that_was_never_used_counts_from_its_activation(
        self, activated: timedelta, light: Light
    ) -> None:
        old = retiring(activated_at=NOW - activated)

        verdict = judge(old, others=[token()], now=NOW)

        assert (verdict.light, verdict.cause) == (light, Cause.UNUSED)

    @cases(
        "gone, cause",
        {
            "never activated": (waiting(), Cause.NEVER_ACTIVATED),
            "revoked": (token(revoked_at=NOW, last_used_at=NOW), Cause.ENDED),
            "expired": (token(expires_at=NOW, last_used_at=NOW), Cause.ENDED),
            "retired": (retiring(retires_at=NOW, last_used_at=NOW), Cause.ENDED),
        },
    )
    def test_is_green_for_what_opens_nothing(self, gone: RecipientToken, cause: Cause):
        verdict = judge(gone, others=[], now=NOW)

        assert (verdict.light, verdict.cause) == (Light.GREEN, cause)

    def test_says_when_it_turns_green(self) -> None:
        old = retiring(last_used_at=NOW - 3 * DAY)

        verdict = judge(old, others=[token()], now=NOW)

        assert verdict.green_at == NOW + 4 * DAY
        later = judge(old, others=[token()], now=NOW + 4 * DAY)
        assert later.light is Light.GREEN

    def test_passes_the_token_itself_over(self) -> None:
        only = token(last_used_at=NOW - 10 * DAY)

        assert judge(only, others=[only], now=NOW).cause is Cause.ALONE

    @given(
        used=st.none() | st.timedeltas(timedelta(0), 40 * DAY),
        activated=st.timedeltas(timedelta(0), 40 * DAY),
        retires=st.none() | st.timedeltas(-DAY, 10 * DAY),
        others=st.lists(st.sampled_from(["active", "waiting", "retiring", "revoked"])),
    )
    def test_is_green_only_when_nobody_would_notice(
        self,
        used: timedelta | None,
        activated: timedelta,
        retires: timedelta | None,
        others: list[str],
    ) -> None:
        made = {
            "active": token(),
            "waiting": waiting(),
            "retiring": retiring(),
            "revoked": token(revoked_at=NOW),
        }
        old = token(
            activated_at=NOW - activated,
            last_used_at=None if used is None else NOW - used,
            retires_at=None if retires is None else NOW + retires,
        )

        verdict = judge(old, others=[made[other] for other in others], now=NOW)

        is_over = retires is not None and retires <= timedelta(0)
        silence = activated if used is None else used
        nobody_would = is_over or ("active" in others and silence >= SILENT_AFTER)
        assert verdict.is_safe == nobody_would
        assert (verdict.green_at is not None) == (
            verdict.light is not Light.GREEN and "active" in others
        )


class TestTheRotation:
    def test_is_none_while_no_token_retires(self) -> None:
        tokens = [token(), waiting(), token(revoked_at=NOW), retiring(retires_at=NOW)]

        assert rotation(tokens, now=NOW) is None

    def test_pairs_the_retiring_token_with_the_one_that_replaces_it(self) -> None:
        new, newer = token(), token(created_at=NOW - DAY)
        old = retiring(replaced_by=new)

        under_way = rotation([newer, new, old], now=NOW)

        assert under_way is not None
        assert (under_way.old, under_way.new) == (old, new)
        assert under_way.num_others == 0

    @cases(
        "others, chosen",
        {
            "none is left": ([], None),
            "one that waits": ([waiting()], 0),
            "an active one before a newer that waits": (
                [waiting(created_at=NOW), token(created_at=NOW - DAY)],
                1,
            ),
            "the newest of the active ones": (
                [token(created_at=NOW - 2 * DAY), token(created_at=NOW - DAY)],
                1,
            ),
        },
    )
    def test_takes_another_successor_when_the_named_one_has_ended(self, others, chosen):
        ended = token(revoked_at=NOW)
        old = retiring(replaced_by=ended)

        under_way = rotation([ended, old, *others], now=NOW)

        assert under_way is not None
        assert under_way.new == (None if chosen is None else others[chosen])

    def test_shows_the_one_in_use_of_several_that_retire(self) -> None:
        silent = retiring(last_used_at=NOW - 20 * DAY)
        busy = retiring(last_used_at=NOW - HOUR)
        unused = retiring(activated_at=NOW - 2 * DAY)

        under_way = rotation([silent, unused, busy, token()], now=NOW)

        assert under_way is not None
        assert under_way.old == busy
        assert under_way.num_others == 2

    @cases(
        "silence, ends, warns",
        {
            "in use and over within a day": (HOUR, 20 * HOUR, True),
            "in use and good for longer": (HOUR, 2 * DAY, False),
            "silent": (8 * DAY, 20 * HOUR, False),
        },
    )
    def test_warns_of_an_end_that_comes_too_early(self, silence, ends, *, warns):
        old = retiring(last_used_at=NOW - silence, retires_at=NOW + ends)

        under_way = rotation([old, token()], now=NOW)

        assert under_way is not None
        assert under_way.ends_soon is warns

    @cases(
        "new, silence, current",
        {
            "no successor": (None, HOUR, StepKind.ISSUED),
            "not activated": (waiting(), HOUR, StepKind.ACTIVATED),
            "both in use": (token(), HOUR, StepKind.BOTH),
            "old one quiet": (token(), 3 * DAY, StepKind.BOTH),
            "old one silent": (token(), 8 * DAY, StepKind.REVOKE),
        },
    )
    def test_stands_at_one_step_with_those_before_it_done(self, new, silence, current):
        old = retiring(last_used_at=NOW - silence, replaced_by=new)
        tokens = [old] if new is None else [old, new]

        under_way = rotation(tokens, now=NOW)

        assert under_way is not None
        kinds = [step.kind for step in under_way.steps]
        at = kinds.index(current)
        assert kinds == list(StepKind)
        assert [step.progress for step in under_way.steps] == (
            [Progress.DONE] * at + [Progress.NOW] + [Progress.LATER] * (3 - at)
        )
