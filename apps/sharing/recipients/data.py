"""The JSON forms of recipients and tokens. No secret is in any of them."""

from typing import Any

from deltaweb.web.sharing.activity.event_rows import event_data
from deltaweb.web.sharing.issuing.token_rows import token_json
from deltaweb.web.sharing.recipients.detail import (
    GrantRow,
    RecipientDetail,
    RotationPanel,
)
from deltaweb.web.sharing.recipients.listing import RecipientRow


def row_json(row: RecipientRow) -> dict[str, Any]:
    """Return a recipient as the list shows it."""
    recipient = row.recipient
    return {
        "name": recipient.name,
        "contact": recipient.contact,
        "comment": recipient.comment,
        "state": row.state.key,
        "token_ends_at": row.state.ends_at,
        "num_shares": row.num_shares,
        "last_used_at": row.last_used_at,
        "requests_30d": row.requests,
        "allowed_networks": recipient.allowed_networks,
        "created_at": recipient.created_at,
        "url": recipient.get_absolute_url(),
    }


def detail_json(detail: RecipientDetail) -> dict[str, Any]:
    """Return a recipient as its page shows it."""
    recipient = detail.recipient
    return {
        "name": recipient.name,
        "contact": recipient.contact,
        "comment": recipient.comment,
        "allowed_networks": recipient.allowed_networks,
        "created_at": recipient.created_at,
        "state": detail.state.key,
        "token_ends_at": detail.state.ends_at,
        "last_used_at": detail.last_used_at,
        "rotation": None if detail.panel is None else _rotation(detail.panel),
        "num_tokens": detail.num_tokens,
        "tokens": [token_json(row) for row in detail.tokens],
        "num_tables": detail.num_tables,
        "num_shares": detail.num_shares,
        "grants": [_grant(row) for row in detail.grants],
        "events": [event_data(row.event) for row in detail.events],
    }


def _rotation(panel: RotationPanel) -> dict[str, Any]:
    under_way = panel.rotation
    verdict = under_way.verdict
    new = under_way.new
    return {
        "old": under_way.old.prefix,
        "new": None if new is None else new.prefix,
        "light": verdict.light,
        "cause": verdict.cause,
        "quiet_since": verdict.quiet_since,
        "green_at": verdict.green_at,
        "step": next(s.kind for s in under_way.steps if s.progress == "now"),
        "days": panel.days,
        "requests_old": panel.old_requests,
        "requests_new": () if new is None else panel.new_requests,
    }


def _grant(row: GrantRow) -> dict[str, Any]:
    shared = row.shared_table
    if shared is None:
        return {"share": row.share.name, "table": None}
    return {
        "share": row.share.name,
        "table": shared.full_name,
        "with_history": shared.with_history,
        "start_version": shared.start_version,
        "partition_filter": shared.partition_filter,
    }
