"""Lists of what a recipient may read, a page at a time.

A page begins after a name, not at a number: what is added or taken away meanwhile
neither repeats nor skips anything else.

Source: delta_sharing_protocol.md, "List Shares" to "List all Tables in a Share".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

from apps.sharing.access import callers as access
from apps.sharing.access.directories import directory_of
from apps.sharing.models import Recipient, Share, SharedTable
from apps.sharing.names import name_key
from deltaweb.sharing.page_token import PageScope, decode_page_token, encode_page_token
from deltaweb.sharing.parameters import MAX_PAGE_LENGTH
from deltaweb.sharing.wire.lines import TableFacts

Item = dict[str, object]
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """Which page of a list is asked for.

    Attributes:
        max_results: How many items it may have.
        page_token: Where it begins; "" for the first page.
        parameter: The member of an answer that has the next token, for messages; ""
            for the name that the sharing protocol gives it.
    """

    keys: Sequence[bytes]
    max_results: int = MAX_PAGE_LENGTH
    page_token: str = ""
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Some items of a list, and where the next page begins, if there is one."""

    items: list[Item]
    next_page_token: str | None

    def body(self) -> dict[str, object]:
        """Return the body of the answer; the last page has no token at all."""
        body: dict[str, object] = {"items": self.items}
        if self.next_page_token is not None:
            body["nextPageToken"] = self.next_page_token
        return body


def share_item(share: Share) -> Item:
    """Return a share as a list shows it."""
    return {"name": share.name, "id": str(share.id)}


def table_item(table: SharedTable, recipient: Recipient) -> Item:
    """Return a table as a list shows it to a recipient."""
    location = directory_of(table, recipient)
    modes = {} if location is None else TableFacts(location=location).access()
    return {
        "name": table.name,
        "schema": table.schema,
        "share": table.share.name,
        "shareId": str(table.share_id),
        "id": str(table.id),
        **modes,
    }


def list_shares(recipient: Recipient, *, asked: PageRequest) -> Page:
    """Return a page of the recipient's shares, by name."""
    return _page(
        access.granted_shares(recipient),
        asked,
        PageScope("shares", str(recipient.id)),
        order=("name_key",),
        item=share_item,
    )


def list_schemas(recipient: Recipient, share: Share, *, asked: PageRequest) -> Page:
    """Return a page of the schemas of a granted share, by name."""
    return _page(
        access.granted_schemas(recipient, share.name),
        asked,
        PageScope("schemas", str(recipient.id), (share.name_key,)),
        order=("schema_key",),
        item=lambda schema: {"name": schema.schema_name, "share": share.name},
    )


def list_tables(
    recipient: Recipient, share: Share, schema: str, *, asked: PageRequest
) -> Page:
    """Return a page of the tables of a schema of a granted share, by name."""
    names = (share.name_key, name_key(schema))
    return _page(
        access.granted_tables(recipient, share.name, schema),
        asked,
        PageScope("tables", str(recipient.id), names),
        order=("name_key",),
        item=partial(table_item, recipient=recipient),
    )


def list_all_tables(recipient: Recipient, share: Share, *, asked: PageRequest) -> Page:
    """Return a page of all tables of a granted share, by schema and name."""
    return _page(
        access.granted_tables(recipient, share.name),
        asked,
        PageScope("all-tables", str(recipient.id), (share.name_key,)),
        order=("schema_key", "name_key"),
        item=partial(table_item, recipient=recipient),
    )


def _page(
    rows: "QuerySet[Any, Row]",
    asked: PageRequest,
    scope: PageScope,
    *,
    order: Sequence[str],
    item: Callable[[Row], Item],
) -> Page:
    """Return the page that is asked for, of rows by the columns of `order`."""
    last: tuple[str, ...] = ()
    if asked.page_token:
        named = replace(scope, given_as=asked.parameter)
        last = decode_page_token(asked.page_token, named, keys=asked.keys)
    if last:
        after = Q()
        for place, column in enumerate(order):
            alike = dict(zip(order[:place], last, strict=False))
            after |= Q(**alike, **{f"{column}__gt": last[place]})
        rows = rows.filter(after)
    found = list(rows[: asked.max_results + 1])
    given = found[: asked.max_results]
    if len(found) == len(given):
        return Page([item(row) for row in given], None)
    if given:
        last = tuple(getattr(given[-1], column) for column in order)
    token = encode_page_token(last, scope, keys=asked.keys)
    return Page([item(row) for row in given], token)
