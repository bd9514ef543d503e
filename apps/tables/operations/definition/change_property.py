"""A property of a table is set, or taken away."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from apps.pages.changes.parameters import upgrade_parameter
from apps.tables.operations.definition.definition_change import register_change
from deltaweb.delta.writing.operations.definition import (
    set_properties,
    unset_properties,
)
from deltaweb.delta.writing.transaction import Transaction

if TYPE_CHECKING:
    from deltaweb.delta.snapshot.state import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeProperty:
    """Which property, and to what.

    Attributes:
        name: The name of the property.
        value: The value of the property; null removes it.
        values: Several properties instead of one; all are set or removed.
        upgrade: Whether to upgrade the protocol in the same commit if needed.
    """

    name: str = ""
    value: str | None = None
    values: Mapping[str, str | None] = field(default_factory=dict)
    upgrade: bool = upgrade_parameter()

    @property
    def by_name(self) -> dict[str, str | None]:
        """The values that are asked for, None where a property goes."""
        return {**self.values} or {self.name: self.value}

    @property
    def goes(self) -> bool:
        """Whether they are taken away."""
        return None in self.by_name.values()


def change_property(
    base: "Definition", asked: ChangeProperty, root: str
) -> Transaction:
    """Return the transaction that sets the property, or takes it away."""
    if asked.goes:
        return unset_properties(base, [*asked.by_name])
    wanted = {name: value or "" for name, value in asked.by_name.items()}
    return set_properties(base, wanted, root=root, upgrade=asked.upgrade)


CHANGE_PROPERTY: Final = register_change(
    name="change_property",
    words="Change a property",
    title="Change a property of {table}",
    doing="Committing the property",
    action=lambda asked: (
        "table.unset_properties" if asked.goes else "table.set_properties"
    ),
    parameters=ChangeProperty,
    change=change_property,
    page="tables:table-properties",
)
