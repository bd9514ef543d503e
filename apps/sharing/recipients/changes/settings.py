"""The changes of a recipient: how and from where it is reached, its limits, its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.shortcuts import resolve_url

from apps.pages.actions import Stamp, report
from apps.pages.changes.change import (
    ADMIN,
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import OnPage, Spread
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.sharing.access.earlier_urls import earlier_urls_text
from apps.sharing.access.waited_queries import cancel_queries
from apps.sharing.activity.actions import action_on, things_of
from apps.sharing.activity.budgets import limit_text, parse_limit
from apps.sharing.activity.ledger import Ledger, LimitOutlook, ledger_of
from apps.sharing.errors import LimitInvalidError
from apps.sharing.models import Recipient, Share
from apps.sharing.names import find_recipient, find_share
from apps.sharing.recipients.detail import RecipientDetail
from apps.sharing.recipients.listing import RECIPIENTS, recipient_resource
from apps.sharing.recipients.resource import (
    FIELDS,
    RecipientResource,
    RecipientSettings,
    facts_of,
    shown_settings,
    take_settings,
)
from apps.sharing.recipients.seen import SeenByRecipient
from apps.sharing.recipients.services import set_grants

ROUTE: Final = "recipients/<str:name>"
SAVED: Final = "Saved. The change applies from the next request on."
MAIL_ENDED: Final = "recipient.forbid_mail_sign_in"
MAIL_ENDED_TEXT: Final = (
    "It cannot sign in by e-mail until you confirm the new contact for this."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a recipient in a month of UTC; null or an empty text removes one.

    Attributes:
        soft_limit: The size per month above which reads are reported, such as `3.5
            TiB`; empty or null for no limit. `usage` shows how near it is.
        hard_limit: The size per month above which reads are refused.
    """

    soft_limit: str | Unchanged | None = parameter(
        UNCHANGED,
        "--soft",
        removed_by="--no-soft",
        line=Line(label="Soft", most=40, name="soft"),
        metavar="SIZE",
        help="report reads above this size, such as 3.5TiB; '' for no limit",
    )
    hard_limit: str | Unchanged | None = parameter(
        UNCHANGED,
        "--hard",
        removed_by="--no-hard",
        line=Line(label="Hard", most=40, name="hard"),
        metavar="SIZE",
        help="refuse reads above this size, such as 3.5TiB; '' for no limit",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientChange(RecipientSettings, Limits):
    """Changes of a recipient; a value that is left out stays, null removes it.

    Attributes:
        shares: The names of all shares that the recipient can read.
    """

    shares: list[str] | Unchanged | None = parameter(
        UNCHANGED,
        None,
        line=Line(
            label="Shares",
            is_boxes=True,
            choices=lambda: Share.objects.values_list("name", flat=True),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRecipient:
    """A recipient after a change of its settings.

    Attributes:
        said: What was changed, in sentences.
    """

    resource: Spread[RecipientResource]
    said: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedRecipient:
    """How near a recipient is to its limits of this month.

    Attributes:
        size_bytes: What it was offered so far.
        said: The same in sentences.
    """

    name: str
    size_bytes: int
    soft_limit: LimitOutlook | None
    hard_limit: LimitOutlook | None
    said: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedRecipient:
    """A recipient that is no more."""

    name: str
    deleted: bool = True


def update_recipient(
    recipient: Recipient, new: RecipientChange, stamp: Stamp
) -> ChangedRecipient:
    """Change how to reach a recipient, from where it may come, and what it reads."""
    said, before = SAVED, facts_of(recipient)
    could_sign_in = recipient.mail_sign_in_since is not None
    has_other_values = take_settings(recipient, new, at=stamp.at)
    _set_limits(recipient, new)
    more = ["earlier_urls_end_at"] if has_other_values else []
    if could_sign_in and recipient.mail_sign_in_since is None:
        more.append("mail_sign_in_since")
        report(action_on(MAIL_ENDED, stamp, recipient))
        said = f"{said} {MAIL_ENDED_TEXT}"
    _save_changed(recipient, before, more)
    ends_at = recipient.earlier_urls_end_at
    if has_other_values and ends_at is not None:
        said = f"{said} {earlier_urls_text(ends_at, now=stamp.at)}"
    if not isinstance(new.shares, Unchanged):
        wanted = [find_share(share) for share in new.shares or ()]
        added, removed = set_grants(recipient, wanted, stamp=stamp)
        said = (
            f"{recipient.name} can now read {len(wanted)} of {Share.objects.count()} "
            f"shares: {added} added, {removed} removed."
        )
    resource = recipient_resource(recipient, now=stamp.at)
    return ChangedRecipient(resource=resource, said=said)


def limit_recipient(
    recipient: Recipient, new: Limits, stamp: Stamp
) -> LimitedRecipient:
    """Limit what a recipient is offered in a month of UTC."""
    before = facts_of(recipient)
    _set_limits(recipient, new)
    _save_changed(recipient, before)
    ledger = ledger_of(recipient, now=stamp.at)
    return LimitedRecipient(
        name=recipient.name,
        size_bytes=ledger.size_bytes,
        soft_limit=ledger.soft_limit,
        hard_limit=ledger.hard_limit,
        said=ledger.limits_text or f"{recipient.name} has no limit.",
    )


def delete_recipient(
    recipient: Recipient, _: Nothing, stamp: Stamp
) -> DeletedRecipient:
    """Delete a recipient with its grants and tokens, which end at once."""
    detail = {
        "shares": [share.name for share in recipient.shares.all()],
        "num_tokens_ended": recipient.tokens.live(stamp.at).count(),
    }
    report(action_on("recipient.delete", stamp, recipient, **detail))
    cancel_queries(recipient, now=stamp.at)
    recipient.delete()
    return DeletedRecipient(name=recipient.name)


def _save_changed(
    recipient: Recipient, before: Mapping[str, object], more: Sequence[str] = ()
) -> None:
    """Save what has changed, and nothing that another request changes meanwhile."""
    after = facts_of(recipient)
    changed = [key for key in after if after[key] != before[key]]
    recipient.save(update_fields=[*changed, *more])


def _set_limits(recipient: Recipient, new: Limits) -> None:
    if not isinstance(new.soft_limit, Unchanged):
        recipient.soft_limit_bytes = parse_limit(new.soft_limit or "")
    if not isinstance(new.hard_limit, Unchanged):
        recipient.hard_limit_bytes = parse_limit(new.hard_limit or "")
    low, high = recipient.soft_limit_bytes, recipient.hard_limit_bytes
    if low is not None and high is not None and low > high:
        limits = [new.soft_limit, new.hard_limit]
        text = next((one for one in limits if isinstance(one, str) and one), "")
        reason = "the soft limit is above the hard limit"
        raise LimitInvalidError(text=text, reason=reason)


def settings_of(recipient: Recipient) -> dict[str, object]:
    """Return the settings of a recipient as its forms show them."""
    return shown_settings(recipient) | {
        "soft_limit": limit_text(recipient.soft_limit_bytes),
        "hard_limit": limit_text(recipient.hard_limit_bytes),
    }


RECIPIENT: Final = Subject(
    noun="recipient",
    role=ADMIN,
    scope="share",
    find=find_recipient,
    about=things_of,
)
UPDATE: Final = Change(
    of=RECIPIENT,
    name="update",
    help="Change the grants and settings of a recipient.",
    parameters=RecipientChange,
    do=update_recipient,
    result=ChangedRecipient,
    says=lambda one: one.said,
    record=Record(
        fields=FIELDS,
        facts=facts_of,
        writes=("grant.add", "grant.remove", MAIL_ENDED),
    ),
    call=Call("PATCH", ROUTE, view="Recipient"),
    page=(
        Page(
            f"{ROUTE}/settings",
            back=lambda one: resolve_url("sharing:recipient-settings", one.name),
            name="recipient-settings",
        ),
        Page(f"{ROUTE}/grants", back=resolve_url, name="recipient-grants"),
    ),
)
LIMIT: Final = Change(
    of=RECIPIENT,
    name="limit",
    help="Limit how much a recipient can read in a month.",
    parameters=Limits,
    do=limit_recipient,
    result=LimitedRecipient,
    says=lambda one: one.said,
    record=Record(fields=FIELDS, facts=facts_of),
    verb=Verb(),
    page=Page(
        f"{ROUTE}/limits",
        back=lambda one: resolve_url("sharing:recipient-usage", one.name),
        name="recipient-limits",
    ),
)
DELETE: Final = Change(
    of=RECIPIENT,
    name="delete",
    help="Delete a recipient with its grants and tokens, which end at once.",
    parameters=Nothing,
    do=delete_recipient,
    result=DeletedRecipient,
    says=lambda one: f"{one.name} is deleted; its tokens no longer work.",
    record=("recipient.delete",),
    verb=Verb(question=lambda one, _: f"Delete {one.name}? Its tokens end at once."),
    call=Call("DELETE", ROUTE, view="Recipient"),
    page=Page(
        f"{ROUTE}/delete",
        back=lambda _: resolve_url("sharing:recipient-list"),
        confirm=lambda one: one.name,
    ),
)
reads.register(
    Read(
        route="recipients",
        view="RecipientList",
        page="sharing:recipient-list",
        shows=RECIPIENTS,
        help="List recipients.",
        role=ADMIN,
    ),
    Read(
        route=ROUTE,
        view="Recipient",
        page="sharing:recipient-detail",
        shows=RecipientDetail,
        help="Get the grants, tokens and activity of a recipient.",
        role=ADMIN,
    ),
    Read(
        route=f"{ROUTE}/usage",
        view="RecipientUse",
        page="sharing:recipient-usage",
        shows=Ledger,
        help="Get how much a recipient has read, by table and month.",
        role=ADMIN,
    ),
    Read(
        route=f"{ROUTE}/seen",
        view="RecipientSeen",
        page="sharing:recipient-seen",
        shows=SeenByRecipient,
        help="Get the answers that a recipient gets now, request by request.",
        role=ADMIN,
    ),
)
