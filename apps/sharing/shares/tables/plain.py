"""Plain files for all tables of a share, or for all that a recipient reads."""

from dataclasses import dataclass
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
from apps.sharing.access.grants.plain_cost import cost_of
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.models import Recipient, Share
from apps.sharing.portal.switches import RECIPIENT, SHARE


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


def _set(thing: Share | Recipient, stamp: Stamp, *, plain: bool) -> PlainServing:
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
    )


def _said_of_share(one: PlainServing) -> str:
    if not one.plain:
        return f"The tables of {one.name} are served as they are stored."
    return f"The tables of {one.name} are served as plain files. {one.cost}".strip()


def _said_of_recipient(one: PlainServing) -> str:
    if not one.plain:
        return f"{one.name} is served files as they are stored."
    return f"{one.name} is served plain files. {one.cost}".strip()


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
