"""What becomes of the files of a drafted share, before anybody has it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from deltaweb.delta.errors import DeltaError
from deltaweb.web.sharing.access.grants.foreseen import Foreseen, foresee
from deltaweb.web.sharing.access.grants.rules import TableRule, rule_of
from deltaweb.web.sharing.drafts.draft import Draft
from deltaweb.web.sharing.drafts.review import ChosenTable
from deltaweb.web.sharing.models import Recipient, SharedTable
from deltaweb.web.sharing.shares.forms import column_names

MAX_RULES: Final = 12
"""Of all tables: each has files judged while somebody waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeseenTable:
    """A table of which a part is shared.

    Attributes:
        parts: What is foreseen, and for which recipients; equal rules are one.
        num_more: Rules that were not looked at.
        problem: Why nothing is foreseen; "" where it is.
    """

    chosen: ChosenTable
    parts: list[tuple[list[str], Foreseen]] = field(default_factory=list)
    num_more: int = 0
    problem: str = ""


def foreseen_tables(draft: Draft, tables: Sequence[ChosenTable]) -> list[ForeseenTable]:
    """Return what becomes of the files of tables of which a part is shared."""
    known = Recipient.objects.filter(name__in=draft.recipients).order_by("name_key")
    new = (Recipient(name=one.name) for one in draft.new_recipients)
    recipients = [*known, *new] or [Recipient(name="")]
    room, found = MAX_RULES, []
    for chosen in tables:
        condition = chosen.draft.condition.strip()
        columns = column_names(chosen.draft.columns)
        if chosen.table is None or not (condition or columns):
            continue
        offered = SharedTable(condition=condition, columns=columns)
        names: dict[str, list[str]] = {}
        rules: dict[str, TableRule] = {}
        try:
            for recipient in recipients:
                rule = rule_of([offered], recipient)
                rules[rule.digest] = rule
                names.setdefault(rule.digest, []).append(recipient.name)
            looked = [*rules][:room]
            parts = foresee(chosen.table, [rules[digest] for digest in looked])
        except DeltaError as error:
            found.append(ForeseenTable(chosen=chosen, problem=error.message))
            continue
        room -= len(looked)
        pairs = [(names[key], one) for key, one in zip(looked, parts, strict=True)]
        num_more = len(rules) - len(looked)
        found.append(ForeseenTable(chosen=chosen, parts=pairs, num_more=num_more))
    return found
