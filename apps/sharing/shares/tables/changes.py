"""What administrators change of the tables of a share: put, add, update, remove."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    ADMIN,
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import OnPage, Spread
from apps.pages.request.changes import Unchanged
from apps.sharing.access.earlier_urls import earlier_urls_text
from apps.sharing.access.grants.plain_cost import plain_cost
from apps.sharing.access.grants.preparing import request_preparation
from apps.sharing.models import Share, SharedTable
from apps.sharing.names import (
    find_share,
    find_shared_table,
    name_key,
    split_full_name,
)
from apps.sharing.shares import terms
from apps.sharing.shares.resources import (
    AddedTable,
    NewTable,
    OfferedHere,
    SharedTableResource,
    TableOffer,
    shared_table_resource,
)
from apps.sharing.shares.tables.cautions import warnings_of
from apps.sharing.shares.tables.sharers import (
    Offer,
    check_may_share,
    check_sharer,
    offer_for,
    readable_for,
    seen_by,
    share_for,
    shared_by_id,
    shared_for,
    shared_of_table,
    table_by,
)
from apps.sharing.shares.terms import Terms
from apps.tables.catalogue.names import find_table
from apps.tables.models import Table
from apps.tables.permissions import SHARE, require

ROUTE: Final = "shares/<str:name>/tables/<str:table>"
PAGE: Final = "shares/<str:name>/tables"
TAB: Final = "t/<str:namespace>/<str:name>/sharing"
IN_TABLE: Final[Mapping[str, str]] = {"name": "share", "table": "schema.table"}


# === Subjects ===


class Place(NamedTuple):
    """The place of a table in a share, which may be free."""

    share: Share
    schema: str
    name: str

    def shared_table(self) -> SharedTable | None:
        """Return the table that is there; None if the place is free."""
        there = self.share.shared_tables.select_related("share", "table").filter(
            schema_key=name_key(self.schema), name_key=name_key(self.name)
        )
        return there.first()


def find_place(name: str, table: str) -> Place:
    """Return a place by a share and `schema.table`."""
    return Place(find_share(name), *split_full_name(table))


def find_in_share(name: str, table: str) -> SharedTable:
    """Return a table of a share by its names."""
    return find_shared_table(find_share(name), table)


def place_for(caller: User, name: str, table: str) -> Place:
    """Return a place in a share, to a caller who may share a table."""
    return Place(share_for(caller, name), *split_full_name(table))


# === Results ===


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTable:
    """A table of a share after a change.

    Attributes:
        is_new: Whether it was put into the share just now.
        urls: How long URLs work that were given out on other terms, in a sentence; ""
            if the terms are the same.
        cost: The cost of plain files, in sentences; "" if files are served as stored.
    """

    resource: Spread[SharedTableResource]
    is_new: OnPage[bool] = False
    urls: OnPage[str] = ""
    cost: OnPage[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedTable:
    """A table that was taken out of a share.

    Attributes:
        table: The registered table.
    """

    share: str
    name: str
    removed: bool = True
    table: OnPage[str]


# === Changes ===


def tab_of(table: Table) -> str:
    """Return the address of the tab *Sharing* of a table."""
    return resolve_url("sharing:table-sharing", table.namespace, table.name)


def put_table(place: Place, new: TableOffer, stamp: Stamp) -> OfferedTable:
    """Put a registered table into a share, or change the part of it that is offered."""
    shared = seen_by(stamp, place.shared_table())
    if not isinstance(new.table, Unchanged):
        registered = table_by(stamp, new.table)
    elif shared is not None:
        registered = shared.table
    else:
        registered = table_by(stamp, f"{place.schema}.{place.name}")
    if shared is not None and shared.table == registered:
        return update_table(shared, new, stamp)
    return _add(place, registered, new, stamp)


def add_table(place: Place, new: NewTable, stamp: Stamp) -> OfferedTable:
    """Put a registered table into a share, under names of its own."""
    return _add(place, find_table(new.table), new, stamp)


def add_by_page(share: Share, new: AddedTable, stamp: Stamp) -> OfferedTable:
    """Put a registered table into a share, by default under the catalogue's names."""
    table = find_table(new.table)
    place = Place(share, new.schema or table.namespace, new.name or table.name)
    return _add(place, table, new.as_stated(), stamp)


def add_here(offer: Offer, new: OfferedHere, stamp: Stamp) -> OfferedTable:
    """Put a table into a share, by default under the names that it has here."""
    table, share = offer
    place = Place(share, new.schema or table.namespace, new.name or table.name)
    return _add(place, table, new.as_stated(), stamp)


def _add(place: Place, table: Table, new: Terms, stamp: Stamp) -> OfferedTable:
    added = terms.add_table(
        place.share,
        table=table,
        schema=place.schema,
        name=place.name,
        terms=new,
        stamp=stamp,
    )
    cost = ""
    if added.plain:
        request_preparation(place.share, now=stamp.at)
        cost = plain_cost([table]).text
    return OfferedTable(resource=shared_table_resource(added), is_new=True, cost=cost)


def update_table(shared: SharedTable, new: Terms, stamp: Stamp) -> OfferedTable:
    """Change the part of a table that is offered."""
    before, was_plain = shared.terms, shared.plain
    terms.update_table(shared, new, stamp=stamp)
    if shared.plain and not was_plain:
        request_preparation(shared.share, now=stamp.at)
    urls = ""
    if (shared.terms, shared.plain) != (before, was_plain):
        urls = earlier_urls_text(shared.earlier_urls_end_at, now=stamp.at)
    return OfferedTable(resource=shared_table_resource(shared), urls=urls)


