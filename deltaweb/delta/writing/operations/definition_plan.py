"""What a change of a table's definition does, or would do.

The plan has the transaction that is committed, and tells what of protocol, properties,
columns and words becomes another by it.
"""

from dataclasses import dataclass, replace
from typing import Final

from deltaweb.delta.changes.schema import SchemaChanges, diff_schemas
from deltaweb.delta.changes.settings import (
    ValueChanges,
    diff_details,
    diff_properties,
    diff_protocol,
)
from deltaweb.delta.features.known.writers import ShutOut, shut_out
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.protocol.schema import StructType, parse_schema
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.requirements import CheckedRows, check_requirements
from deltaweb.delta.writing.transaction import CommitResult, Transaction

NO_COLUMNS: Final = StructType(())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DefinitionPlan:
    """What a change of a table's definition would do.

    Attributes:
        base: What holds at the version that was read.
        checked: What the rows of the version say to a new constraint; None for any
            other change.
    """

    base: Definition
    transaction: Transaction
    checked: CheckedRows | None = None

    @property
    def protocol(self) -> ValueChanges:
        """Versions and features that change; they never go."""
        return diff_protocol(self.base.protocol, self.transaction.next_protocol)

    @property
    def properties(self) -> ValueChanges:
        """Properties that come, go and change."""
        return diff_properties(self.base.metadata, self.transaction.next_metadata)

    @property
    def details(self) -> ValueChanges:
        """What the table is called, and the words about it."""
        return diff_details(self.base.metadata, self.transaction.next_metadata)

    @property
    def schema(self) -> SchemaChanges:
        """Columns that come, go and change."""
        before, after = self.base.metadata, self.transaction.next_metadata
        if before.schema_string == after.schema_string:
            return SchemaChanges()
        return diff_schemas(_schema(before), _schema(after))

    @property
    def shut_out(self) -> list[ShutOut]:
        """The known clients that could no longer write the table."""
        return shut_out(self.base.protocol, self.transaction.next_protocol)

    def check(self) -> None:
        """Refuse a plan that the rows of the table forbid."""
        if self.checked is not None:
            self.checked.check()


def plan_definition(
    transaction: Transaction, *, root: str, checked: CheckedRows | None = None
) -> DefinitionPlan:
    """Return what a transaction that writes no file would do.

    Args:
        transaction: Of the functions beside this; its base is there.
        checked: What rows say to a new constraint.
    """
    base = transaction.base
    if base is None:
        message = "a plan is of a table that is there"
        raise ValueError(message)
    if not transaction.is_empty:
        check_requirements(transaction, root=root)
    return DefinitionPlan(base=base, transaction=transaction, checked=checked)


def carry_out_definition(
    store: TableStore, plan: DefinitionPlan, *, user_name: str | None = None
) -> CommitResult:
    """Commit what was planned."""
    plan.check()
    return commit_and_checkpoint(store, replace(plan.transaction, user_name=user_name))


def _schema(metadata: Metadata) -> StructType:
    text = metadata.schema_string
    return parse_schema(text) if text else NO_COLUMNS
