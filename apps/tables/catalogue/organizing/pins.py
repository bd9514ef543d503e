"""The tables that somebody keeps at hand: pinned ones, and those viewed last."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from apps.accounts.models import User
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Record,
    Subject,
)
from apps.pages.request.lock_waits import write_note
from apps.tables.head.finding import get_table
from apps.tables.models import Table
from apps.tables.models.uses import TableUse

MAX_PINNED: Final = 50
MAX_RECENT: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAtHand:
    """A table that somebody keeps at hand.

    Attributes:
        name: Its full name.
        version: The newest indexed version; null before the first index.
    """

    name: str
    url: str
    version: int | None
    committed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTable:
    """A table, and whether it is pinned now."""

    table: str
    pinned: bool


def pinned_tables(user: User | AnonymousUser) -> list[TableAtHand]:
    """Return the pinned tables that a user may still see, by name."""
    found = TableUse.objects.seen_by(user).filter(pinned_at__isnull=False)
    return _at_hand(found.order_by("table__namespace", "table__name")[:MAX_PINNED])


def recent_tables(user: User | AnonymousUser) -> list[TableAtHand]:
    """Return the tables that a user viewed last, without pinned ones."""
    found = TableUse.objects.seen_by(user).filter(
        pinned_at=None, viewed_at__isnull=False
    )
    return _at_hand(found.order_by("-viewed_at")[:MAX_RECENT])


def visit(user: User, table: Table, *, now: datetime) -> bool:
    """Note that a user opened a page of a table; return whether it is pinned."""
    found = TableUse.objects.filter(user=user, table=table)
    use = found.first()
    if use is None or not use.is_noted(now):
        first = [TableUse(user=user, table=table, viewed_at=now)]
        write_note(
            lambda: (
                found.update(viewed_at=now)
                if use
                else TableUse.objects.bulk_create(first, ignore_conflicts=True)
            ),
            of=f"A visit of {user.username}",
        )
    return use is not None and use.pinned_at is not None


def pin_table(kept: tuple[User, Table], _: Nothing, stamp: Stamp) -> PinnedTable:
    """Show a table on the dashboard of its user."""
    user, table = kept
    use, _new = TableUse.objects.get_or_create(user=user, table=table)
    if use.pinned_at is None:
        use.pinned_at = stamp.at
        use.save(update_fields=["pinned_at"])
    return PinnedTable(table=table.full_name, pinned=True)


def unpin_table(kept: tuple[User, Table], _: Nothing, stamp: Stamp) -> PinnedTable:
    """Take a table off the dashboard of its user."""
    del stamp
    user, table = kept
    TableUse.objects.filter(user=user, table=table).update(pinned_at=None)
    return PinnedTable(table=table.full_name, pinned=False)


def _at_hand(uses: QuerySet[TableUse]) -> list[TableAtHand]:
    return [
        TableAtHand(
            name=one.table.full_name,
            url=one.table.get_absolute_url(),
            version=one.table.version,
            committed_at=one.table.committed_at,
        )
        for one in uses.select_related("table").defer("table__summary")
    ]


def _kept(caller: User, namespace: str, name: str) -> tuple[User, Table]:
    """Return a user and a table that they may see."""
    return caller, get_table(caller, namespace, name)


def _page_of(kept: tuple[User, Table]) -> str:
    return kept[1].get_absolute_url()


def _about(kept: tuple[User, Table]) -> dict[str, object]:
    return {"table": kept[1].full_name, "table_id": kept[1].id}


OF_ONESELF: Final = "me/pins/<str:namespace>/<str:name>"
PINS: Final = Subject(noun="pin", role=VIEWER, scope="write", find=_kept, about=_about)
PIN: Final = Change(
    of=PINS,
    name="add",
    help="Pin a table to your dashboard.",
    parameters=Nothing,
    do=pin_table,
    result=PinnedTable,
    says=lambda one: f"{one.table} is pinned to your dashboard.",
    record=Record("table.pin"),
    call=Call("PUT", OF_ONESELF, view="Pin"),
    page=Page("t/<str:namespace>/<str:name>/pin", back=_page_of),
)
UNPIN: Final = Change(
    of=PINS,
    name="remove",
    help="Unpin a table from your dashboard.",
    parameters=Nothing,
    do=unpin_table,
    result=PinnedTable,
    says=lambda one: f"{one.table} is not pinned any more.",
    record=Record("table.unpin"),
    call=Call("DELETE", OF_ONESELF, view="Pin"),
    page=Page("t/<str:namespace>/<str:name>/unpin", back=_page_of),
)
