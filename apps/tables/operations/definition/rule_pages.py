"""The pages of what writers have to keep: constraints, and the protocol."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms

from apps.tables.head.newest import newest_definition, newest_schema
from apps.tables.head.table_head import TableHead
from apps.tables.models import Table
from apps.tables.operations.definition.change_constraint import (
    CHANGE_CONSTRAINT,
    ChangeConstraint,
    change_constraint,
)
from apps.tables.operations.definition.checks import check_by
from apps.tables.operations.definition.upgrade_protocol import (
    UPGRADE_PROTOCOL,
    upgrade,
)
from apps.tables.operations.pages.page import OperationPage, by_values
from deltaweb import expressions
from deltaweb.delta.features.known.described import describe_feature
from deltaweb.delta.features.registry import (
    BY_WRITER_VERSION,
    FEATURES_READER_VERSION,
    FEATURES_WRITER_VERSION,
    writer_features,
)
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX

MAX_NAME_LENGTH: Final = 200
MAX_SQL_LENGTH: Final = 10_000
ADD, DROP = "add", "drop"


class ConstraintForm(forms.Form):
    """A constraint that comes or goes."""

    way = forms.ChoiceField(choices=[(ADD, "Add"), (DROP, "Drop")], initial=ADD)
    name = forms.CharField(
        max_length=MAX_NAME_LENGTH, error_messages={"required": "Name the constraint."}
    )
    sql = forms.CharField(required=False, max_length=MAX_SQL_LENGTH)

    def clean(self) -> dict[str, Any]:
        """Ask for the condition of a new one."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        if values.get("way") == ADD and "sql" in values and not values["sql"]:
            self.add_error("sql", "Give a condition that must be true for every row.")
        return values


class ProtocolForm(forms.Form):
    """The versions of the protocol from now on."""

    reader = forms.IntegerField(min_value=1, max_value=FEATURES_READER_VERSION)
    writer = forms.IntegerField(min_value=1, max_value=FEATURES_WRITER_VERSION)


def read_constraint(values: Mapping[str, Any]) -> ChangeConstraint:
    """Return what a form asks.

    The look says what it takes of the protocol, and who agrees to it agrees to that.
    """
    sql = values["sql"] if values["way"] == ADD else None
    return ChangeConstraint(name=values["name"], sql=sql, upgrade=sql is not None)


def shows_constraint(asked: ChangeConstraint) -> dict[str, Any]:
    """Return the values of a form that asks the same."""
    way = DROP if asked.sql is None else ADD
    return {"way": way, "name": asked.name, "sql": asked.sql or ""}


def check_constraint(table: Table, asked: ChangeConstraint) -> None:
    """Refuse a name, a condition or a protocol that does not do."""
    check_by(change_constraint)(table, asked)
    schema = newest_schema(table)
    if asked.sql is not None and schema is not None:
        expressions.condition.SQLCondition(asked.sql, schema, asked.time_zone)


def constraints_shown(head: TableHead, _shown: object) -> dict[str, Any]:
    """Return the constraints that hold now."""
    definition = newest_definition(head.table)
    values = definition.metadata.configuration if definition else {}
    return {
        "constraints": [
            (name[len(CONSTRAINT_PREFIX) :], sql)
            for name, sql in sorted(values.items())
            if name.startswith(CONSTRAINT_PREFIX)
        ]
    }


def protocol_shown(head: TableHead, _shown: object) -> dict[str, Any]:
    """Return the protocol, its features in words, and the versions to choose."""
    definition = newest_definition(head.table)
    if definition is None:
        return {}
    now = definition.protocol
    return {
        "protocol": now,
        "features": [
            (name, describe_feature(name).meaning) for name in writer_features(now)
        ],
        "readers": [*range(now.min_reader_version, FEATURES_READER_VERSION + 1)],
        "writers": [
            (version, _brought(version))
            for version in range(now.min_writer_version, FEATURES_WRITER_VERSION + 1)
        ],
    }


def _brought(version: int) -> str:
    if version == FEATURES_WRITER_VERSION:
        return "lists its features"
    return ", ".join(BY_WRITER_VERSION.get(version, ()))


CONSTRAINT_PAGE: Final = OperationPage(
    shown_as="definition",
    operation=CHANGE_CONSTRAINT,
    form=ConstraintForm,
    heading="Constraints",
    about="A CHECK constraint must be true for every new row. Existing rows "
    "are checked before the constraint is added.",
    icon="list-check",
    says="It applies to every row that is written from now on.",
    does="Commit the constraint",
    failed="The constraint was not changed",
    read=by_values(read_constraint),
    shows=shows_constraint,
    check=check_constraint,
    more_of_table=constraints_shown,
    below="tables/operations/_constraints_below.html",
)
PROTOCOL_PAGE: Final = OperationPage(
    shown_as="definition",
    operation=UPGRADE_PROTOCOL,
    form=ProtocolForm,
    heading="Protocol",
    about="The protocol lists what clients must support to read and write this "
    "table. It can only be upgraded. Clients that do not support the new version can "
    "no longer use the table.",
    icon="shield",
    says="No rows or files change.",
    does="Upgrade the protocol",
    failed="The protocol was not upgraded",
    is_undone=False,
    check=check_by(upgrade),
    more_of_table=protocol_shown,
    below="tables/operations/_protocol_below.html",
)
