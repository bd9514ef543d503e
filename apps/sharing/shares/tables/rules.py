"""The rules of single recipients, who see less of a shared table than the others."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.contrib.auth.models import AnonymousUser

from apps.accounts.models import User
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import OnPage
from apps.sharing.access.earlier_urls import earlier_urls_text
from apps.sharing.models import SharedTable
from apps.sharing.names import find_recipient
from apps.sharing.shares.tables.changes import (
    IN_TABLE,
    ROUTE,
    TAB,
    find_in_share,
    tab_of,
)
from apps.sharing.shares.tables.sharers import (
    Reader,
    check_may_share,
    readable_for,
    reader_for,
    reader_of_table,
)
from apps.sharing.shares.terms import NewRule, narrow_table
from apps.tables.permissions import caller_of

RULE: Final = f"{ROUTE}/rules/<str:recipient>"


def find_reader(name: str, table: str, recipient: str) -> Reader:
    """Return a table of a share and a recipient by their names."""
    return Reader(find_in_share(name, table), find_recipient(recipient))


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResource:
    """What of a table one recipient sees.

    Attributes:
        recipient: The name of the recipient.
        condition: Share only rows that meet this condition; null for all rows.
        columns: Share only these columns; null for all columns.
    """

    recipient: str
    condition: str | None
    columns: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesOfTable:
    """The rules of single recipients.

    Attributes:
        earlier_urls_end_at: The time until which object store URLs work that were
            issued under earlier rules; null if there are none.
    """

    rules: list[RuleResource]
    earlier_urls_end_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedTable:
    """A table after the rule of a recipient was changed.

    Attributes:
        name: The table, as `schema.table`.
        recipient: The recipient whose rule was changed.
        condition: Its rows; empty for all.
        columns: Its columns; empty for all.
        earlier_urls_end_at: As `RulesOfTable` has it.
        urls: The same, in a sentence.
    """

    name: str
    recipient: str
    condition: str
    columns: list[str]
    earlier_urls_end_at: datetime | None
    urls: OnPage[str]


def narrow(reader: Reader, new: NewRule, stamp: Stamp) -> NarrowedTable:
    """Let one recipient see less of a table than the others."""
    shared, recipient = reader
    narrow_table(shared, recipient, new, stamp=stamp)
    rule = shared.rules.filter(recipient=recipient).first()
    return NarrowedTable(
        name=shared.full_name,
        recipient=recipient.name,
        condition=rule.condition if rule else "",
        columns=rule.columns if rule else [],
        earlier_urls_end_at=shared.earlier_urls_end_at,
        urls=earlier_urls_text(shared.earlier_urls_end_at, now=stamp.at),
    )


def put_rule(reader: Reader, new: NewRule, stamp: Stamp) -> RulesOfTable:
    """Change the rule of one recipient, and return those of all."""
    narrow(reader, new, stamp)
    return rules_of(reader.shared, caller_of(stamp))


def rules_of(shared: SharedTable, caller: User | AnonymousUser | None) -> RulesOfTable:
    """Return the rules of a table for single recipients, by their names.

    Args:
        shared: The table.
        caller: Who asks; None for a command. Who is not an administrator knows the
            recipients that read the share.
    """
    rules = shared.rules.select_related("recipient").order_by("recipient__name_key")
    if caller is not None and not (isinstance(caller, User) and caller.is_admin):
        rules = rules.filter(recipient__in=shared.share.recipients.all())
    return RulesOfTable(
        rules=[
            RuleResource(
                recipient=rule.recipient.name,
                condition=rule.condition or None,
                columns=rule.columns or None,
            )
            for rule in rules
        ],
        earlier_urls_end_at=shared.earlier_urls_end_at,
    )


def _said_narrowed(one: NarrowedTable) -> str:
    is_less = one.condition or one.columns
    seen = "now has a narrower rule for {}." if is_less else "has no rule for {} now."
    return f"{one.recipient} {seen.format(one.name)} {one.urls}".strip()


READER: Final = Subject(
    noun="shared-table",
    role=VIEWER,
    scope="share",
    find=find_reader,
    may=lambda caller, reader: check_may_share(caller, reader.shared),
)
NAMED_READER: Final = replace(
    READER, noun="share", metavars={**IN_TABLE, "recipient": "--recipient"}
)
NARROW: Final = Change(
    of=NAMED_READER,
    name="narrow",
    help="Let one recipient see less of a table.",
    parameters=NewRule,
    do=narrow,
    result=NarrowedTable,
    says=_said_narrowed,
    record=("share.narrow_table",),
    verb=Verb(),
)
PUT: Final = Change(
    of=READER,
    name="narrow",
    help="Set a rule that lets one recipient see less of a table.",
    more="A part of the rule that is null is removed.",
    parameters=NewRule,
    do=put_rule,
    result=RulesOfTable,
    says=lambda _: "The rule is changed.",
    record=("share.narrow_table",),
    call=Call("PUT", RULE, view="Rule", find=reader_for),
    page=Page(
        f"{TAB}/<uuid:table_id>/rule",
        back=lambda reader: tab_of(reader.shared.table),
        name="table-share-rule",
        find=reader_of_table,
    ),
)
WIDEN: Final = Change(
    of=READER,
    name="widen",
    help="Remove the rule of a recipient for a table.",
    parameters=Nothing,
    do=lambda reader, _, stamp: narrow(
        reader, NewRule(condition=None, columns=None), stamp
    ),
    result=NarrowedTable,
    says=_said_narrowed,
    record=("share.narrow_table",),
    call=Call("DELETE", RULE, view="Rule", find=reader_for),
)
reads.register(
    Read(
        route=f"{ROUTE}/rules",
        view="RuleList",
        finds=lambda caller, name, table: rules_of(
            readable_for(caller, name, table), caller
        ),
        shows=RulesOfTable,
        help="List the rules of recipients that see less of a table.",
        role=VIEWER,
    ),
)
