"""How the `share` and `recipient` commands answer: JSON documents and lines."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from deltaweb.web.audit.models import AuditEvent
from deltaweb.web.sharing.activity.usage import (
    USE_DAYS,
    DailyUse,
    daily_use,
    last_days,
    last_use,
)
from deltaweb.web.sharing.models import Recipient, RecipientToken, Share, SharedTable
from deltaweb.web.tables.management.text_output import aligned, facts, time_text

WHOLE_HISTORY = "whole history"

# === Shares ===


def share_json(share: Share) -> dict[str, Any]:
    """Return a share as `share show --json` shows it."""
    tables = list(share.shared_tables.select_related("table", "share"))
    return {
        "id": share.id,
        "name": share.name,
        "comment": share.comment,
        "created_at": share.created_at,
        "tables": [shared_table_json(table) for table in tables],
        "recipients": [recipient.name for recipient in share.recipients.all()],
    }


def shared_table_json(shared_table: SharedTable) -> dict[str, Any]:
    """Return a table of a share."""
    return {
        "id": shared_table.id,
        "share": shared_table.share.name,
        "name": shared_table.full_name,
        "schema": shared_table.schema,
        "table": shared_table.table.full_name,
        "location": shared_table.table.location,
        "comment": shared_table.comment,
        "with_history": shared_table.with_history,
        "start_version": shared_table.start_version,
        "partition_filter": shared_table.partition_filter or None,
        "added_at": shared_table.added_at,
    }


def share_lines(shares: Sequence[Share]) -> Iterator[str]:
    """Yield a line a share."""
    yield from aligned(
        ("NAME", "TABLES", "RECIPIENTS", "COMMENT"),
        [
            (
                share.name,
                str(len(share.shared_tables.all())),
                ", ".join(recipient.name for recipient in share.recipients.all()),
                share.comment,
            )
            for share in shares
        ],
    )


def share_text(shown: dict[str, Any]) -> str:
    """Return what a share is, for people."""
    return facts(
        [
            ("name", shown["name"]),
            ("comment", shown["comment"] or "none"),
            ("created", time_text(shown["created_at"])),
            ("recipients", ", ".join(shown["recipients"]) or "none"),
            use_text(shown["use"]),
        ]
    )


def shared_table_lines(tables: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line a table of a share."""
    if not tables:
        yield "No tables yet: share add-table SHARE SCHEMA.TABLE --table NAME"
        return
    yield ""
    yield from aligned(
        ("TABLE", "REGISTERED AS", "HISTORY", "ONLY FILES OF"),
        [
            (
                table["name"],
                table["table"],
                history_text(table),
                table["partition_filter"] or "",
            )
            for table in tables
        ],
    )


def use_json(events: QuerySet[AuditEvent], *, now: datetime) -> dict[str, Any]:
    """Return how much was read: the last time, in all, and day by day."""
    days = daily_use(events, days=last_days(USE_DAYS, now=now))
    last = last_use(events)
    return {
        "last": None if last is None else _event_json(last),
        "num_days": len(days),
        "num_requests": sum(day.num_requests for day in days),
        "num_refused": sum(day.num_refused for day in days),
        "size_bytes": sum(day.size_bytes for day in days),
        "days": [_day_json(day) for day in days],
    }


def use_text(use: dict[str, Any]) -> tuple[str, str]:
    """Return a name and what it says of how much was read, for people."""
    refused = f", {use['num_refused']:,} refused" if use["num_refused"] else ""
    text = f"{use['num_requests']:,}{refused}; {use['size_bytes']:,} bytes offered"
    return f"requests in {use['num_days']} days", text


def _day_json(day: DailyUse) -> dict[str, Any]:
    return {
        "day": day.day,
        "num_requests": day.num_requests,
        "num_refused": day.num_refused,
        "size_bytes": day.size_bytes,
    }


def _event_json(event: AuditEvent) -> dict[str, Any]:
    return {
        "at": event.at,
        "action": event.action,
        "recipient": event.recipient or None,
        "token": event.token_prefix or None,
        "address": event.address or None,
        "user_agent": event.user_agent or None,
        "share": event.share or None,
        "table": ".".join(part for part in (event.schema, event.table) if part) or None,
    }


def history_text(table: dict[str, Any]) -> str:
    """Say how much history of a table is shared."""
    if not table["with_history"]:
        return "newest version only"
    start = table["start_version"]
    return WHOLE_HISTORY if start is None else f"from version {start}"


# === Recipients ===


def recipient_json(recipient: Recipient, *, now: datetime) -> dict[str, Any]:
    """Return a recipient as `recipient show --json` shows it."""
    return {
        "id": recipient.id,
        "name": recipient.name,
        "contact": recipient.contact or None,
        "comment": recipient.comment,
        "allowed_networks": list(recipient.allowed_networks),
        "created_at": recipient.created_at,
        "shares": [share.name for share in recipient.shares.all()],
        "tokens": [token_json(token, now=now) for token in recipient.tokens.all()],
    }


def token_json(token: RecipientToken, *, now: datetime) -> dict[str, Any]:
    """Return a token by what may be shown of it."""
    return {
        "id": token.id,
        "prefix": token.prefix,
        "state": token.state(now),
        "created_at": token.created_at,
        "created_by": token.created_by_name,
        "activated_at": token.activated_at,
        "activated_from": token.activated_from or None,
        "expires_at": token.expires_at,
        "retires_at": token.retires_at,
        "ends_at": token.ends_at,
        "revoked_at": token.revoked_at,
        "last_used_at": token.last_used_at,
        "last_used_from": token.last_used_from or None,
        "last_used_agent": token.last_used_agent or None,
    }


def recipient_lines(recipients: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line a recipient."""
    yield from aligned(
        ("NAME", "SHARES", "TOKENS", "LAST USED"),
        [
            (
                shown["name"],
                ", ".join(shown["shares"]),
                _states(shown["tokens"]),
                _last_used(shown["tokens"]),
            )
            for shown in recipients
        ],
    )


def recipient_text(shown: dict[str, Any]) -> str:
    """Return what a recipient is, for people."""
    return facts(
        [
            ("name", shown["name"]),
            ("contact", shown["contact"] or "none"),
            ("comment", shown["comment"] or "none"),
            ("created", time_text(shown["created_at"])),
            ("shares", ", ".join(shown["shares"]) or "none"),
            ("allowed from", ", ".join(shown["allowed_networks"]) or "anywhere"),
            use_text(shown["use"]),
        ]
    )


def token_lines(tokens: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line a token."""
    if not tokens:
        return
    yield ""
    yield from aligned(
        ("TOKEN", "STATE", "ENDS", "LAST USED", "FROM"),
        [
            (
                f"{token['prefix']}...",
                RecipientToken.State(token["state"]).label,
                time_text(token["revoked_at"] or token["ends_at"]),
                time_text(token["last_used_at"]),
                token["last_used_from"] or "",
            )
            for token in tokens
        ],
    )


def _states(tokens: Sequence[dict[str, Any]]) -> str:
    """Count the tokens that have not ended by their states."""
    counts: dict[str, int] = {}
    for token in tokens:
        label = RecipientToken.State(token["state"]).label
        counts[label] = counts.get(label, 0) + 1
    ended = {RecipientToken.State.EXPIRED.label, RecipientToken.State.REVOKED.label}
    live = [f"{count} {label}" for label, count in counts.items() if label not in ended]
    return ", ".join(live) or "none"


def _last_used(tokens: Sequence[dict[str, Any]]) -> str:
    moments = [token["last_used_at"] for token in tokens if token["last_used_at"]]
    return time_text(max(moments, default=None))
