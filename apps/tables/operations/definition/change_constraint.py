"""A CHECK constraint is added, once it is true of every row, or dropped."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.pages.changes.parameters import (
    parameter,
    upgrade_parameter,
    zone_parameter,
)
from apps.tables.operations.definition.definition_change import register_change
from apps.tables.operations.preview import RunContext
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.operations.definition import add_constraint, drop_constraint
from deltaweb.delta.writing.operations.definition_plan import DefinitionPlan
from deltaweb.delta.writing.transaction import Transaction
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from deltaweb.delta.snapshot.state import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeConstraint:
    """Which constraint.

    Attributes:
        name: The name of the constraint.
        sql: The condition that every row must meet; null drops the constraint.
        upgrade: Whether to upgrade the protocol in the same commit if needed.
        time_zone: The time zone of times without one in the condition.
    """

    name: str = parameter("")
    sql: str | None = parameter(None, is_stated=True, metavar="SQL")
    upgrade: bool = upgrade_parameter()
    time_zone: str = zone_parameter(
        UTC_ZONE, of="its SQL (UTC without), as rows are checked"
    )


def change_constraint(
    base: "Definition", asked: ChangeConstraint, root: str
) -> Transaction:
    """Return the transaction that adds or drops it; no row is looked at."""
    if asked.sql is None:
        return drop_constraint(base, asked.name)
    return add_constraint(base, asked.name, asked.sql, root=root, upgrade=asked.upgrade)


def plan_constraint(
    opened: DeltaTable, asked: ChangeConstraint, context: RunContext
) -> DefinitionPlan:
    """Check every row for a new constraint."""
    if asked.sql is None:
        name = asked.name
        return opened.plan_definition(lambda base: drop_constraint(base, name))
    there = DeltaTable.from_store(opened.store, time_zone=asked.time_zone)
    return there.plan_constraint(
        asked.name,
        asked.sql,
        upgrade=asked.upgrade,
        on_progress=context.job.progress_of("rows"),
    )


CHANGE_CONSTRAINT: Final = register_change(
    name="change_constraint",
    words="Add or drop a constraint",
    title="Change a constraint of {table}",
    doing="Committing the constraint",
    action=lambda asked: (
        "table.drop_constraint" if asked.sql is None else "table.add_constraint"
    ),
    parameters=ChangeConstraint,
    change=change_constraint,
    plan=plan_constraint,
    page="tables:table-constraints",
)
