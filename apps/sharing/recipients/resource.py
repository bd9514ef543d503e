"""The resource of a recipient, and the settings that are sent, stored and shown."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from apps.pages.changes.parameters import Line, parameter
from apps.pages.page_json import shaped
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.sharing.access.earlier_urls import later_end, url_lifetime
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.access.networks import parse_networks, split_networks
from apps.sharing.errors import ContactInvalidError
from apps.sharing.models import Recipient, SharedTable
from apps.sharing.recipients.properties import parse_properties, property_texts
from deltaweb.conditions.recipients import Property
from deltaweb.delta.errors import PredicateError

FIELDS: Final = {
    "contact": "recipient.set_contact",
    "comment": "recipient.describe",
    "allowed_networks": "recipient.set_networks",
    "properties": "recipient.set_properties",
    "soft_limit_bytes": "recipient.set_soft_limit",
    "hard_limit_bytes": "recipient.set_hard_limit",
}
"""The names of records, by the column that changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientResource:
    """A recipient as every machine form names it.

    Attributes:
        state: The state of its tokens, a key of `STATES`.
        token_ends_at: The time when its last valid token ends; null without one.
        shares: The names of the shares that it can read.
        allowed_networks: The networks it may connect from; empty allows every address.
        properties: Properties as key=value; conditions use them as recipient.<key>.
        earlier_urls_end_at: The time until which object store URLs work that were
            issued for earlier properties; null if there are none.
        plain: Whether all its tables are served to it as plain files.
    """

    name: str
    contact: str | None
    comment: str
    state: str
    token_ends_at: datetime | None
    num_shares: int
    shares: list[str]
    last_used_at: datetime | None
    allowed_networks: list[str]
    properties: list[str]
    earlier_urls_end_at: datetime | None
    plain: bool
    created_at: datetime
    id: UUID
    url: str


def resource_of(recipient: Any) -> RecipientResource:  # noqa: ANN401 (an annotated row)
    """Return a recipient of `with_tokens_state` as machine forms name it."""
    return shaped(
        RecipientResource,
        recipient,
        token_ends_at=recipient.ends_at,
        shares=[share.name for share in recipient.shares.all()],
        properties=property_texts(recipient.properties),
        url=recipient.get_absolute_url(),
    )


# Without slots, as changes have it as a second base.
@dataclass(frozen=True, kw_only=True)
class RecipientSettings:
    """How a recipient is reached, from where it comes, and what conditions read of it.

    Attributes:
        contact: An e-mail address.
        comment: A note for administrators.
        allowed_networks: The networks it may connect from; empty or null allows every
            address.
        properties: Properties as key=value; conditions use them as recipient.<key>.
    """

    contact: str | Unchanged | None = parameter(
        UNCHANGED,
        "--contact",
        line=Line(label="Contact", most=254, codes=("contact-invalid",)),
        help="an e-mail address",
    )
    comment: str | Unchanged | None = parameter(
        UNCHANGED,
        "--comment",
        line=Line(label="Comment"),
        help="a note for administrators",
    )
    allowed_networks: list[str] | Unchanged | None = parameter(
        UNCHANGED,
        "--allow",
        action="append",
        line=Line(
            label="Allowed networks",
            most=20_000,
            name="networks",
            splits=split_networks,
            codes=("network-invalid", "too-many-networks"),
        ),
        metavar="NETWORK",
        help="a network it may connect from, such as 192.0.2.0/24; default: any",
    )
    properties: list[str] | Unchanged | None = parameter(
        UNCHANGED,
        "--property",
        action="append",
        line=Line(label="Properties", most=20_000, codes=("property-invalid",)),
        metavar="KEY=VALUE",
        help="a property, used in conditions as recipient.KEY; repeatable",
    )


def take_settings(
    recipient: Recipient, new: RecipientSettings, *, at: datetime
) -> bool:
    """Set what was sent of the settings of a recipient, which is not saved.

    Returns:
        Whether its properties changed.
    """
    before = recipient.properties
    if not isinstance(new.contact, Unchanged):
        contact = checked_contact(new.contact or "")
        if contact != recipient.contact:
            recipient.mail_sign_in_since = None  # another address is not confirmed
        recipient.contact = contact
    recipient.comment = value_of(new.comment, recipient.comment, removed="").strip()
    if not isinstance(new.allowed_networks, Unchanged):
        recipient.allowed_networks = parse_networks(new.allowed_networks or ())
    if not isinstance(new.properties, Unchanged):
        _set_properties(recipient, parse_properties(new.properties or ()), at)
    return bool(recipient.properties != before)


def checked_contact(text: str) -> str:
    """Return a mail address without the space around it; "" for none."""
    contact = text.strip()
    if contact:
        try:
            validate_email(contact)
        except ValidationError as error:
            raise ContactInvalidError(text=contact) from error
    return contact


def facts_of(recipient: Recipient) -> dict[str, object]:
    """Return what is recorded of a recipient when it is made or changed."""
    return {
        "contact": recipient.contact,
        "comment": recipient.comment,
        "allowed_networks": list(recipient.allowed_networks),
        "properties": dict(recipient.properties),
        "soft_limit_bytes": recipient.soft_limit_bytes,
        "hard_limit_bytes": recipient.hard_limit_bytes,
    }


def shown_settings(recipient: Recipient) -> dict[str, object]:
    """Return the settings of a recipient as forms show them."""
    texts = property_texts(recipient.properties)
    return facts_of(recipient) | {"properties": texts}


PROPERTIES: Final = "properties"
"""The name of the field of forms that has the properties of a recipient."""


def values_of(recipient: Recipient) -> Mapping[str, Property]:
    """Return the properties of a recipient."""
    values: Mapping[str, Property] = recipient.properties
    return values


def with_values(recipient: Recipient, values: Mapping[str, Property]) -> Recipient:
    """Return a recipient with other properties, which are not saved."""
    changed = copy(recipient)
    changed.properties = dict(values)
    return changed


def sent_values(texts: Sequence[str]) -> dict[str, Any]:
    """Return properties, as key=value, as a field of parameters."""
    return {PROPERTIES: [*texts]}


def setting_texts(recipient: RecipientResource) -> list[tuple[str, str]]:
    """Return the settings of a recipient for people, each with its name."""
    return [
        ("contact", recipient.contact or "none"),
        ("comment", recipient.comment or "none"),
        ("properties", ", ".join(recipient.properties) or "none"),
        ("allowed from", ", ".join(recipient.allowed_networks) or "anywhere"),
    ]


def _set_properties(
    recipient: Recipient, values: dict[str, Property], at: datetime
) -> None:
    """Set what conditions ask for, and note until when URLs open of the values before.

    Only tables count whose conditions ask for a value that changes.
    """
    tables = list(
        SharedTable.objects.filter(share__grants__recipient=recipient).select_related(
            "table"
        )
    )
    before = [_asked(shared, recipient) for shared in tables]
    recipient.properties = values
    lifetimes = [
        url_lifetime(shared, is_whole=False)
        for shared, asked in zip(tables, before, strict=True)
        if _asked(shared, recipient) != asked
    ]
    known = recipient.earlier_urls_end_at
    recipient.earlier_urls_end_at = later_end(known, lifetimes, at=at)


def _asked(shared: SharedTable, recipient: Recipient) -> object:
    """Return the values that conditions ask for; all if a condition does not parse."""
    rule = rule_for(shared, recipient)
    try:
        return rule.asked
    except PredicateError:
        return rule.properties
