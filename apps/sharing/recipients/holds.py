"""Holding versions of a shared table for a recipient, until a moment."""

from datetime import timedelta

from django.db import transaction

from deltaweb.web.pages.actions import Stamp, report
from deltaweb.web.sharing.activity.actions import action_on
from deltaweb.web.sharing.errors import HoldInvalidError
from deltaweb.web.sharing.models import Hold, LastRead, Recipient, SharedTable


@transaction.atomic
def hold_versions(
    recipient: Recipient,
    shared: SharedTable,
    *,
    version: int | None = None,
    span: timedelta,
    stamp: Stamp,
) -> Hold:
    """Keep a version of a table and all later ones readable for a recipient.

    A hold of before is replaced. Without `version` it is the one that the recipient
    read last.

    Raises:
        HoldInvalidError: If the recipient may not read the table or that version, or
            no version is named and it has read none.
    """
    if not recipient.grants.filter(share=shared.share).exists():
        raise HoldInvalidError(
            recipient=recipient.name,
            table=shared.full_name,
            reason="may not read it",
        )
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
    hold, _ = Hold.objects.update_or_create(
        recipient=recipient,
        shared_table=shared,
        defaults={"version": version, "ends_at": stamp.at + span, "made_at": stamp.at},
    )
    detail = {"version": version, "ends_at": hold.ends_at.isoformat()}
    report(action_on("hold.add", stamp, recipient, shared, **detail))
    return hold


@transaction.atomic
def end_hold(recipient: Recipient, shared: SharedTable, *, stamp: Stamp) -> bool:
    """End a hold at once; return whether there was one."""
    ended, _ = Hold.objects.filter(recipient=recipient, shared_table=shared).delete()
    if ended:
        report(action_on("hold.remove", stamp, recipient, shared))
    return bool(ended)
