"""The page of a table's properties: what is set, what could be, and the change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms

from apps.tables.head.newest import newest_definition
from apps.tables.head.table_head import TableHead
from apps.tables.operations.definition.change_property import (
    CHANGE_PROPERTY,
    ChangeProperty,
    change_property,
)
from apps.tables.operations.definition.checks import check_by
from apps.tables.operations.pages.page import OperationPage, by_values
from deltaweb.delta.protocol.known_properties import KNOWN_PROPERTIES, KnownProperty
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX

MAX_NAME_LENGTH: Final = 300
MAX_VALUE_LENGTH: Final = 4_000
MAX_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class PropertyRow:
    """A property of a table.

    Attributes:
        value: What it is set to; None where it is not set.
        known: What it means; None of one that means nothing here.
    """

    name: str
    value: str | None
    known: KnownProperty | None


class PropertyForm(forms.Form):
    """A property, and its value; or that it goes."""

    name = forms.CharField(
        max_length=MAX_NAME_LENGTH, error_messages={"required": "Name a property."}
    )
    value = forms.CharField(required=False, max_length=MAX_VALUE_LENGTH)
    unset = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Refuse neither a value nor that it goes."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if "value" in values and not values["value"] and not values.get("unset"):
            self.add_error(
                "value", "Give a value, or tick that the property is removed."
            )
        return values


def read_property(values: Mapping[str, Any]) -> ChangeProperty:
    """Return what a form asks.

    The look says what it takes of the protocol, and who agrees to it agrees to that.
    """
    value = None if values["unset"] else values["value"]
    return ChangeProperty(name=values["name"], value=value, upgrade=value is not None)


def shows_property(asked: ChangeProperty) -> dict[str, Any]:
    """Return the values of a form that asks the same."""
    return {
        "name": asked.name,
        "value": asked.value or "",
        "unset": asked.value is None,
    }


def properties_shown(head: TableHead, _shown: object) -> dict[str, Any]:
    """Return the properties that are set, and the known ones that are not."""
    definition = newest_definition(head.table)
    values = definition.metadata.configuration if definition else {}
    return {"set_properties": _set(values), "other_properties": _others(values)}


def _set(values: Mapping[str, str]) -> Sequence[PropertyRow]:
    names = [name for name in sorted(values) if not name.startswith(CONSTRAINT_PREFIX)]
    return [
        PropertyRow(name, values[name], KNOWN_PROPERTIES.get(name))
        for name in names[:MAX_SHOWN]
    ]


def _others(values: Mapping[str, str]) -> Sequence[PropertyRow]:
    return [
        PropertyRow(name, None, known)
        for name, known in KNOWN_PROPERTIES.items()
        if name not in values
    ]


PROPERTY_PAGE: Final = OperationPage(
    shown_as="definition",
    operation=CHANGE_PROPERTY,
    form=PropertyForm,
    heading="Properties",
    about="Properties are settings of the table for every writer and reader. A "
    "change is a commit in the log; no rows or files change.",
    icon="adjustments",
    says="No rows or files change.",
    does="Commit the property",
    failed="The property was not changed",
    read=by_values(read_property),
    shows=shows_property,
    check=check_by(change_property),
    more_of_table=properties_shown,
    below="tables/operations/_properties_below.html",
)
