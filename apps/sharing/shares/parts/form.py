"""What the form of a part was sent with: a rule, and properties of recipients."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from django.http import QueryDict

from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.sharing.access.grants.checks import check_columns, check_condition
from apps.sharing.access.grants.rules import HasRule
from apps.sharing.errors import ColumnsError, ConditionError, PropertyInvalidError
from apps.sharing.models import Recipient
from apps.sharing.recipients.properties import parse_properties, property_texts
from apps.sharing.recipients.resource import values_of
from apps.sharing.shares.forms import MAX_FILTER_LENGTH
from apps.tables.models import Table
from deltaweb.conditions.recipients import Property
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.column_path import format_path
from deltaweb.delta.protocol.schema import StructField

MAX_TYPED: Final = 1000  # characters of a property
ALL_ROWS: Final = "all"
SOME_ROWS: Final = "where"
NO_COLUMN: Final = "Check at least one column."
NO_CONDITION: Final = "Enter a condition, or choose all rows."
TOO_LONG: Final = f"A condition has at most {MAX_FILTER_LENGTH:,} characters."


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedPart:
    """What a form was sent with; a field that was not sent is `UNCHANGED`.

    Attributes:
        rows: `ALL_ROWS` or `SOME_ROWS`.
        columns: The columns that are checked.
        shown: The columns that had a box; without them, no box says anything.
        texts: By the name of a recipient, the text of each property.
    """

    rows: str | Unchanged = UNCHANGED
    condition: str | Unchanged = UNCHANGED
    columns: Sequence[str] = ()
    shown: Sequence[str] | Unchanged = UNCHANGED
    texts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, posted: QueryDict) -> Self:
        """Return what was sent."""
        texts = {
            name: {
                key.partition("-")[2]: str(posted[key]).strip()[:MAX_TYPED]
                for key in posted
                if key.startswith(f"set{place}-")
            }
            for place, name in enumerate(posted.getlist("who"))
        }
        return cls(
            rows=_text(posted, "rows"),
            condition=_text(posted, "condition"),
            columns=posted.getlist("columns"),
            shown=_names(posted.get("shown")),
            texts=texts,
        )

    def new_condition(self, before: str) -> str:
        """Return the condition; a form that is not whole never shows more rows.

        Args:
            before: The condition that holds.

        Raises:
            ConditionError: If rows where nothing holds are chosen.
        """
        if isinstance(self.condition, Unchanged):
            return before
        typed = self.condition.strip()
        if len(typed) > MAX_FILTER_LENGTH:
            raise ConditionError(sentence=TOO_LONG, columns=())
        if self.rows == ALL_ROWS:
            # One that was typed just now is meant, whichever button is pressed.
            return "" if typed == before else typed
        if self.rows == SOME_ROWS and not typed:
            raise ConditionError(sentence=NO_CONDITION, columns=())
        return typed or before

    def new_columns(self, before: Sequence[str], names: Sequence[str]) -> list[str]:
        """Return the columns that are shared; empty means all, also later ones.

        A column that had no box is not shared with the others, unless all columns
        were shared and none is unchecked.

        Args:
            before: The columns that are shared now; empty for all.
            names: The columns of the table.

        Raises:
            ColumnsError: If no box is checked.
        """
        if isinstance(self.shown, Unchanged):
            return [*before]
        checked = [name for name in self.shown if name in set(self.columns)]
        if not checked:
            raise ColumnsError(sentence=NO_COLUMN, columns=())
        has_all = len(checked) == len(self.shown)
        knows_all = names and set(names) <= set(self.shown)
        return [] if has_all and (not before or knows_all) else checked


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPart:
    """The rule of a form, with the errors of its fields.

    Attributes:
        condition: The new condition, or the text that is wrong.
        columns: The new columns; empty for all.
        values: By the name of a recipient, all its properties if one is changed.
        errors: By the name of a field, what is wrong with it.
        faults: By the name of a recipient, what is wrong with a property.
    """

    condition: str
    columns: list[str]
    values: Mapping[str, dict[str, Property]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_wrong(self) -> bool:
        """Whether a field has an error."""
        return bool(self.errors or self.faults)


def new_part(
    typed: TypedPart, held: HasRule, table: Table, recipients: Sequence[Recipient]
) -> NewPart:
    """Return the part that a form asks for, checked against the table.

    Args:
        held: The rule that holds now.
        recipients: Those whose properties may be changed.
    """
    errors: dict[str, str] = {}
    condition, columns = held.condition, [*held.columns]
    try:
        condition = typed.new_condition(condition)
        condition = check_condition(table, condition)
    except ConditionError as error:
        text = "" if isinstance(typed.condition, Unchanged) else typed.condition
        condition = text[:MAX_FILTER_LENGTH]
        errors["condition"] = str(error)
    try:
        columns = typed.new_columns(columns, column_names_of(table))
        columns = check_columns(table, columns)
    except ConditionError as error:
        errors["columns"] = str(error)
    values, faults = {}, {}
    for recipient in recipients:
        before = values_of(recipient)
        try:
            after = new_values(before, typed.texts.get(recipient.name, {}))
        except PropertyInvalidError as error:
            faults[recipient.name] = str(error)
            continue
        if after != before:
            values[recipient.name] = after
    return NewPart(
        condition=condition,
        columns=columns,
        values=values,
        errors=errors,
        faults=faults,
    )


def new_values(
    before: Mapping[str, Property], typed: Mapping[str, str]
) -> dict[str, Property]:
    """Return properties after some were typed; an empty text removes one.

    Args:
        before: The properties, by their names in any capitals.
        typed: The texts, by names in lower case.

    Raises:
        PropertyInvalidError: If a text is no value.
    """
    names = {name.lower(): name for name in before}
    texts = dict(text.split("=", 1) for text in property_texts(before))
    for key, text in typed.items():
        name = names.get(key, key)
        texts.pop(name, None) if not text else texts.update({name: text})
    return parse_properties(f"{name}={text}" for name, text in texts.items())


def quoted_names(names: Sequence[str]) -> str:
    """Return columns as `column_names` reads them."""
    if all(name.isidentifier() for name in names):
        return ", ".join(names)
    return ", ".join(format_path((name,)) for name in names)


def column_names_of(table: Table) -> list[str]:
    """Return the columns of a table as its index knows them; none without one."""
    return [column.name for column in columns_of(table)]


def columns_of(table: Table) -> Sequence[StructField]:
    """Return the columns of a table with their types; likewise."""
    metadata = table.metadata_versions.first()
    try:
        return metadata.schema().fields if metadata else ()
    except SchemaError:
        return ()


def _text(posted: QueryDict, name: str) -> str | Unchanged:
    return str(posted[name]) if name in posted else UNCHANGED


def _names(text: str | None) -> Sequence[str] | Unchanged:
    """Return the columns of a hidden field; `UNCHANGED` if it is not as it was made."""
    try:
        names = json.loads(text or "")
    except ValueError:
        return UNCHANGED
    if not isinstance(names, list) or not names:
        return UNCHANGED
    return [name for name in names if isinstance(name, str)]
