"""What several changes of recipients have in common: make one, grant it shares."""

from collections.abc import Collection
from dataclasses import MISSING, dataclass
from datetime import timedelta

from django.db import transaction

from apps.pages.actions import Stamp, report
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.sharing.access.waited_queries import cancel_queries
from apps.sharing.activity.actions import action_on
from apps.sharing.issuing.credentials import Deliver, issue
from apps.sharing.issuing.lifetimes import expires_parameter, read_lifetime
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Grant, Recipient, Share
from apps.sharing.names import check_name, find_share, name_key, save_named
from apps.sharing.recipients.resource import (
    RecipientSettings,
    facts_of,
    take_settings,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecipient(RecipientSettings):
    """A recipient that is to be made, with its first token.

    Attributes:
        name: The name of the recipient.
        shares: The names of the shares that it can read.
        expires: How long its token is valid: `90d`, `24h`, or its last day.
    """

    name: str = parameter(
        MISSING,
        line=Line(
            label="Name",
            most=255,
            is_needed=True,
            wrong="Enter a name.",
            codes=("name-invalid", "name-taken"),
        ),
    )
    shares: list[str] | Unchanged = parameter(
        UNCHANGED,
        "--share",
        action="append",
        required=True,
        line=Line(
            label="Shares",
            is_boxes=True,
            choices=lambda: Share.objects.values_list("name", flat=True),
        ),
        metavar="SHARE",
        help="a share that it can read; repeatable",
    )
    expires: str = expires_parameter()


@transaction.atomic
def create_recipient(new: NewRecipient, *, stamp: Stamp) -> Recipient:
    """Make a recipient, who may read nothing yet."""
    recipient = Recipient(
        name=check_name(new.name, "recipient"),
        name_key=name_key(new.name),
        created_at=stamp.at,
        created_by_id=stamp.actor.user_id,
    )
    take_settings(recipient, new, at=stamp.at)
    save_named(recipient, "recipient")
    report(action_on("recipient.create", stamp, recipient, **facts_of(recipient)))
    return recipient


@transaction.atomic
def invite(
    new: NewRecipient,
    *,
    lifetime: timedelta | None = None,
    deliver: Deliver | None = None,
    stamp: Stamp,
) -> Credentials:
    """Make a recipient with its grants and its first token, and hand that out.

    Without `lifetime` the token lives as long as `expires` says, or the usual time.
    """
    names = () if isinstance(new.shares, Unchanged) else new.shares
    shares = [find_share(name) for name in names]
    if lifetime is None:
        lifetime = read_lifetime(new.expires, now=stamp.at)
    recipient = create_recipient(new, stamp=stamp)
    for share in shares:
        grant(share, recipient, stamp=stamp)
    return issue(recipient, lifetime=lifetime, deliver=deliver, stamp=stamp)


# === Grants ===


@transaction.atomic
def grant(share: Share, recipient: Recipient, *, stamp: Stamp) -> Grant:
    """Let a recipient read a share; a grant that exists stays as it is."""
    granted, is_new = Grant.objects.get_or_create(
        share=share,
        recipient=recipient,
        defaults={"granted_at": stamp.at, "granted_by_id": stamp.actor.user_id},
    )
    if is_new:
        report(action_on("grant.add", stamp, share, recipient))
    return granted


@transaction.atomic
def ungrant(share: Share, recipient: Recipient, *, stamp: Stamp) -> bool:
    """Take a share from a recipient, from its next request on.

    Returns:
        Whether there was a grant to take.
    """
    removed, _ = Grant.objects.filter(share=share, recipient=recipient).delete()
    if removed:
        cancel_queries(recipient, share, now=stamp.at)
        report(action_on("grant.remove", stamp, share, recipient))
    return bool(removed)


@transaction.atomic
def set_grants(
    recipient: Recipient, shares: Collection[Share], *, stamp: Stamp
) -> tuple[int, int]:
    """Let a recipient read these shares and no others, from its next request on.

    Returns:
        How many it got, and how many were taken.
    """
    held = {share.id: share for share in recipient.shares.all()}
    wanted = {share.id: share for share in shares}
    added = [share for key, share in wanted.items() if key not in held]
    removed = [share for key, share in held.items() if key not in wanted]
    for share in added:
        grant(share, recipient, stamp=stamp)
    for share in removed:
        ungrant(share, recipient, stamp=stamp)
    return len(added), len(removed)
