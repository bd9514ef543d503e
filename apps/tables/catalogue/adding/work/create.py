"""A table is made of columns that somebody wrote down."""

from dataclasses import dataclass, replace
from typing import Any, Final

from apps.tables.catalogue.adding.newborn import (
    finish_making,
    open_place,
    register_made,
    settle_nothing,
)
from apps.tables.operations.foreseen import Foreseen, Occasion
from apps.tables.operations.operation import Operation, register
from deltaweb.delta.protocol.schema import StructType, type_text
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.transaction import Transaction
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.checked_rows import schema_of
from deltaweb.writer.importing.options import ImportColumn
from deltaweb.writer.making.new_table import NewTable, plan_table


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    """A table that is to be made.

    Attributes:
        name: As in the catalogue.
        location: Where.
        description: What people read of it.
        user_id: Who asked.
        columns: Each with `name`, `type`, `is_nullable`, `comment`, `is_partition`.
    """

    name: str
    location: str
    description: str
    user_id: int
    columns: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationPlan:
    """A table that could be made.

    Attributes:
        asked: What was asked.
        schema: Its columns.
        transaction: Its first commit.
    """

    asked: CreateTable
    schema: StructType
    transaction: Transaction


def plan_creation(
    opened: DeltaTable, asked: CreateTable, _occasion: Occasion
) -> CreationPlan:
    """Find out whether the columns make a table, and the place takes one.

    Raises:
        DeltaError: As `plan_table` lists them.
    """
    columns = [
        ImportColumn(
            source=column["name"],
            name=column["name"],
            type_name=column["type"],
            is_nullable=column["is_nullable"],
            comment=column["comment"],
        )
        for column in asked.columns
    ]
    schema = schema_of(columns)
    new = NewTable(
        schema=schema,
        partition_by=[c["name"] for c in asked.columns if c["is_partition"]],
        description=asked.description or None,
    )
    return CreationPlan(
        asked=asked, schema=schema, transaction=plan_table(opened.store, new)
    )


def foresee_creation(plan: CreationPlan) -> Foreseen:
    """Tell which columns the table would have, and what it would ask of readers."""
    metadata, protocol = plan.transaction.next_metadata, plan.transaction.next_protocol
    return Foreseen(
        version=None,
        counts={"num_columns": len(plan.schema.fields)},
        detail={
            "name": plan.asked.name,
            "location": plan.asked.location,
            "schema": [
                {
                    "name": column.name,
                    "type": type_text(column.data_type),
                    "is_nullable": column.nullable,
                    "comment": column.metadata.get("comment", ""),
                    "is_partition": column.name in metadata.partition_columns,
                }
                for column in plan.schema.fields
            ],
            "min_reader_version": protocol.min_reader_version,
            "min_writer_version": protocol.min_writer_version,
        },
    )


def create(
    opened: DeltaTable, plan: CreationPlan, occasion: Occasion
) -> dict[str, Any]:
    """Make the table, and put it into the catalogue.

    Raises:
        DeltaError: As `commit` and `register_made` list them.
    """
    result = commit(opened.store, replace(plan.transaction, txn=occasion.txn))
    detail = {"version": result.version, "columns": plan.schema.names}
    made = register_made(plan.asked, occasion, "table.create", detail)
    return {**made, "version": result.version}


CREATE: Final = register(
    Operation(
        name="create_table",
        words="Create a table",
        title="Create a table",
        doing="Committing version 0",
        action="table.create",
        parameters=CreateTable,
        plan=plan_creation,
        foresee=foresee_creation,
        carry_out=create,
        opens=open_place,
        settle=settle_nothing,
        resume=lambda asked, when: finish_making(asked, when, "table.create"),
    )
)
