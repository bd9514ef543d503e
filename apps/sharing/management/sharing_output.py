"""How the `share` and `recipient` commands answer: JSON documents and lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from deltaweb.web.pages.page_json import Spread
from deltaweb.web.sharing.activity.usage import calls
from deltaweb.web.sharing.activity.use_resource import UseResource, use_resource
from deltaweb.web.sharing.issuing.token_rows import TokenResource, token_rows
from deltaweb.web.sharing.models import Recipient, RecipientToken, Share
from deltaweb.web.sharing.recipients.listing import RecipientResource, recipient_rows
from deltaweb.web.sharing.shares.resources import (
    SharedTableResource,
    ShareResource,
    resource_of_share,
    shared_table_resource,
)
from deltaweb.web.tables.management.text_output import facts, listed, time_text

WHOLE_HISTORY: Final = "whole history"

# === Shares ===


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownShare:
    """A share with its tables, and how much they are read."""

    share: Spread[ShareResource]
    tables: list[SharedTableResource]
    use: UseResource


def shown_share(share: Share, *, now: datetime) -> ShownShare:
    """Return a share as `share show` says it."""
    tables = share.shared_tables.select_related("table", "share")
    return ShownShare(
        share=resource_of_share(share),
        tables=[shared_table_resource(table) for table in tables],
        use=use_resource(calls(share=share.name), now=now),
    )


SHARE_COLUMNS: Final[Mapping[str, str | Callable[[ShareResource], object]]] = {
    "NAME": "name",
    "TABLES": "num_tables",
    "RECIPIENTS": "recipients",
    "COMMENT": "comment",
}


def share_text(shown: ShownShare) -> str:
    """Return what a share is, for people."""
    share = shown.share
    return facts(
        [
            ("name", share.name),
            ("comment", share.comment or "none"),
            ("created", time_text(share.created_at)),
            ("recipients", ", ".join(share.recipients) or "none"),
            _use_text(shown.use),
        ]
    )


def shared_table_lines(tables: Sequence[SharedTableResource]) -> Iterator[str]:
    """Yield a line a table of a share."""
    if not tables:
        yield "No tables yet: share add-table SHARE SCHEMA.TABLE --table NAME"
        return
    yield ""
    yield from listed(
        tables,
        {
            "TABLE": "name",
            "REGISTERED AS": "table",
            "HISTORY": history_text,
            "ONLY FILES OF": "partition_filter",
        },
    )


def history_text(table: SharedTableResource) -> str:
    """Say how much history of a table is shared."""
    if not table.with_history:
        return "newest version only"
    start = table.start_version
    return WHOLE_HISTORY if start is None else f"from version {start}"


def _use_text(use: UseResource) -> tuple[str, str]:
    """Return a name and what it says of how much was read, for people."""
    refused = f", {use.num_refused:,} refused" if use.num_refused else ""
    text = f"{use.num_requests:,}{refused}; {use.size_bytes:,} bytes offered"
    return f"requests in {use.num_days} days", text


# === Recipients ===


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRecipient:
    """A recipient with its tokens."""

    recipient: Spread[RecipientResource]
    tokens: list[TokenResource]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRecipient:
    """A recipient with its tokens, and how much it reads."""

    listed: Spread[ListedRecipient]
    use: UseResource


def listed_recipients(*, now: datetime) -> list[ListedRecipient]:
    """Return every recipient by name, with its tokens."""
    found = recipient_rows(Recipient.objects.prefetch_related("tokens"), now=now)
    return [_listed(row.recipient, row.resource, now) for row in found]


def listed_recipient(recipient: Recipient, *, now: datetime) -> ListedRecipient:
    """Return one recipient as it is now, with its tokens."""
    (row,) = recipient_rows(Recipient.objects.filter(id=recipient.id), now=now)
    return _listed(row.recipient, row.resource, now)


def shown_recipient(recipient: Recipient, *, now: datetime) -> ShownRecipient:
    """Return a recipient as `recipient show` says it."""
    use = use_resource(calls(recipient_id=recipient.id), now=now)
    return ShownRecipient(listed=listed_recipient(recipient, now=now), use=use)


def recipient_lines(recipients: Iterable[ListedRecipient]) -> Iterator[str]:
    """Yield a line a recipient."""
    yield from listed(
        recipients,
        {
            "NAME": lambda one: one.recipient.name,
            "SHARES": lambda one: one.recipient.shares,
            "TOKENS": lambda one: _states(one.tokens),
            "LAST USED": lambda one: time_text(one.recipient.last_used_at),
        },
    )


def recipient_text(shown: ShownRecipient) -> str:
    """Return what a recipient is, for people."""
    recipient = shown.listed.recipient
    return facts(
        [
            ("name", recipient.name),
            ("contact", recipient.contact or "none"),
            ("comment", recipient.comment or "none"),
            ("created", time_text(recipient.created_at)),
            ("shares", ", ".join(recipient.shares) or "none"),
            ("allowed from", ", ".join(recipient.allowed_networks) or "anywhere"),
            _use_text(shown.use),
        ]
    )


def token_lines(tokens: Sequence[TokenResource]) -> Iterator[str]:
    """Yield a line a token."""
    if not tokens:
        return
    yield ""
    yield from listed(
        tokens,
        {
            "TOKEN": lambda token: f"{token.prefix}...",
            "STATE": _state,
            "ENDS": lambda token: token.revoked_at or token.ends_at,
            "LAST USED": lambda token: time_text(token.last_used_at),
            "FROM": "last_used_from",
        },
    )


def _listed(
    recipient: Recipient, resource: RecipientResource, now: datetime
) -> ListedRecipient:
    rows = token_rows(list(recipient.tokens.all()), now=now)
    tokens = [row.describe() for row in rows]
    return ListedRecipient(recipient=resource, tokens=tokens)


def _state(token: TokenResource) -> str:
    return RecipientToken.State(token.state.upper()).label


def _states(tokens: Sequence[TokenResource]) -> str:
    """Count the tokens that have not ended by their states."""
    live = [_state(one) for one in tokens if one.state not in {"expired", "revoked"}]
    counts = [f"{live.count(word)} {word}" for word in dict.fromkeys(live)]
    return ", ".join(counts) or "none"
