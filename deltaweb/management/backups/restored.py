"""What a restore changes in the rows: a restored server lets no outsider in.

A backup revives what was revoked since: tokens, accounts, rights, spent links. So
sharing, sign-in and notifications are off until an administrator has decided.
"""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from apps.accounts.models import AddressLink, SignInLink
from apps.jobs.models import Job
from apps.notices.events.publisher import new_epoch
from apps.operate.models import Restoration
from apps.operate.switches.state import OFF_AFTER_RESTORE, turn
from apps.pages.actions import Action, Stamp, report
from apps.sharing.models import ActivationLink
from apps.tables.models import RepeatedOperation, StorageConnection
from apps.tables.models.repeats import next_run
from apps.tables.storage.sealing import seal_again_by
from deltaweb.management.backups.errors import RowNotRestoredError
from deltaweb.management.backups.lines import BackupHead

ENDED: Final = "The server was restored from a backup while the job was active."
AGAIN: Final = "Start the job again if its work is still needed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a restore ended, and what it could not read.

    Attributes:
        jobs: Jobs that were active and are cancelled.
        links: One-time links that are no longer valid.
        unreadable: Storage connections whose credentials no key opens.
        has_other_key: Whether the secret key is not that of the backup.
    """

    jobs: int
    links: int
    unreadable: list[str]
    has_other_key: bool


def taken_over(head: BackupHead, *, stamp: Stamp) -> Restoration:
    """Bring restored rows into the state in which the server starts.

    Raises:
        RowNotRestoredError: If a row has a value that no version has written.
    """
    try:
        return _take_over(head, stamp=stamp)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"[:200]
        raise RowNotRestoredError(model="some model", problem=problem) from error


@transaction.atomic
def _take_over(head: BackupHead, *, stamp: Stamp) -> Restoration:
    made_at = datetime.fromisoformat(head.made_at)
    now = stamp.at
    turn(
        OFF_AFTER_RESTORE,
        is_off=True,
        sentence=f"This server was restored from a backup of {made_at:%Y-%m-%d %H:%M}"
        " UTC and is being checked.",
        stamp=stamp,
    )
    ended = Ended(
        jobs=_end_jobs(now),
        links=_end_links(now),
        unreadable=_seal_again(head.secret_keys),
        has_other_key=head.secret_keys[:1] not in ([], [settings.SECRET_KEY]),
    )
    _move_repeats(now)
    new_epoch()
    restoration = Restoration.objects.create(
        restored_at=now,
        made_at=made_at.astimezone(UTC),
        made_by=head.made_by,
        decisions=asdict(ended),
    )
    detail = {"made_at": head.made_at, "made_by": head.made_by, **asdict(ended)}
    report(Action(name="server.restore", stamp=stamp, detail=detail))
    return restoration


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
    """End the links that were open when the backup was made; some were used since."""
    activation = ActivationLink.objects.filter(used_at=None, withdrawn_at=None)
    return (
        SignInLink.objects.filter(used_at=None).delete()[0]
        + AddressLink.objects.all().delete()[0]
        + activation.update(withdrawn_at=now)
    )


def _move_repeats(now: datetime) -> None:
    repeats = list(RepeatedOperation.objects.all())
    for one in repeats:
        one.due_at = next_run(one.every, one.at, after=now)
    RepeatedOperation.objects.bulk_update(repeats, ["due_at"])


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
