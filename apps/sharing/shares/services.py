"""What administrators ask of shares: make, rename, describe, switch, delete."""

from typing import Final

from django.db import transaction

from apps.pages.actions import FieldChange, Stamp, report, report_changes
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.sharing.access.grants.prepared import erase_all
from apps.sharing.access.requests import key_of
from apps.sharing.activity.actions import action_on
from apps.sharing.errors import NameTakenError
from apps.sharing.models import Share
from apps.sharing.names import check_name, name_key, save_named
from apps.tables.models import AccessRequest

LISTED: Final = {False: "not listed", True: "listed"}


@transaction.atomic
def create_share(*, name: str, comment: str = "", stamp: Stamp) -> Share:
    """Make an empty share."""
    share = Share(
        name=check_name(name, "share"),
        name_key=name_key(name),
        comment=comment.strip(),
        created_at=stamp.at,
        created_by_id=stamp.actor.user_id,
    )
    save_named(share, "share")
    report(action_on("share.create", stamp, share))
    return share


@transaction.atomic
def rename_share(share: Share, *, name: str, stamp: Stamp) -> Share:
    """Give a share another name; recipients' clients must use it from then on."""
    old_name = share.name
    if name == old_name:
        return share
    share.name = check_name(name, "share")
    share.name_key = name_key(name)
    try:
        save_named(share, "share", fields=("name", "name_key"))
    except NameTakenError:
        share.name, share.name_key = old_name, name_key(old_name)
        raise
    report(action_on("share.rename", stamp, share, old=old_name, new=name))
    return share


@transaction.atomic
def update_share(
    share: Share,
    *,
    comment: str | Unchanged | None = UNCHANGED,
    description: str | Unchanged | None = UNCHANGED,
    listed: bool | Unchanged = UNCHANGED,
    stamp: Stamp,
) -> Share:
    """Set what people read of a share, and whether they can request it."""
    old, was_listed = (share.comment, share.description), share.is_listed
    share.comment = value_of(comment, share.comment, removed="").strip()
    share.description = value_of(description, share.description, removed="").strip()
    share.is_listed = value_of(listed, was_listed, removed=was_listed)
    changes = [
        FieldChange("share.update", old[0], share.comment),
        FieldChange("share.describe", old[1], share.description),
        FieldChange("share.set_listed", LISTED[was_listed], LISTED[share.is_listed]),
    ]
    if report_changes(action_on("", stamp, share), changes):
        share.save(update_fields=["comment", "description", "is_listed"])
    return share


@transaction.atomic
def switch_share(share: Share, *, is_on: bool, stamp: Stamp) -> Share:
    """Turn a share on or off: one that is off is read by nobody from now on.

    Nothing of it is listed then, and files of this server open no more. URLs of object
    stores that were given out before stay good until they end.
    """
    if is_on != (share.off_since is not None):
        return share
    share.off_since = None if is_on else stamp.at
    share.save(update_fields=["off_since"])
    name = "share.switch_on" if is_on else "share.switch_off"
    report(action_on(name, stamp, share))
    return share


@transaction.atomic
def delete_share(share: Share, *, stamp: Stamp) -> None:
    """Delete a share with its grants; tables and recipients stay."""
    detail = {
        "tables": [table.full_name for table in share.shared_tables.all()],
        "recipients": [recipient.name for recipient in share.recipients.all()],
    }
    report(action_on("share.delete", stamp, share, **detail))
    for shared_table in share.shared_tables.all():
        erase_all(shared_table)
    AccessRequest.objects.filter(other=key_of(share)).delete()
    share.delete()
