"""A share while the wizard makes it: what was typed so far, kept in the session.

Texts are kept as they were typed, so that a step can show them again with its fault.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.http import QueryDict

from apps.sharing.forms.shares import TableDraftForm
from apps.sharing.names import name_key
from apps.sharing.services.shares import ShareDraft, TableDraft

STEPS = {
    "name": "Name",
    "tables": "Tables",
    "recipients": "Recipients",
    "review": "Review",
}
MAX_TABLES = 100
MAX_RECIPIENTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftTable:
    """A chosen table, as typed."""

    table_id: str
    schema: str
    name: str
    with_history: bool = True
    start_version: str = ""
    partition_filter: str = ""

    def form(self, position: int) -> TableDraftForm:
        """Return its form, bound, with the names of fields at `position`."""
        data = {
            "schema": self.schema,
            "name": self.name,
            "start_version": self.start_version,
            "partition_filter": self.partition_filter,
        }
        if self.with_history:
            data["with_history"] = "on"
        prefix = f"t{position}"
        return TableDraftForm(
            {f"{prefix}-{name}": text for name, text in data.items()}, prefix=prefix
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What was typed and chosen so far."""

    name: str = ""
    comment: str = ""
    tables: tuple[DraftTable, ...] = ()
    recipients: tuple[str, ...] = ()

    @classmethod
    def from_session(cls, stored: object) -> "Draft":
        """Return what `to_session` made; anything else is an empty draft."""
        if not isinstance(stored, dict):
            return cls()
        try:
            tables = tuple(DraftTable(**table) for table in stored["tables"])
            return cls(
                name=stored["name"],
                comment=stored["comment"],
                tables=tables,
                recipients=tuple(stored["recipients"]),
            )
        except (KeyError, TypeError):  # of a release that kept it otherwise
            return cls()

    def to_session(self) -> dict[str, Any]:
        """Return plain values that a session can hold."""
        return {
            "name": self.name,
            "comment": self.comment,
            "tables": [
                {name: getattr(table, name) for name in DraftTable.__slots__}
                for table in self.tables
            ],
            "recipients": list(self.recipients),
        }

    def as_share_draft(self) -> ShareDraft:
        """Return the draft as the service takes it; its forms must be valid."""
        return ShareDraft(
            name=self.name,
            comment=self.comment,
            tables=tuple(
                _table_draft(table, position)
                for position, table in enumerate(self.tables)
            ),
            recipient_names=self.recipients,
        )

    # === Changes ===

    def with_tables_of(self, posted: QueryDict) -> "Draft":
        """Take over what was typed for the chosen tables."""
        typed = []
        for position, table in enumerate(self.tables):
            prefix = f"t{position}-"
            if posted.get(f"{prefix}id") != table.table_id:
                return self  # of another tab: the draft has moved on
            typed.append(
                replace(
                    table,
                    schema=posted.get(f"{prefix}schema", "").strip(),
                    name=posted.get(f"{prefix}name", "").strip(),
                    with_history=f"{prefix}with_history" in posted,
                    start_version=posted.get(f"{prefix}start_version", "").strip(),
                    partition_filter=posted.get(f"{prefix}partition_filter", ""),
                )
            )
        return replace(self, tables=tuple(typed))

    def with_table(self, table_id: UUID, *, schema: str, name: str) -> "Draft":
        """Choose one more table; chosen twice, it gets a second name."""
        taken = {(name_key(t.schema), name_key(t.name)) for t in self.tables}
        free, number = name, 2
        while (name_key(schema), name_key(free)) in taken:
            free, number = f"{name}_{number}", number + 1
        table = DraftTable(table_id=str(table_id), schema=schema, name=free)
        return replace(self, tables=(*self.tables, table))

    def without_table(self, position: int) -> "Draft":
        """Drop the table at `position`."""
        kept = (t for place, t in enumerate(self.tables) if place != position)
        return replace(self, tables=tuple(kept))

    def with_recipients(
        self, chosen: Collection[str], *, shown: Collection[str]
    ) -> "Draft":
        """Choose recipients among those shown; the others stay as they are."""
        kept = [name for name in self.recipients if name not in shown]
        names = (*kept, *(n for n in shown if n in chosen and "\x00" not in n))
        return replace(self, recipients=names[:MAX_RECIPIENTS])


def draft_data(draft: Draft) -> Mapping[str, Any]:
    """Return a draft as the JSON form of the wizard shows it."""
    return draft.to_session()


def _table_draft(table: DraftTable, position: int) -> TableDraft:
    form = table.form(position)
    form.is_valid()
    values = form.cleaned_data
    return TableDraft(
        table_id=UUID(table.table_id),
        schema=values.get("schema", ""),
        name=values.get("name", ""),
        with_history=values.get("with_history", False),
        start_version=values.get("start_version"),
        partition_filter=values.get("partition_filter", ""),
    )
