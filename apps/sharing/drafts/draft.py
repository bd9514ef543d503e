"""A share while the wizard makes it: what was typed so far, kept in the session.

Texts are kept as they were typed, so that a step can show them again with its fault.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, replace
from typing import Any, TypeVar
from uuid import UUID

from django import forms
from django.http import QueryDict

from apps.pages.changes.forms import OTHER, form_of
from apps.pages.changes.parameters import Line, filled_lines, parameter
from apps.pages.request.changes import NOT_CHECKED, ChangeForm
from apps.sharing.errors import PropertyInvalidError
from apps.sharing.models import SharedTable
from apps.sharing.names import name_key
from apps.sharing.recipients.forms import NewRecipientForm
from apps.sharing.recipients.properties import parse_properties
from apps.sharing.recipients.resource import PROPERTIES
from apps.sharing.recipients.services import NewRecipient
from apps.sharing.shares.forms import MAX_TEXT_LENGTH
from apps.sharing.shares.parts.form import quoted_names
from apps.sharing.shares.terms import FileForm, Part, Terms, check_part
from deltaweb.conditions.recipients import Property

STEPS = {
    "name": "Name",
    "tables": "Tables",
    "recipients": "Recipients",
    "seen": "What they see",
    "review": "Review",
}
MAX_TABLES = 100
MAX_TYPED = 300  # characters of a field of a new recipient
MAX_LENGTHS = {PROPERTIES: 20_001}  # beyond what the form takes, which then says so
MAX_RECIPIENTS = 1000
MAX_NEW_RECIPIENTS = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPart(FileForm, Part):
    """The part of a table that a new share offers, with its names there."""

    schema: str = parameter(
        MISSING,
        None,
        line=Line(
            label="Schema",
            most=MAX_TEXT_LENGTH,
            is_needed=True,
            wrong="Enter the schema under which recipients find the table.",
            codes=("name-invalid schema",),
        ),
    )
    name: str = parameter(
        MISSING,
        None,
        line=Line(
            label="Name",
            most=MAX_TEXT_LENGTH,
            is_needed=True,
            wrong="Enter the name under which recipients find the table.",
            codes=("name-invalid table", "name-taken"),
        ),
    )


TableDraftForm = form_of(NamedPart, ChangeForm)


def usual_part() -> dict[str, str]:
    """Return what is typed for a part before anything is: it offers all."""
    return {
        name: str(value) if value else ""
        for name, value in SharedTable().offer.items()
        if name in TableDraftForm.base_fields
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftTable:
    """A chosen table, as typed.

    Attributes:
        part: The texts of the fields of `Part`.
    """

    table_id: str
    schema: str
    name: str
    part: dict[str, str] = field(default_factory=usual_part)

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.name}"

    @property
    def offered(self) -> SharedTable:
        """The table of a share that it would become, without what is wrong."""
        form = self.form()
        form.is_valid()
        return SharedTable(**form.cleaned_data)

    def form(self, position: int = 0) -> forms.Form:
        """Return its form, bound, with the names of fields at `position`."""
        prefix = f"t{position}"
        typed = {"schema": self.schema, "name": self.name, **self.part}
        data = {f"{prefix}-{name}": value for name, value in typed.items()}
        return TableDraftForm(data, prefix=prefix)

    def with_typed(self, posted: QueryDict, prefix: str) -> "DraftTable":
        """Take over what was typed; a box that was not sent is not checked."""
        boxes = {
            name: NOT_CHECKED
            for name, one in TableDraftForm.base_fields.items()
            if isinstance(one, forms.BooleanField)
        }
        return replace(
            self,
            schema=posted.get(f"{prefix}schema", self.schema).strip(),
            name=posted.get(f"{prefix}name", self.name).strip(),
            part={
                name: posted.get(f"{prefix}{name}", boxes.get(name, value))
                for name, value in {**usual_part(), **self.part}.items()
            },
        )

    def with_rule(self, condition: str, columns: Sequence[str]) -> "DraftTable":
        """Take over a rule; empty columns are all."""
        texts = {"condition": condition, "columns": quoted_names(columns)}
        return replace(self, part=self.part | texts)

    def terms(self) -> Terms:
        """Return the terms on which it is to be offered."""
        form = self.form()
        check_part(form)
        return Terms(**{name: form.cleaned_data[name] for name in self.part})


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRecipient:
    """A recipient to be made, as typed."""

    name: str = ""
    contact: str = ""
    lifetime: str = ""
    until: str = ""
    properties: str = ""

    @classmethod
    def typed(cls, posted: QueryDict) -> "DraftRecipient":
        """Return what a form was sent with."""
        return cls(
            **{
                name: posted.get(name, "")
                .strip()
                .replace("\x00", "")[: MAX_LENGTHS.get(name, MAX_TYPED)]
                for name in cls.__slots__
            }
        )

    @property
    def is_begun(self) -> bool:
        """Whether anything was typed that would be lost."""
        return bool(self.name or self.contact)

    def form(self) -> forms.Form:
        """Return its form, bound."""
        return NewRecipientForm(asdict(self))

    @property
    def values(self) -> dict[str, Property]:
        """Its properties; none as long as one of them is wrong."""
        try:
            return parse_properties(filled_lines(self.properties))
        except PropertyInvalidError:
            return {}

    @property
    def lifetime_text(self) -> str:
        """How long its token lives, as `parse_lifetime` reads it."""
        return self.until if self.lifetime == OTHER else self.lifetime

    def to_be_made(self, share: str) -> NewRecipient:
        """Return what is to be made, to read a share."""
        return NewRecipient(
            name=self.name,
            shares=[share],
            contact=self.contact,
            expires=self.lifetime_text,
            properties=filled_lines(self.properties),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What was typed and chosen so far.

    Attributes:
        new_recipients: Those to be made with the share.
        begun: One more of these, not added yet.
        new_values: By the name of a chosen recipient, all its properties as key=value
            if the share is to change them.
    """

    name: str = ""
    comment: str = ""
    tables: tuple[DraftTable, ...] = ()
    recipients: tuple[str, ...] = ()
    new_recipients: tuple[DraftRecipient, ...] = ()
    begun: DraftRecipient = DraftRecipient()
    new_values: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be lost with it."""
        typed = self.name or self.comment or self.begun.is_begun
        return not (typed or self.tables or self.num_recipients)

    @property
    def num_recipients(self) -> int:
        """How many would read the share, the new ones among them."""
        return len(self.recipients) + len(self.new_recipients)

    @classmethod
    def from_session(cls, stored: object) -> "Draft":
        """Return what `to_session` made; anything else is an empty draft."""
        if not isinstance(stored, dict):
            return cls()
        try:
            tables = tuple(DraftTable(**table) for table in stored["tables"])
            new = (DraftRecipient(**one) for one in stored["new_recipients"])
            return cls(
                name=stored["name"],
                comment=stored["comment"],
                tables=tables,
                recipients=tuple(stored["recipients"]),
                new_recipients=tuple(new),
                begun=DraftRecipient(**stored["begun"]),
                new_values=stored.get("new_values", {}),
            )
        except (KeyError, TypeError):  # of a release that kept it otherwise
            return cls()

    def to_session(self) -> dict[str, Any]:
        """Return plain values that a session can hold."""
        return asdict(self)

    # === Changes ===

    def with_tables_of(self, posted: QueryDict) -> "Draft":
        """Take over what was typed for the chosen tables."""
        typed = []
        for position, table in enumerate(self.tables):
            prefix = f"t{position}-"
            if posted.get(f"{prefix}id") != table.table_id:
                return self  # of another tab: the draft has moved on
            typed.append(table.with_typed(posted, prefix))
        return replace(self, tables=tuple(typed))

    def with_table(self, table_id: UUID, *, schema: str, name: str) -> "Draft":
        """Choose one more table; chosen twice, it gets a second name."""
        taken = {(name_key(t.schema), name_key(t.name)) for t in self.tables}
        free, number = name, 2
        while (name_key(schema), name_key(free)) in taken:
            free, number = f"{name}_{number}", number + 1
        table = DraftTable(table_id=str(table_id), schema=schema, name=free)
        return replace(self, tables=(*self.tables, table))

    def with_recipients(
        self, chosen: Collection[str], *, shown: Collection[str]
    ) -> "Draft":
        """Choose recipients among those shown; the others stay as they are."""
        kept = [name for name in self.recipients if name not in shown]
        names = (*kept, *(n for n in shown if n in chosen and "\x00" not in n))
        return replace(self, recipients=names[:MAX_RECIPIENTS])

    def with_values(self, texts: Mapping[str, list[str]]) -> "Draft":
        """Change properties of recipients, the new ones among them, by their names."""
        new = tuple(
            replace(one, properties="\n".join(texts[one.name]))
            if one.name in texts
            else one
            for one in self.new_recipients
        )
        names = {one.name for one in new}
        others = {name: texts[name] for name in texts if name not in names}
        known = {**self.new_values, **others}
        return replace(self, new_recipients=new, new_values=known)


def without(items: tuple[T, ...], place: str) -> tuple[T, ...]:
    """Return items without the one at a place, as a button names it."""
    number = int(place) if place.isdecimal() else len(items)
    return items[:number] + items[number + 1 :]
