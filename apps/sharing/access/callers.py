"""Who a caller is, and what it may read."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Min, Q, QuerySet

from apps.accounts.tokens import sha256
from apps.pages.request.lock_waits import write_note
from apps.sharing.access.networks import is_allowed
from apps.sharing.access.schemas import resolve_schemas
from apps.sharing.access.withdrawals import IN_ITS_SCHEMA, LISTED
from apps.sharing.errors import (
    AddressNotAllowedError,
    NotGrantedError,
    TokenExpiredError,
    TokenRevokedError,
    TokenUnknownError,
)
from apps.sharing.models import Recipient, RecipientToken, Share, SharedTable
from apps.sharing.names import is_storable, name_key

USE_INTERVAL: Final = timedelta(seconds=10)  # between two writes of a token's last use
_MAX_NOTED: Final = 10_000  # tokens that this process remembers

_noted: dict[UUID, datetime] = {}  # when a note was last tried, by token

# === Coming in ===


def authenticate(secret: str, *, now: datetime) -> RecipientToken:
    """Return the bearer token that a secret is, with its recipient, in one query."""
    token = bearer_token(secret)
    check_live(token, now=now)
    return token


def bearer_token(secret: str) -> RecipientToken:
    """Return the token that a secret is, whether it is good or has ended.

    The secret of an OAuth client opens nothing but the token endpoint.
    """
    bearers = RecipientToken.all_tokens.bearers().select_related("recipient")
    token = bearers.filter(token_sha256=sha256(secret)).first()
    if token is None:
        raise TokenUnknownError
    return token


def check_live(token: RecipientToken, *, now: datetime) -> None:
    """Refuse a token that has ended."""
    if token.revoked_at is not None:
        raise TokenRevokedError
    if token.ends_at <= now:
        raise TokenExpiredError(ended_at=token.ends_at)


def check_address(recipient: Recipient, address: str) -> None:
    """Refuse an address that is not on the recipient's allow list."""
    if not is_allowed(recipient, address):
        raise AddressNotAllowedError(address=address)


def note_use(
    token: RecipientToken, *, address: str, user_agent: str, now: datetime
) -> None:
    """Remember when, from where and by what a token was used.

    Written at most every `USE_INTERVAL`; a database that is busy costs a request a
    moment and the note, never the answer.
    """
    if _is_fresh(token.last_used_at, now) or _is_fresh(_noted.get(token.id), now):
        return
    if len(_noted) >= _MAX_NOTED:
        forget_notes()
    _noted[token.id] = now
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_INTERVAL)
    known = RecipientToken.objects.filter(stale, id=token.id)
    write_note(
        lambda: known.update(
            last_used_at=now,
            last_used_from=address[:64],
            last_used_agent=user_agent[:300],
        ),
        of=f"The last use of {token.prefix}",
    )


def forget_notes() -> None:
    """Forget when this process last noted a use."""
    _noted.clear()


def _is_fresh(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment > now - USE_INTERVAL


# === What may be read ===


def granted_shares(recipient: Recipient) -> QuerySet[Share]:
    """Return the shares of a recipient that are on, by name."""
    granted = Share.objects.filter(grants__recipient=recipient, off_since__isnull=True)
    return granted.order_by("name_key")


def granted_share(recipient: Recipient, name: str) -> Share:
    """Return a share of a recipient, whatever the capitals of `name`."""
    if is_storable(name):
        shares = granted_shares(recipient).filter(name_key=name_key(name))
        if share := shares.first():
            return share
    raise NotGrantedError(kind="share", name=name)


def granted_schemas(
    recipient: Recipient, share_name: str
) -> "QuerySet[SharedTable, Any]":
    """Return (`schema_key`, `schema_name`) of a granted share's schemas, by key."""
    share = granted_share(recipient, share_name)
    resolve_schemas(share)
    return (
        SharedTable.objects.filter(LISTED, share=share)
        .order_by("schema_key")
        .values("schema_key")
        .annotate(schema_name=Min("schema"))
        .values_list("schema_key", "schema_name", named=True)
    )


def granted_tables(
    recipient: Recipient, share_name: str, schema_name: str | None = None
) -> QuerySet[SharedTable]:
    """Return the tables of a granted share, or of one of its schemas, by name."""
    share = granted_share(recipient, share_name)
    resolve_schemas(share)
    tables = SharedTable.objects.filter(LISTED, share=share)
    tables = tables.select_related("share", "table")
    tables = tables.order_by("schema_key", "name_key")
    if schema_name is None:
        return tables
    if is_storable(schema_name):
        tables = tables.filter(schema_key=name_key(schema_name))
        if tables.exists():
            return tables
    raise NotGrantedError(kind="schema", name=f"{share_name}/{schema_name}")


def granted_table(
    recipient: Recipient, share_name: str, schema_name: str, table_name: str
) -> SharedTable:
    """Return a table that a recipient may read, with its share and registration."""
    names = (share_name, schema_name, table_name)
    if all(is_storable(name) for name in names):
        found = SharedTable.objects.select_related("share", "table").filter(
            IN_ITS_SCHEMA,
            share__name_key=name_key(share_name),
            schema_key=name_key(schema_name),
            name_key=name_key(table_name),
            share__grants__recipient=recipient,
            share__off_since__isnull=True,
        )
        table = found.first()
        if table is None:  # perhaps it came since somebody last looked
            resolve_schemas(granted_share(recipient, share_name))
            table = found.first()
        if table is not None:
            return table
    raise NotGrantedError(kind="table", name="/".join(names))
