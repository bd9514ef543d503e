"""What the record names of a share, a recipient, a token or a shared table."""

from typing import Any

from apps.pages.actions import Action, Stamp
from apps.sharing.models import Recipient, RecipientToken, Share, SharedTable

Thing = Share | SharedTable | Recipient | RecipientToken


def action_on(name: str, stamp: Stamp, /, *things: Thing, **detail: object) -> Action:
    """Return the record of a change of some things, which it names."""
    return Action(name=name, stamp=stamp, detail=detail, **things_of(*things))


def things_of(*things: Thing) -> dict[str, Any]:
    """Return the columns of a record that name some things."""
    named: dict[str, Any] = {}
    for thing in things:
        match thing:
            case Share():
                named |= {"share": thing.name}
            case SharedTable():
                named |= {"share": thing.share.name, "table": thing.full_name}
                named |= {"table_id": thing.table_id}
            case Recipient():
                named |= {"recipient": thing.name, "recipient_id": thing.id}
            case RecipientToken():
                named |= {"recipient": thing.recipient.name}
                named |= {"recipient_id": thing.recipient_id}
                named |= {"token_id": thing.id, "token_prefix": thing.prefix}
    return named
