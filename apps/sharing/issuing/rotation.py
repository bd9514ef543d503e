"""Is it safe to revoke this token? The lamp of a rotation, its cause and its steps.

Pure functions over tokens that are loaded: nothing here asks the database.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from apps.sharing.models import RecipientToken

SILENT_AFTER: Final = timedelta(days=7)  # without a request: nobody uses it any more
QUIET_AFTER: Final = timedelta(days=1)  # a daily job would have come by

State = RecipientToken.State


class Light(StrEnum):
    """How safe it is to revoke a token."""

    RED = "red"  # something would fail now
    AMBER = "amber"  # something may fail later
    GREEN = "green"


class Cause(StrEnum):
    """Why the lamp shows what it shows."""

    IN_USE = "in-use"  # a request within `QUIET_AFTER`
    ALONE = "alone"  # the recipient holds no other key that works
    QUIET = "quiet"  # silent, but not yet for `SILENT_AFTER`
    UNUSED = "unused"  # activated, and never used since
    SILENT = "silent"  # no request for `SILENT_AFTER`
    NEVER_ACTIVATED = "never-activated"  # nobody ever held it
    ENDED = "ended"  # it opens nothing any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The lamp over one token.

    Attributes:
        quiet_since: Its last request, or its activation before any; None before that.
        green_at: When it turns green if no request comes; None when waiting alone
            does not help, or when it is green.
    """

    light: Light
    cause: Cause
    quiet_since: datetime | None = None
    green_at: datetime | None = None

    @property
    def is_safe(self) -> bool:
        """Whether nothing is lost by a revocation."""
        return self.light is Light.GREEN


class Progress(StrEnum):
    """Where a step of a rotation stands."""

    DONE = "done"
    NOW = "now"
    LATER = "later"


class StepKind(StrEnum):
    """The four steps, in order."""

    ISSUED = "issued"
    ACTIVATED = "activated"
    BOTH = "both"
    REVOKE = "revoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One of the four steps of a rotation."""

    kind: StepKind
    progress: Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """A token on its way out, and the one that takes its place.

    Attributes:
        old: The retiring token; of several the one that was used last.
        new: The token that replaces it; None when it has ended meanwhile.
        verdict: Whether `old` may be revoked.
        ends_soon: Whether `old` ends within a day although it may still be needed.
        num_others: How many more tokens are retiring.
    """

    old: RecipientToken
    new: RecipientToken | None
    verdict: Verdict
    steps: tuple[Step, ...]
    ends_soon: bool = False
    num_others: int = 0


def judge(
    token: RecipientToken, *, others: Sequence[RecipientToken], now: datetime
) -> Verdict:
    """Say whether revoking `token` would break something.

    Args:
        others: The other tokens of its recipient; `token` itself is passed over.
    """
    state = token.state(now)
    if state in {State.EXPIRED, State.REVOKED}:
        return Verdict(light=Light.GREEN, cause=Cause.ENDED)
    quiet_since = token.last_used_at or token.activated_at
    if state is State.WAITING or quiet_since is None:
        return Verdict(light=Light.GREEN, cause=Cause.NEVER_ACTIVATED)
    silence = now - quiet_since
    green_at = quiet_since + SILENT_AFTER
    if not _has_other_key(token, others, now):
        # Silence proves nothing here: it may be a yearly job, and this its one key.
        was_used = token.last_used_at is not None and silence < QUIET_AFTER
        return Verdict(
            light=Light.RED if silence < SILENT_AFTER else Light.AMBER,
            cause=Cause.IN_USE if was_used else Cause.ALONE,
            quiet_since=quiet_since,
        )
    if silence >= SILENT_AFTER:
        return Verdict(
            light=Light.GREEN,
            cause=Cause.SILENT if token.last_used_at else Cause.UNUSED,
            quiet_since=quiet_since,
        )
    if token.last_used_at is None:
        light, cause = Light.AMBER, Cause.UNUSED
    elif silence < QUIET_AFTER:
        light, cause = Light.RED, Cause.IN_USE
    else:
        light, cause = Light.AMBER, Cause.QUIET
    return Verdict(light=light, cause=cause, quiet_since=quiet_since, green_at=green_at)


def rotation(tokens: Sequence[RecipientToken], *, now: datetime) -> Rotation | None:
    """Return the rotation that is under way among a recipient's tokens, or None."""
    retiring = [token for token in tokens if token.state(now) is State.RETIRING]
    if not retiring:
        return None
    old = max(retiring, key=_quiet_since)
    new = _successor(old, tokens, now)
    verdict = judge(old, others=tokens, now=now)
    return Rotation(
        old=old,
        new=new,
        verdict=verdict,
        steps=_steps(new, verdict),
        ends_soon=not verdict.is_safe and old.expires_within(QUIET_AFTER, now=now),
        num_others=len(retiring) - 1,
    )


def _has_other_key(
    token: RecipientToken, others: Sequence[RecipientToken], now: datetime
) -> bool:
    """Whether a key that is here to stay is in the recipient's hands besides."""
    return any(
        other.id != token.id and other.state(now) is State.ACTIVE for other in others
    )


def _successor(
    old: RecipientToken, tokens: Sequence[RecipientToken], now: datetime
) -> RecipientToken | None:
    """Return what replaces `old`: the token it names, or else the newest that lives."""
    fresh = [t for t in tokens if t.state(now) in {State.ACTIVE, State.WAITING}]
    named = [token for token in fresh if token.id == old.replaced_by_id]
    active = [token for token in fresh if token.state(now) is State.ACTIVE]
    choices = named or active or fresh
    return max(choices, key=lambda token: token.created_at, default=None)


def _steps(new: RecipientToken | None, verdict: Verdict) -> tuple[Step, ...]:
    if new is None:
        current = StepKind.ISSUED
    elif new.activated_at is None:
        current = StepKind.ACTIVATED
    elif verdict.is_safe:
        current = StepKind.REVOKE
    else:
        current = StepKind.BOTH
    kinds = tuple(StepKind)
    at = kinds.index(current)
    progress = (Progress.DONE,) * at + (Progress.NOW,) + (Progress.LATER,) * len(kinds)
    return tuple(
        Step(kind=kind, progress=state)
        for kind, state in zip(kinds, progress, strict=False)
    )


def _quiet_since(token: RecipientToken) -> datetime:
    return token.last_used_at or token.activated_at or token.created_at
