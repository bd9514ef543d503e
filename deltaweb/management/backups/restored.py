"""What a restore changes in the rows: a restored server lets no outsider in.

A backup revives what was revoked since: tokens, accounts, rights, spent links. So
sharing, sign-in and notifications are off until an administrator has decided.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Final

from django.db import transaction
from django.db.models import Q

from apps.accounts.models import APIKey, APIKeyQuerySet, SignInLink
from apps.jobs.models import Job
from apps.notices.events.publisher import new_epoch
from apps.operate.models import Restoration
from apps.operate.switches.state import NOTIFICATIONS, SHARING, SIGN_IN, turn
from apps.pages.actions import Action, Stamp, report
from apps.sharing.models import ActivationLink, RecipientToken, RecipientTokenQuerySet
from apps.tables.models import RepeatedOperation, StorageConnection
from apps.tables.models.repeats import next_run
from apps.tables.storage.sealing import seal_again_by
from deltaweb.management.backups.errors import NotRestoredError
from deltaweb.management.backups.lines import BackupHead

SWITCHED_OFF: Final = (SIGN_IN, SHARING, NOTIFICATIONS)
ENDED: Final = "The server was restored from a backup while the job was active."
AGAIN: Final = "Start the job again if its work is still needed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What an administrator has to decide after a restore.

    Attributes:
        tokens: Recipients' tokens that open something again.
        api_keys: API keys that open something again.
        jobs: Jobs that were active and are cancelled.
        links: One-time links that are no longer valid.
        repeated: Scheduled operations, which run again at their next time.
        unreadable: Storage connections whose credentials no key opens.
    """

    tokens: int
    api_keys: int
    jobs: int
    links: int
    repeated: int
    unreadable: list[str]


@transaction.atomic
def take_over(head: BackupHead, *, stamp: Stamp) -> Decisions:
    """Bring restored rows into the state in which the server starts."""
    made_at = datetime.fromisoformat(head.made_at)
    now = stamp.at
    turn(
        SWITCHED_OFF,
        is_off=True,
        sentence=f"This server was restored from a backup of {made_at:%Y-%m-%d %H:%M}"
        " UTC and is being checked.",
        stamp=stamp,
    )
    decisions = Decisions(
        tokens=_tokens(now).count(),
        api_keys=_keys(now).count(),
        jobs=_end_jobs(now),
        links=_end_links(now),
        repeated=_move_repeats(now),
        unreadable=_seal_again(head.secret_keys),
    )
    new_epoch()
    Restoration.objects.create(
        restored_at=now,
        made_at=made_at.astimezone(UTC),
        made_by=head.made_by,
        decisions=asdict(decisions),
    )
    detail = {"made_at": head.made_at, "made_by": head.made_by, **asdict(decisions)}
    report(Action(name="server.restore", stamp=stamp, detail=detail))
    return decisions


def _end_jobs(now: datetime) -> int:
    """Cancel active jobs: a vacuum of last week must not begin today."""
    return Job.objects.active().update(
        state=Job.State.CANCELLED,
        finished_at=now,
        lease_owner="",
        lease_expires_at=None,
        error_code="server-restored",
        error=ENDED,
        error_hint=AGAIN,
    )


def _end_links(now: datetime) -> int:
    activation = ActivationLink.objects.filter(used_at=None, withdrawn_at=None)
    return SignInLink.objects.filter(used_at=None).delete()[0] + activation.update(
        withdrawn_at=now
    )


def _move_repeats(now: datetime) -> int:
    repeats = list(RepeatedOperation.objects.all())
    for one in repeats:
        one.due_at = next_run(one.every, one.at, after=now)
    RepeatedOperation.objects.bulk_update(repeats, ["due_at"])
    return len(repeats)


def _seal_again(former: list[str]) -> list[str]:
    """Encrypt stored credentials with the key of this server."""
    unreadable = []
    for connection in StorageConnection.objects.filter(~Q(sealed="")):
        sealed = seal_again_by(connection.sealed, former)
        if sealed is None:
            unreadable.append(connection.name)
        else:
            StorageConnection.objects.filter(pk=connection.pk).update(sealed=sealed)
    return unreadable


# === Afterwards ===


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """The numbers of tokens and keys that were revoked."""

    tokens: int
    api_keys: int


def newest_restoration() -> Restoration:
    """Return the restore by which this database began.

    Raises:
        NotRestoredError: If there was none.
    """
    found = Restoration.objects.first()
    if found is None:
        raise NotRestoredError
    return found


def remaining(restoration: Restoration, now: datetime) -> Decisions:
    """Return what is still to be decided after a restore."""
    made_at = restoration.restored_at
    return replace(
        Decisions(**restoration.decisions),
        tokens=_tokens(now).filter(created_at__lte=made_at).count(),
        api_keys=_keys(now).filter(created_at__lte=made_at).count(),
    )


@transaction.atomic
def revoke_earlier(restoration: Restoration, *, stamp: Stamp) -> Revoked:
    """Revoke all tokens and API keys that were made before a restore."""
    made_before = {"created_at__lte": restoration.restored_at}
    revoked = Revoked(
        tokens=_tokens(stamp.at).filter(**made_before).update(revoked_at=stamp.at),
        api_keys=_keys(stamp.at).filter(**made_before).update(revoked_at=stamp.at),
    )
    report(Action(name="server.revoke", stamp=stamp, detail=asdict(revoked)))
    return revoked


def _tokens(now: datetime) -> RecipientTokenQuerySet:
    """The tokens that open something, also those of stand-ins."""
    return RecipientToken.all_tokens.unended(now)


def _keys(now: datetime) -> APIKeyQuerySet:
    return APIKey.objects.live(now)


def decision_lines(found: Decisions) -> Iterator[str]:
    """Yield what an administrator has to decide, line by line."""
    yield "Decide this before you switch sharing, sign-in and notifications on:"
    yield (
        f"- {found.tokens} tokens of recipients and {found.api_keys} API keys are valid"
        " again, also those that were revoked after the backup was made."
        " 'deltaweb restored revoke' revokes all of them."
    )
    yield "- Accounts, groups and permissions are those of the backup. Check them."
    yield (
        f"- {found.jobs} active jobs were cancelled, and {found.links} one-time links"
        " are no longer valid."
    )
    if found.repeated:
        yield (
            f"- {found.repeated} scheduled operations run at their next time. If the"
            " former server still runs, they run twice."
        )
    for name in found.unreadable:
        yield f"- The credentials of the storage {name!r} cannot be read: set them."
    yield "Then run 'deltaweb switch on sharing', and the same for the others."
