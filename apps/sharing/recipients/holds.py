"""Holding versions of a shared table for a recipient, until a moment."""

from datetime import datetime

from django.db import transaction

from apps.pages.actions import Stamp, report
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.sharing.activity.actions import action_on
from apps.sharing.errors import HoldInvalidError
from apps.sharing.issuing.lifetimes import parse_lifetime
from apps.sharing.models import Hold, LastRead, Recipient, SharedTable


@transaction.atomic
def hold_versions(
    recipient: Recipient,
    shared: SharedTable,
    *,
    version: int | Unchanged | None = UNCHANGED,
    until: str | Unchanged = UNCHANGED,
    stamp: Stamp,
) -> Hold:
    """Keep a version of a table and all later ones readable for a recipient.

    An earlier hold that has not ended is changed. A new one needs `until`, and without
    `version` it is of the version that the recipient read last, as it is with None.

    Raises:
        HoldInvalidError: If the recipient may not read the table or that version, no
            version is named and it has read none, or a new hold has no end.
    """
    held = current_hold(recipient, shared, now=stamp.at)
    if not recipient.grants.filter(share=shared.share).exists():
        raise HoldInvalidError(
            recipient=recipient.name,
            table=shared.full_name,
            reason="may not read it",
        )
    if isinstance(version, Unchanged):
        version = held.version if held else None
    if version is None:
        reads = LastRead.objects.filter(shared_table=shared, token__recipient=recipient)
        last = reads.order_by("-read_at").first()
        if last is None:
            raise HoldInvalidError(
                recipient=recipient.name,
                table=shared.full_name,
                reason="has not read it yet; name the version",
            )
        version = last.version
    first, newest = shared.start_version or 0, shared.table.version
    if newest is None or not first <= version <= newest:
        offered = (
            "no version yet" if newest is None else f"versions {first} to {newest}"
        )
        raise HoldInvalidError(
            recipient=recipient.name,
            table=shared.full_name,
            reason=f"is offered {offered}",
        )
    if not isinstance(until, Unchanged):
        ends_at = stamp.at + parse_lifetime(until, now=stamp.at)
    elif held is not None:
        ends_at = held.ends_at
    else:
        raise HoldInvalidError(
            recipient=recipient.name,
            table=shared.full_name,
            reason="has no hold of it yet; say until when",
        )
    hold, _ = Hold.objects.update_or_create(
        recipient=recipient,
        shared_table=shared,
        defaults={"version": version, "ends_at": ends_at, "made_at": stamp.at},
    )
    detail = {"version": version, "ends_at": hold.ends_at.isoformat()}
    report(action_on("hold.add", stamp, recipient, shared, **detail))
    return hold


def current_hold(
    recipient: Recipient, shared: SharedTable, *, now: datetime
) -> Hold | None:
    """Return the hold of a table for a recipient that has not ended."""
    holds = Hold.objects.filter(recipient=recipient, shared_table=shared)
    return holds.filter(ends_at__gt=now).first()


@transaction.atomic
def end_hold(recipient: Recipient, shared: SharedTable, *, stamp: Stamp) -> bool:
    """End a hold at once; return whether there was one."""
    ended, _ = Hold.objects.filter(recipient=recipient, shared_table=shared).delete()
    if ended:
        report(action_on("hold.remove", stamp, recipient, shared))
    return bool(ended)
