"""Shares that people with an account find and request, and what an approval gives.

A share has no right of its own. A person who requests it wants to view its tables. So
the approval gives the right to view each table of which the share offers every row,
column and version. Other tables are left out, because the right shows a whole table.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.shortcuts import resolve_url

from apps.accounts.models import Group, User
from apps.pages.actions import Stamp
from apps.pages.changes.change import Call, Page
from apps.sharing.access.withdrawals import offer_state, with_parts
from apps.sharing.errors import ShareNotFoundError
from apps.sharing.models import Share, SharedTable
from apps.sharing.names import find_share
from apps.tables.access.giving import give
from apps.tables.access.place import Place, Target
from apps.tables.access.requesting import NEW, REQUEST, own_list, request_page_of
from apps.tables.errors import NothingToGiveError
from apps.tables.extension.requestables import SEPARATOR, Requestable
from apps.tables.models import Table
from apps.tables.models.grants import MAX_REASON_LENGTH
from apps.tables.models.rights import VIEW
from deltaweb.words import counted

KIND: Final = "share"
NAMED_IN_ALL: Final = 5


def key_of(share: Share) -> str:
    """Return the key by which a request stores a share."""
    return f"{KIND}{SEPARATOR}{share.id}"


def requestable_share(share: Share) -> Requestable:
    """Return a share as something that can be requested."""

    def give_all(
        holder: User | Group, until: datetime | None, reason: str, stamp: Stamp
    ) -> None:
        _give(share, holder, until, reason, stamp)

    return Requestable(
        noun=KIND,
        key=key_of(share),
        name=f"{KIND}{SEPARATOR}{share.name}",
        about=share.description,
        owner_name=share.created_by.username if share.created_by else None,
        is_listed=share.is_listed,
        request_url=resolve_url("sharing:request-share", share.name),
        access_url=resolve_url(share),
        has=lambda user, now: _is_viewed(share, user, now),
        give=give_all,
        share=share.name,
    )


def listed_share(caller: User, name: str) -> Requestable:
    """Return a share that is listed. Administrators see every share.

    Raises:
        ShareNotFoundError: For any other share, as if it did not exist.
    """
    share = find_share(name)
    if share.is_listed or caller.is_admin:
        return requestable_share(share)
    raise ShareNotFoundError(name=name)


def share_of_caller(caller: User, name: str) -> tuple[Target, User]:
    """Return a share that the caller finds, and the caller."""
    return listed_share(caller, name), caller


def listed_shares(user: User, text: str) -> QuerySet[Share]:
    """Return the listed shares with a text; none for administrators, who see all."""
    listed = Share.objects.filter(is_listed=True).select_related("created_by")
    if user.is_admin:
        return listed.none()
    if text:
        listed = listed.filter(Q(name__icontains=text) | Q(description__icontains=text))
    return listed.order_by("name_key")


def shares_of_keys(keys: Collection[str]) -> Mapping[str, Requestable]:
    """Return those of some shares that exist, by the keys of requests."""
    ids = [one.partition(SEPARATOR)[2] for one in keys]
    found = Share.objects.filter(id__in=ids).select_related("created_by")
    return {key_of(one): requestable_share(one) for one in found}


def what_approval_gives(share: Share) -> str:
    """Return what the approval of a request gives, in a sentence."""
    whole, num_parts = _offered(share)
    names = [one.full_name for one in whole[:NAMED_IN_ALL]]
    more = len(whole) - len(names)
    listed = ", ".join(names) + (f" and {more} more" if more else "")
    gives = f"An approval gives the right to view {listed}." if whole else ""
    if not whole:
        gives = "An approval is not possible: no table is offered whole."
    if num_parts:
        parts = f"{counted(num_parts, 'table')} of which the share offers a part"
        gives += f" It does not include {parts}."
    return gives


def _offered(share: Share) -> tuple[list[Table], int]:
    """Return the tables that are offered whole, and the number of the others."""
    rows = with_parts(share.shared_tables.select_related("table", "from_schema"))
    active = [one for one in rows if not offer_state(one).is_withdrawn]
    whole = {one.table_id: one.table for one in active if _is_all(one)}
    parts = {one.table_id for one in active} - whole.keys()
    return list(whole.values()), len(parts)


def _is_all(shared: SharedTable) -> bool:
    """Whether every row, column and version of a table is offered."""
    is_from_start = shared.history_start is not None and not shared.has_start
    return shared.is_whole and is_from_start


def _is_viewed(share: Share, user: User, now: datetime) -> bool:
    """Whether a user can view all that an approval would give."""
    ids = {one.id for one in _offered(share)[0]}
    seen = Table.objects.visible_to(user, now=now).filter(id__in=ids)
    return bool(ids) and seen.count() == len(ids)


def _give(
    share: Share,
    holder: User | Group,
    until: datetime | None,
    reason: str,
    stamp: Stamp,
) -> None:
    name = f"{KIND}{SEPARATOR}{share.name}"
    whole, _ = _offered(share)
    if share.off_since is not None:
        raise NothingToGiveError(name=name, reason="the share is off")
    if not whole:
        raise NothingToGiveError(name=name, reason="no table is offered whole")
    why = f"{name}: {reason}"[:MAX_REASON_LENGTH]
    for table in whole:
        give(Place(table), holder, VIEW, until=until, reason=why, stamp=stamp)


REQUEST_SHARE: Final = replace(
    REQUEST,
    of=replace(NEW, noun="share-request"),
    name="new",
    help="Request access to the tables of a share.",
    verb=None,
    call=Call(
        "POST",
        "shares/<str:name>/requests",
        view="ShareRequests",
        find=share_of_caller,
    ),
    page=Page(
        "shares/<str:name>/request",
        back=request_page_of,
        then=own_list,
        name="request-share",
        find=share_of_caller,
    ),
)
