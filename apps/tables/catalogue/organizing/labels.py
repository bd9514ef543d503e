"""The labels of a table: the account that owns it, and tags."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from apps.accounts.models import User
from apps.pages.actions import Action, FieldChange, Stamp, report_changes
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.tables.errors import OwnerUnknownError, TagError
from apps.tables.models import Table
from apps.tables.models.news import tell_changed

MAX_TAGS: Final = 20
OFFERED: Final = 200  # accounts
TAG: Final = re.compile(r"[\w.:/-]{1,50}")
_BETWEEN: Final = re.compile(r"[\s,]+")


def split_tags(text: str) -> list[str]:
    """Return the tags of a text, which have commas or spaces between them."""
    return [one for one in _BETWEEN.split(text) if one]


# Without slots, as changes have it as a second base.
@dataclass(frozen=True, kw_only=True)
class TableLabels:
    """The owner and the tags of a table; a value that is left out stays.

    Attributes:
        owner: The name of the account that owns it; null removes it.
        tags: All tags that it has afterwards, in any capitals; null removes them.
    """

    owner: str | Unchanged | None = parameter(
        UNCHANGED,
        "--owner",
        removed_by="--no-owner",
        line=Line(label="Owner", most=150, codes=("table-owner-unknown",)),
        metavar="ACCOUNT",
        help="the account that owns it",
    )
    tags: list[str] | Unchanged | None = parameter(
        UNCHANGED,
        "--tag",
        removed_by="--no-tags",
        action="append",
        line=Line(label="Tags", splits=split_tags, codes=("table-tag-invalid",)),
        metavar="TAG",
        help="a tag; repeatable, and replaces the tags that it has",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTable:
    """The owner and the tags of a table.

    Attributes:
        owner: The name of the account that owns it; null without one.
        tags: Its tags, in order.
    """

    name: str
    owner: str | None
    tags: list[str]


@transaction.atomic
def label_table(table: Table, new: TableLabels, stamp: Stamp) -> LabelledTable:
    """Set the owner and the tags of a table.

    Raises:
        OwnerUnknownError: If no account that can sign in has the owner's name.
        TagError: If a word cannot be a tag, or there are too many.
    """
    owner = table.owned_by
    if not isinstance(new.owner, Unchanged) and new.owner != table.owner_name:
        owner = find_owner(new.owner) if new.owner else None
    tags = table.tags
    if not isinstance(new.tags, Unchanged):
        tags = _checked(new.tags or ())
    changes = (
        FieldChange("table.set_owner", table.owner_name, owner and owner.username),
        FieldChange("table.tag", table.tags, tags),
    )
    action = Action(name="", stamp=stamp, table=table.full_name, table_id=table.id)
    if report_changes(action, changes):
        table.owned_by, table.tags = owner, tags
        table.save(update_fields=["owned_by", "tags"])
        tell_changed(table)
    return LabelledTable(name=table.full_name, owner=table.owner_name, tags=tags)


def account_names() -> list[str]:
    """Return the accounts that a form offers as owners; others can be typed."""
    active = User.objects.get_queryset().filter(is_active=True)
    return list(
        active.order_by("username").values_list("username", flat=True)[:OFFERED]
    )


def labels_text(labels: LabelledTable) -> str:
    """Return the labels of a table in a sentence."""
    owner = f"is owned by {labels.owner}" if labels.owner else "has no owner"
    tags = f"is tagged {', '.join(labels.tags)}" if labels.tags else "has no tags"
    return f"{labels.name} {owner} and {tags}."


def find_owner(name: str) -> User:
    """Return the account that can own something, by its name."""
    found = User.objects.get_queryset().named(name.strip()).filter(is_active=True)
    if (account := found.first()) is None:
        raise OwnerUnknownError(name=name.strip())
    return account


def _checked(words: Iterable[str]) -> list[str]:
    tags = sorted({one.strip().lower() for one in words} - {""})
    wrong = [one for one in tags if not TAG.fullmatch(one)] or tags[MAX_TAGS:]
    if wrong:
        raise TagError(tag=wrong[0])
    return tags
