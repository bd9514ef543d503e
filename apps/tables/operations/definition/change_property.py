"""A property of a table is set, or taken away."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deltaweb.delta.writing.operations.definition import (
    set_properties,
    unset_properties,
)
from deltaweb.delta.writing.transaction import Transaction
from deltaweb.web.tables.operations.definition.definition_change import register_change

if TYPE_CHECKING:
    from deltaweb.delta.snapshot.state import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeProperty:
    """Which property, and to what.

    Attributes:
        name: Its name.
        value: Its value; None takes it away.
        upgrade: Whether the protocol may go up for it, in the same commit.
    """

    name: str
    value: str | None = None
    upgrade: bool = False


def change_property(
    base: "Definition", asked: ChangeProperty, root: str
) -> Transaction:
    """Return the transaction that sets the property, or takes it away.

    Raises:
        DeltaError: As `set_properties` and `unset_properties` do.
    """
    if asked.value is None:
        return unset_properties(base, [asked.name])
    wanted = {asked.name: asked.value}
    return set_properties(base, wanted, root=root, upgrade=asked.upgrade)


CHANGE_PROPERTY: Final = register_change(
    name="change_property",
    words="Change a property",
    title="Change a property of {table}",
    doing="Committing the property",
    action=lambda asked: (
        "table.unset_properties" if asked.value is None else "table.set_properties"
    ),
    parameters=ChangeProperty,
    change=change_property,
    page="tables:table-properties",
)
