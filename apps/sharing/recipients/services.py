"""What administrators ask of recipients: make, change, grant, delete."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from apps.pages.actions import FieldChange, Stamp, report, report_changes
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.sharing.access.earlier_urls import later_end, url_lifetime
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.access.networks import parse_networks
from apps.sharing.access.waited_queries import cancel_queries
from apps.sharing.activity.actions import action_on
from apps.sharing.activity.budgets import parse_limit
from apps.sharing.errors import ContactInvalidError, LimitInvalidError
from apps.sharing.issuing.credentials import Deliver, issue
from apps.sharing.issuing.lifetimes import read_lifetime
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Grant, Recipient, Share, SharedTable
from apps.sharing.names import check_name, find_share, name_key, save_named
from apps.sharing.recipients.properties import parse_properties
from deltaweb.conditions.recipients import Property
from deltaweb.delta.errors import PredicateError

# What is recorded when a fact of a recipient changes.
_FACT_ACTIONS: Final = {
    "contact": "recipient.set_contact",
    "comment": "recipient.describe",
    "allowed_networks": "recipient.set_networks",
    "properties": "recipient.set_properties",
    "soft_limit_bytes": "recipient.set_soft_limit",
    "hard_limit_bytes": "recipient.set_hard_limit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecipient:
    """A recipient that is to be made, with its first token.

    Attributes:
        name: What you know it by.
        shares: Names of what it may read.
        contact: A mail address.
        comment: A note for administrators.
        allowed_networks: Where it may come from; empty allows every address.
        properties: What conditions call recipient.<key>, each as key=value.
        expires: How long its token lives: `90d`, `24h`, or the last day.
    """

    name: str
    shares: list[str] = field(default_factory=list)
    contact: str = ""
    comment: str = ""
    allowed_networks: list[str] = field(default_factory=list)
    properties: list[str] = field(default_factory=list)
    expires: str = ""


@transaction.atomic
def create_recipient(new: NewRecipient, *, stamp: Stamp) -> Recipient:
    """Make a recipient, who may read nothing yet."""
    recipient = Recipient(
        name=check_name(new.name, "recipient"),
        name_key=name_key(new.name),
        contact=_checked_contact(new.contact),
        comment=new.comment.strip(),
        allowed_networks=parse_networks(new.allowed_networks),
        properties=parse_properties(new.properties),
        created_at=stamp.at,
        created_by_id=stamp.actor.user_id,
    )
    save_named(recipient, "recipient")
    report(action_on("recipient.create", stamp, recipient, **_facts(recipient)))
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
    shares = [find_share(name) for name in new.shares]
    if lifetime is None:
        lifetime = read_lifetime(new.expires, now=stamp.at)
    recipient = create_recipient(new, stamp=stamp)
    for share in shares:
        grant(share, recipient, stamp=stamp)
    return issue(recipient, lifetime=lifetime, deliver=deliver, stamp=stamp)


@transaction.atomic
def update_recipient(  # noqa: PLR0913 (each is one fact of the recipient)
    recipient: Recipient,
    *,
    contact: str | Unchanged | None = UNCHANGED,
    comment: str | Unchanged | None = UNCHANGED,
    allowed_networks: Iterable[str] | Unchanged | None = UNCHANGED,
    properties: Iterable[str] | Unchanged | None = UNCHANGED,
    stamp: Stamp,
) -> Recipient:
    """Change how to reach a recipient, from where it may come, and what it sees."""
    before = _facts(recipient)
    if not isinstance(contact, Unchanged):
        recipient.contact = _checked_contact(contact or "")
    recipient.comment = value_of(comment, recipient.comment, removed="").strip()
    if not isinstance(allowed_networks, Unchanged):
        recipient.allowed_networks = parse_networks(allowed_networks or ())
    if not isinstance(properties, Unchanged):
        _set_properties(recipient, parse_properties(properties or ()), stamp)
    _report_facts(recipient, before, stamp)
    return recipient


@transaction.atomic
def set_limits(
    recipient: Recipient,
    *,
    soft: str | Unchanged | None = UNCHANGED,
    hard: str | Unchanged | None = UNCHANGED,
    stamp: Stamp,
) -> Recipient:
    """Limit what a recipient is offered in a month of UTC.

    Args:
        recipient: The recipient.
        soft: Where it is only said, such as `3.5 TiB`; None or "" for nowhere.
        hard: Where reads are refused, likewise.
        stamp: Who does it, and when.
    """
    before = _facts(recipient)
    limits = [one for one in (soft, hard) if not isinstance(one, Unchanged)]
    if not isinstance(soft, Unchanged):
        recipient.soft_limit_bytes = parse_limit(soft or "")
    if not isinstance(hard, Unchanged):
        recipient.hard_limit_bytes = parse_limit(hard or "")
    low, high = recipient.soft_limit_bytes, recipient.hard_limit_bytes
    if low is not None and high is not None and low > high:
        reason = "the soft limit is above the hard one"
        raise LimitInvalidError(text=next(filter(None, limits), ""), reason=reason)
    _report_facts(recipient, before, stamp)
    return recipient


@transaction.atomic
def delete_recipient(recipient: Recipient, *, stamp: Stamp) -> None:
    """Delete a recipient with its grants and tokens, which end at once."""
    detail = {
        "shares": [share.name for share in recipient.shares.all()],
        "num_tokens_ended": recipient.tokens.live(stamp.at).count(),
    }
    report(action_on("recipient.delete", stamp, recipient, **detail))
    cancel_queries(recipient, now=stamp.at)
    recipient.delete()


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


def _set_properties(
    recipient: Recipient, properties: dict[str, Property], stamp: Stamp
) -> None:
    """Set what conditions ask for, and note until when URLs open of the values before.

    Only tables count whose conditions ask for a value that changes.
    """
    tables = list(
        SharedTable.objects.filter(share__grants__recipient=recipient).select_related(
            "table"
        )
    )
    before = [_asked(shared, recipient) for shared in tables]
    recipient.properties = properties
    lifetimes = [
        url_lifetime(shared, is_whole=False)
        for shared, asked in zip(tables, before, strict=True)
        if _asked(shared, recipient) != asked
    ]
    known = recipient.earlier_urls_end_at
    recipient.earlier_urls_end_at = later_end(known, lifetimes, at=stamp.at)
    recipient.save(update_fields=["earlier_urls_end_at"])


def _asked(shared: SharedTable, recipient: Recipient) -> object:
    """Return the values that conditions ask for; all if a condition does not parse."""
    rule = rule_for(shared, recipient)
    try:
        return rule.asked
    except PredicateError:
        return rule.properties


def _report_facts(
    recipient: Recipient, before: Mapping[str, object], stamp: Stamp
) -> None:
    """Save and record the facts that have changed, each by itself."""
    after = _facts(recipient)
    changed = [name for name in after if after[name] != before[name]]
    changes = [
        FieldChange(_FACT_ACTIONS[name], before[name], after[name]) for name in changed
    ]
    if report_changes(action_on("", stamp, recipient), changes):
        recipient.save(update_fields=changed)


def _checked_contact(text: str) -> str:
    contact = text.strip()
    if contact:
        try:
            validate_email(contact)
        except ValidationError as error:
            raise ContactInvalidError(contact=contact) from error
    return contact


def _facts(recipient: Recipient) -> dict[str, object]:
    return {
        "contact": recipient.contact,
        "comment": recipient.comment,
        "allowed_networks": list(recipient.allowed_networks),
        "properties": dict(recipient.properties),
        "soft_limit_bytes": recipient.soft_limit_bytes,
        "hard_limit_bytes": recipient.hard_limit_bytes,
    }
