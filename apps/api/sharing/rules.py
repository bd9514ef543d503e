"""What of a shared table one recipient sees, beside what all of them see."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest

from apps.accounts.models import Scope
from apps.api.endpoint import RestView, Role, endpoint
from apps.pages.actions import stamp_of
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.sharing.models import SharedTable
from apps.sharing.names import find_recipient, find_share, find_shared_table
from apps.sharing.shares.services import narrow_table


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRule:
    """What of a table one recipient is to see; what is left out stays.

    Attributes:
        condition: Only rows that this SQL is true for; null for all.
        columns: Only these columns; null for all that the table shares.
    """

    condition: str | Unchanged | None = UNCHANGED
    columns: list[str] | Unchanged | None = UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResource:
    """What of a table one recipient sees.

    Attributes:
        recipient: Its name.
        condition: Only rows that it is true for; null for all.
        columns: Only these; null for all.
    """

    recipient: str
    condition: str | None
    columns: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesOfTable:
    """The rules of single recipients.

    Attributes:
        earlier_urls_end_at: When the last URL of an object store ends that was issued
            under other rules; null if there was none.
    """

    rules: list[RuleResource]
    earlier_urls_end_at: datetime | None


class RuleList(RestView):
    """The rules of a shared table for single recipients."""

    @endpoint(Role.ADMIN, answers=RulesOfTable)
    def get(self, name: str, table: str) -> object:
        """List the recipients that see less of a table than the others."""
        return _rules_of(find_shared_table(find_share(name), table))


class Rule(RestView):
    """The rule of a shared table for one recipient."""

    @endpoint(Role.ADMIN, body=NewRule, answers=RulesOfTable, scope=Scope.SHARE)
    def put(
        self,
        request: HttpRequest,
        name: str,
        table: str,
        recipient: str,
        body: NewRule,
    ) -> object:
        """Let one recipient see less of a table; null takes a part of its rule away."""
        shared = find_shared_table(find_share(name), table)
        _narrow(request, shared, recipient, body)
        return _rules_of(shared)

    @endpoint(Role.ADMIN, answers={204: None}, scope=Scope.SHARE)
    def delete(
        self, request: HttpRequest, name: str, table: str, recipient: str
    ) -> None:
        """Let a recipient see of a table what the others do."""
        shared = find_shared_table(find_share(name), table)
        _narrow(request, shared, recipient, NewRule(condition=None, columns=None))


def _narrow(
    request: HttpRequest, shared: SharedTable, recipient: str, rule: NewRule
) -> None:
    narrow_table(
        shared,
        find_recipient(recipient),
        condition=rule.condition,
        columns=rule.columns,
        stamp=stamp_of(request),
    )


def _rules_of(shared: SharedTable) -> RulesOfTable:
    rules = shared.rules.select_related("recipient").order_by("recipient__name_key")
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