def remove_table(shared: SharedTable, _: Nothing, stamp: Stamp) -> RemovedTable:
    """Take a table out of a share; the table itself stays registered."""
    terms.remove_table(shared, stamp=stamp)
    return RemovedTable(
        share=shared.share.name,
        name=shared.full_name,
        table=shared.table.full_name,
    )


def _said_added(one: OfferedTable) -> str:
    added = one.resource
    return (
        f"Added {added.name} to {added.share}: the table {added.table}, "
        f"{added.versions}. {one.cost}"
    ).strip()


_OFFERS: Final = terms.OFFER_RECORDS
PLACE: Final = Subject(
    noun="shared-table",
    role=VIEWER,
    scope="share",
    find=find_place,
    may=lambda caller, _: check_sharer(caller),
)
NAMED_PLACE: Final = replace(PLACE, noun="share", metavars=IN_TABLE)
TABLES: Final = Subject(noun="shared-table", role=ADMIN, scope="share", find=find_share)
OFFER: Final = Subject(
    noun="shared-table",
    role=VIEWER,
    scope="share",
    find=offer_for,
    may=lambda caller, offer: require(caller, SHARE, offer.table),
)
SHARED_TABLE: Final = Subject(
    noun="shared-table",
    role=VIEWER,
    scope="share",
    find=find_in_share,
    may=check_may_share,
)
NAMED_TABLE: Final = replace(SHARED_TABLE, noun="share", metavars=IN_TABLE)
PUT: Final = Change(
    of=PLACE,
    name="put",
    help="Add a table to a share, or change how it is shared.",
    more=(
        "To share another registered table under the same name, remove the shared "
        "table first."
    ),
    parameters=TableOffer,
    do=put_table,
    result=OfferedTable,
    says=_said_added,
    record=("share.add_table", *_OFFERS),
    call=Call(
        "PUT",
        ROUTE,
        view="SharedTable",
        is_new=lambda one: one.is_new,
        find=place_for,
    ),
)
ADD: Final = Change(
    of=NAMED_PLACE,
    name="add-table",
    help="Put a table into a share.",
    parameters=NewTable,
    do=add_table,
    result=OfferedTable,
    says=_said_added,
    record=("share.add_table",),
    verb=Verb(
        warns=lambda place, one: warnings_of(
            find_table(one.resource.table),
            is_plain=one.resource.plain or place.share.plain,
        )
    ),
)
ADD_BY_PAGE: Final = Change(
    of=TABLES,
    name="add",
    help="Put a table into a share.",
    parameters=AddedTable,
    do=add_by_page,
    result=OfferedTable,
    says=lambda one: (
        f"{one.resource.table} is in {one.resource.share} as {one.resource.name}. "
        f"{one.cost}"
    ).strip(),
    record=("share.add_table",),
    page=Page(f"{PAGE}/add", back=resolve_url),
)
ADD_HERE: Final = Change(
    of=OFFER,
    name="add-here",
    help="Put a table into a share.",
    parameters=OfferedHere,
    do=add_here,
    result=OfferedTable,
    says=ADD_BY_PAGE.says,
    record=("share.add_table",),
    page=Page(f"{TAB}/add", back=lambda offer: tab_of(offer.table), name="table-share"),
)
UPDATE: Final = Change(
    of=SHARED_TABLE,
    name="update",
    help="Change how a table is shared.",
    parameters=Terms,
    do=update_table,
    result=OfferedTable,
    says=lambda one: f"{one.resource.name} is changed. {one.urls}".strip(),
    record=_OFFERS,
    page=(
        Page(
            f"{PAGE}/<uuid:table_id>/update",
            back=lambda shared: resolve_url(shared.share),
            find=shared_by_id,
        ),
        Page(
            f"{TAB}/<uuid:table_id>/update",
            back=lambda shared: tab_of(shared.table),
            name="table-share-update",
            find=shared_of_table,
        ),
    ),
)
REMOVE: Final = Change(
    of=NAMED_TABLE,
    name="remove-table",
    help="Remove a table from a share; it stays registered.",
    parameters=Nothing,
    do=remove_table,
    result=RemovedTable,
    says=lambda one: (
        f"{one.name} is no longer in {one.share}; the table {one.table} stays "
        "registered."
    ),
    record=("share.remove_table",),
    verb=Verb(
        question=lambda shared, _: (
            f"Remove {shared.full_name} from {shared.share.name}?"
        )
    ),
    call=Call("DELETE", ROUTE, view="SharedTable", find=shared_for),
    page=(
        Page(
            f"{PAGE}/<uuid:table_id>/remove",
            back=lambda shared: resolve_url(shared.share),
            name="shared-table-remove",
            find=shared_by_id,
        ),
        Page(
            f"{TAB}/<uuid:table_id>/remove",
            back=lambda shared: tab_of(shared.table),
            name="table-share-remove",
            find=shared_of_table,
        ),
    ),
)
reads.register(
    Read(
        route=ROUTE,
        view="SharedTable",
        finds=lambda caller, name, table: shared_table_resource(
            readable_for(caller, name, table)
        ),
        shows=SharedTableResource,
        help="Get a shared table.",
        role=VIEWER,
    ),
)
