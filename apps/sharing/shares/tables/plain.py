"""Plain files for all tables of a share, or for all that a recipient reads."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.shortcuts import resolve_url

from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Verb,
    opposite,
)
from apps.pages.page_json import OnPage
from apps.sharing.access.earlier_urls import (
    earlier_urls_text,
    later_end,
    longest_lifetime,
    url_lifetime,
)
from apps.sharing.access.grants.plain_cost import cost_of
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.models import Recipient, Share, SharedTable
from apps.sharing.portal.switches import RECIPIENT, SHARE

TABLES_A_STATEMENT: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainServing:
    """Whether a share or a recipient is served plain files.

    Attributes:
        plain: Whether it is set here. Without it, a table is served as plain files if
            that is set for the table, its share or the recipient.
        num_files: The number of files of its tables.
        num_copies: The number of these that need a copy.
        copied_bytes: The size of these files.
    """

    name: str
    plain: bool
    num_files: int
    num_copies: int
    copied_bytes: int
    cost: OnPage[str]
    urls: OnPage[str]


def _set(thing: Share | Recipient, stamp: Stamp, *, plain: bool) -> PlainServing:
    urls = ""
    if thing.plain != plain:
        ends_at = _end_earlier_urls(thing, at=stamp.at)
        urls = "" if ends_at is None else earlier_urls_text(ends_at, now=stamp.at)
    thing.plain = plain
    thing.save(update_fields=["plain"])
    if plain:
        shares = [thing] if isinstance(thing, Share) else thing.shares.all()
        for share in shares:
            request_preparation(share, now=stamp.at)
    cost = cost_of(thing)
    return PlainServing(
        name=thing.name,
        plain=plain,
        num_files=cost.num_files,
        num_copies=cost.num_copies,
        copied_bytes=cost.copied_bytes,
        cost=cost.text,
        urls=urls,
    )


def _end_earlier_urls(thing: Share | Recipient, *, at: datetime) -> datetime | None:
    """Note until when URLs open that were issued before the form of files changes.

    Returns:
        The time; None if this server serves all of the files.
    """
    if isinstance(thing, Share):
        tables = list(thing.shared_tables.select_related("share", "table"))
        for one in tables:
            known, lifetime = one.earlier_urls_end_at, longest_lifetime(one)
            one.earlier_urls_end_at = later_end(known, [lifetime], at=at)
        SharedTable.objects.bulk_update(
            tables, ["earlier_urls_end_at"], batch_size=TABLES_A_STATEMENT
        )
        ends = [one.earlier_urls_end_at for one in tables]
        return max((one for one in ends if one is not None), default=None)
    found = SharedTable.objects.filter(share__grants__recipient=thing)
    lifetimes = [
        url_lifetime(one, is_whole=rule_for(one, thing).is_whole)
        for one in found.select_related("share", "table")
    ]
    thing.earlier_urls_end_at = later_end(thing.earlier_urls_end_at, lifetimes, at=at)
    thing.save(update_fields=["earlier_urls_end_at"])
    return thing.earlier_urls_end_at


def _said_of_share(one: PlainServing) -> str:
    if not one.plain:
        text = f"The tables of {one.name} are served as they are stored."
        return f"{text} {one.urls}".strip()
    text = f"The tables of {one.name} are served as plain files. {one.cost}"
    return f"{text.strip()} {one.urls}".strip()


def _said_of_recipient(one: PlainServing) -> str:
    if not one.plain:
        return f"{one.name} is served files as they are stored. {one.urls}".strip()
    text = f"{one.name} is served plain files. {one.cost}"
    return f"{text.strip()} {one.urls}".strip()


SHARE_PLAIN: Final = Change(
    of=SHARE,
    name="plain",
    help="Serve all tables of a share as plain files, which simple clients read.",
    more="Files with deletion vectors, other column names or older types are copied.",
    parameters=Nothing,
    do=lambda share, _, stamp: _set(share, stamp, plain=True),
    result=PlainServing,
    says=_said_of_share,
    record=Record("share.all_plain"),
    verb=Verb(),
    call=Call("PUT", "shares/<str:name>/plain", view="PlainShare", status=200),
    page=Page(
        "shares/<str:name>/plain",
        back=lambda share: resolve_url("sharing:share-settings", share.name),
    ),
)
SHARE_STORED: Final = opposite(
    SHARE_PLAIN,
    lambda share, stamp: _set(share, stamp, plain=False),
    help="Serve the tables of a share as they are stored.",
    more="A table that is plain by itself, or for a recipient, stays plain.",
    record="share.all_stored",
    flag="--stored",
)
RECIPIENT_PLAIN: Final = Change(
    of=RECIPIENT,
    name="plain",
    help="Serve plain files to a recipient, whose client reads nothing else.",
    more=SHARE_PLAIN.more,
    parameters=Nothing,
    do=lambda recipient, _, stamp: _set(recipient, stamp, plain=True),
    result=PlainServing,
    says=_said_of_recipient,
    record=Record("recipient.all_plain"),
    verb=Verb(),
    call=Call("PUT", "recipients/<str:name>/plain", view="PlainRecipient", status=200),
    page=Page(
        "recipients/<str:name>/plain",
        back=lambda one: resolve_url("sharing:recipient-settings", one.name),
    ),
)
RECIPIENT_STORED: Final = opposite(
    RECIPIENT_PLAIN,
    lambda recipient, stamp: _set(recipient, stamp, plain=False),
    help="Serve files to a recipient as they are stored.",
    more="A table that is plain for every recipient stays plain.",
    record="recipient.all_stored",
    flag="--stored",
)
