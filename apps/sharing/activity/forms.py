"""The filter of the record of activity."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from django import forms

from apps.audit.models import AuditEvent
from apps.pages.lists.fields import DayField, WordField
from apps.pages.request.list_page import ListQuery

STATUSES = {"ok": "answered", "failed": "refused or failed"}
KINDS = {str(kind): str(kind.label) for kind in AuditEvent.Kind}
_TEXTS = ("recipient", "share", "table", "action", "kind", "who", "status", "text")


FILTERS: Final[Mapping[str, forms.Field]] = {
    "recipient": forms.CharField(max_length=255, required=False),
    "share": forms.CharField(max_length=255, required=False),
    "table": forms.CharField(max_length=511, required=False),
    "action": forms.CharField(max_length=64, required=False),
    "kind": WordField(KINDS),
    "who": forms.CharField(max_length=200, required=False),
    "status": WordField(STATUSES),
    "q": forms.CharField(max_length=200, required=False),
    "from": DayField(),
    "to": DayField(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivityFilter:
    """Which events are asked for; empty texts filter nothing.

    Attributes:
        table: `schema.table` in a share, a bare name, or a table of the catalogue.
        action: Such as table.query.
        who: Name of the user who made a change.
        status: A key of `STATUSES`.
        first_day, last_day: Days of UTC, both included.
        text: What names, addresses, agents or errors hold.
        before: Only events older than the one of this id.
    """

    recipient: str = ""
    share: str = ""
    table: str = ""
    action: str = ""
    kind: str = ""
    who: str = ""
    status: str = ""
    first_day: date | None = None
    last_day: date | None = None
    text: str = ""
    before: int | None = None

    @classmethod
    def of(cls, query: ListQuery) -> "ActivityFilter":
        """Return what the address asks for."""
        values = dict(query.filters)
        return cls(
            first_day=values.pop("from") or None,
            last_day=values.pop("to") or None,
            text=values.pop("q"),
            before=query.before,
            **values,
        )

    @property
    def is_empty(self) -> bool:
        return self.needs_no_rows and not (self.first_day or self.last_day)

    @property
    def needs_no_rows(self) -> bool:
        """Whether the days alone decide, which an index answers."""
        return not any(getattr(self, name) for name in _TEXTS)

    @property
    def has_rarer(self) -> bool:
        """Whether something is asked for that the first row of fields does not hold."""
        return any((self.share, self.table, self.kind, self.who, self.status))

    @property
    def since(self) -> datetime | None:
        """The first moment asked for."""
        if self.first_day is None:
            return None
        return datetime.combine(self.first_day, time.min, tzinfo=UTC)

    @property
    def until(self) -> datetime | None:
        """The moment after the last one asked for."""
        if self.last_day is None or self.last_day >= date.max:
            return None
        following = self.last_day + timedelta(days=1)
        return datetime.combine(following, time.min, tzinfo=UTC)
