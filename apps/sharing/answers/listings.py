"""Lists of what a recipient may read, a page at a time.

A page begins after a name, not at a number: what is added or taken away meanwhile
neither repeats nor skips anything else.

Source: delta_sharing_protocol.md, "List Shares" to "List all Tables in a Share".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Q, QuerySet

from apps.sharing.models import Recipient, Share, SharedTable
from apps.sharing.names import name_key
from apps.sharing.selectors import access
from deltaweb.sharing.page_token import (
    PageScope,
    decode_page_token,
    encode_page_token,
)
from deltaweb.sharing.parameters import MAX_PAGE_LENGTH

Item = dict[str, str]
Key = tuple[str, ...]
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """Which page of a list is asked for.

    Attributes:
        keys: The keys that page tokens are signed with.
        max_results: How many items it may have.
        page_token: Where it begins; "" for the first page.
    """

    keys: Sequence[bytes]
    max_results: int = MAX_PAGE_LENGTH
    page_token: str = ""


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


def table_item(table: SharedTable) -> Item:
    """Return a table as a list shows it."""
    return {
        "name": table.name,
        "schema": table.schema,
        "share": table.share.name,
        "shareId": str(table.share_id),
        "id": str(table.id),
    }


def list_shares(recipient: Recipient, *, asked: PageRequest) -> Page:
    """Return a page of the recipient's shares, by name.

    Raises:
        ParameterInvalidError: If the page token is none of this list's.
    """
    return _page(
        access.granted_shares(recipient),
        asked,
        PageScope("shares", str(recipient.id)),
        after=lambda key: Q(name_key__gt=key[0]),
        key=lambda share: (share.name_key,),
        item=share_item,
    )


def list_schemas(recipient: Recipient, share: Share, *, asked: PageRequest) -> Page:
    """Return a page of the schemas of a granted share, by name.

    Raises:
        ParameterInvalidError: If the page token is none of this list's.
    """
    return _page(
        access.granted_schemas(recipient, share.name),
        asked,
        PageScope("schemas", str(recipient.id), (share.name_key,)),
        after=lambda key: Q(schema_key__gt=key[0]),
        key=lambda schema: (schema[0],),
        item=lambda schema: {"name": schema[1], "share": share.name},
    )


def list_tables(
    recipient: Recipient, share: Share, schema: str, *, asked: PageRequest
) -> Page:
    """Return a page of the tables of a schema of a granted share, by name.

    Raises:
        NotGrantedError: If there is no such schema for the recipient.
        ParameterInvalidError: If the page token is none of this list's.
    """
    names = (share.name_key, name_key(schema))
    return _page(
        access.granted_tables(recipient, share.name, schema),
        asked,
        PageScope("tables", str(recipient.id), names),
        after=lambda key: Q(name_key__gt=key[0]),
        key=lambda table: (table.name_key,),
        item=table_item,
    )


def list_all_tables(recipient: Recipient, share: Share, *, asked: PageRequest) -> Page:
    """Return a page of all tables of a granted share, by schema and name.

    Raises:
        ParameterInvalidError: If the page token is none of this list's.
    """
    return _page(
        access.granted_tables(recipient, share.name),
        asked,
        PageScope("all-tables", str(recipient.id), (share.name_key,)),
        after=_after_table,
        key=lambda table: (table.schema_key, table.name_key),
        item=table_item,
    )


def _after_table(key: Key) -> Q:
    schema_key, table_key = key
    return Q(schema_key__gt=schema_key) | Q(
        schema_key=schema_key, name_key__gt=table_key
    )


def _page(  # noqa: PLR0913 (what lists differ in)
    rows: "QuerySet[Any, Row]",
    asked: PageRequest,
    scope: PageScope,
    *,
    after: Callable[[Key], Q],
    key: Callable[[Row], Key],
    item: Callable[[Row], Item],
) -> Page:
    """Return the page that is asked for, of rows that are ordered by `key`."""
    last: Key = ()
    if asked.page_token:
        last = decode_page_token(asked.page_token, scope, keys=asked.keys)
    if last:
        rows = rows.filter(after(last))
    found = list(rows[: asked.max_results + 1])
    given = found[: asked.max_results]
    if len(found) == len(given):
        return Page([item(row) for row in given], None)
    if given:
        last = key(given[-1])
    token = encode_page_token(last, scope, keys=asked.keys)
    return Page([item(row) for row in given], token)
