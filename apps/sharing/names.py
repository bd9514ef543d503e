"""The names of shares, schemas, tables and recipients, and what they name.

Source: Delta Sharing PROTOCOL.md, "Name Restrictions".
"""

import unicodedata
from collections.abc import Collection
from typing import Final

from django.db import IntegrityError, transaction

from apps.sharing.errors import (
    NameInvalidError,
    NameTakenError,
    RecipientNotFoundError,
    SharedTableNotFoundError,
    ShareNotFoundError,
)
from apps.sharing.models import MAX_NAME_LENGTH, Recipient, Share, SharedTable

_WITHOUT_DOT: Final = {"schema", "table"}  # clients split share.schema.table at dots
_IN_AN_ADDRESS: Final = {"share", "schema", "table"}
# The official client writes names into addresses as they are.
_ENDS_A_PATH: Final = {"?", "#", "%"}
_RELATIVE: Final = {".", ".."}  # browsers and servers resolve these in an address
_UNSEEN: Final = {"Zs", "Zl", "Zp", "Cc", "Cf", "Cs"}  # spaces, controls, surrogates


def name_key(text: str) -> str:
    """Return what is compared when neither capitals nor the form of accents matter.

    Source: The Unicode Standard, 3.13, D146 (canonical caseless matching).
    """
    folded = unicodedata.normalize("NFD", text).casefold()
    return unicodedata.normalize("NFC", folded)


def check_name(text: str, kind: str) -> str:
    """Return a new name of a `share`, `schema`, `table` or `recipient`.

    Raises:
        NameInvalidError: If it is no name of the protocol, or one that the official
            client cannot request.
    """
    _check_restrictions(text, kind)
    if kind in _IN_AN_ADDRESS:
        for character in text:
            if character in _ENDS_A_PATH:
                reason = f"it contains {character!r}, which clients cannot request"
                raise NameInvalidError(kind=kind, name=text, reason=reason)
    return text


def split_full_name(text: str) -> tuple[str, str]:
    """Return schema and table of `schema.table`, which may be older names."""
    schema, dot, table = text.partition(".")
    if not dot:
        raise NameInvalidError(
            kind="shared table",
            name=text,
            reason=("it does not have the form schema.table"),
        )
    _check_restrictions(schema, "schema")
    _check_restrictions(table, "table")
    return schema, table


def _check_restrictions(text: str, kind: str) -> None:
    if reason := _fault(text, kind):
        raise NameInvalidError(kind=kind, name=text, reason=reason)


def is_storable(text: str) -> bool:
    """Whether a database can be asked for a text: no NUL, no half of a character."""
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


def save_named(
    thing: Share | Recipient, kind: str, *, fields: Collection[str] | None = None
) -> None:
    """Save; the database has the last word where two ask for one name at once.

    Args:
        thing: What has the name.
        kind: What it is called.
        fields: What of it is saved; all of it if it is new.
    """
    others = type(thing)._default_manager.filter(name_key=thing.name_key)  # noqa: SLF001 (Django's way to any model)
    if others.exclude(id=thing.id).exists():
        raise NameTakenError(kind=kind, name=thing.name)
    try:
        with transaction.atomic():
            thing.save(update_fields=fields)
    except IntegrityError as error:
        raise NameTakenError(kind=kind, name=thing.name) from error


# === What a name stands for ===


def find_share(name: str) -> Share:
    """Return a share, whatever the capitals of `name`."""
    shares = Share.objects.filter(name_key=name_key(name)) if is_storable(name) else ()
    for share in shares:
        return share
    raise ShareNotFoundError(name=name)


def find_shared_table(share: Share, full_name: str) -> SharedTable:
    """Return a table of a share by `schema.table`, whatever its capitals."""
    schema, name = split_full_name(full_name)
    tables = share.shared_tables.select_related("share", "table").filter(
        schema_key=name_key(schema), name_key=name_key(name)
    )
    for table in tables:
        return table
    raise SharedTableNotFoundError(share=share.name, name=full_name)


def find_recipient(name: str) -> Recipient:
    """Return a recipient, whatever the capitals of `name`."""
    if is_storable(name):
        found = Recipient.objects.filter(name_key=name_key(name)).first()
        if found is not None:
            return found
    raise RecipientNotFoundError(name=name)


def _fault(text: str, kind: str) -> str:
    if not text:
        return "it is empty"
    if len(text) > MAX_NAME_LENGTH:
        return f"it is longer than {MAX_NAME_LENGTH} characters"
    if text in _RELATIVE:
        return "an address cannot end with it"
    faults = (_character_fault(character, kind) for character in text)
    return next(filter(None, faults), "")


def _character_fault(character: str, kind: str) -> str:
    if character == "/" or (character == "." and kind in _WITHOUT_DOT):
        return f"it contains {character!r}"
    if character == " ":
        return "it contains a space"
    if unicodedata.category(character) in _UNSEEN:
        return f"it contains the invisible character U+{ord(character):04X}"
    return ""
