"""A table is made of columns that somebody wrote down, or of those of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from zlib import crc32

from apps.pages.changes.parameters import names_of, parameter
from apps.pages.page_json import json_of
from apps.tables.catalogue.adding.source import FileAsked, source_files
from apps.tables.catalogue.adding.table_request import (
    ShownColumn,
    finish_making,
    open_place,
    register_made,
    shown_columns,
)
from apps.tables.catalogue.adding.uploads import forget_upload
from apps.tables.models import Table
from apps.tables.operations.operation import Operation, register
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.operations.stored import MadeTable
from deltaweb.delta.protocol.schema import StructType, parse_schema
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.transaction import Transaction
from deltaweb.table import DeltaTable
from deltaweb.words import counted
from deltaweb.writer.importing.checked_rows import schema_of
from deltaweb.writer.importing.options import ImportColumn
from deltaweb.writer.importing.proposal import (
    check_readings,
    propose_columns,
    with_types,
)
from deltaweb.writer.making.new_table import NewTable, plan_table


@dataclass(frozen=True, kw_only=True)
class CreateTable(FileAsked):
    """A table that is to be made of columns, or of those of a file.

    Attributes:
        columns: Each with `name`, `type`, `is_nullable`, `comment`, `is_partition`; the
            file's own for none.
        schema: JSON or DDL, in the place of them.
        types: The types of some that a file has, as DDL.
        partition_by: Columns that divide it, where `columns` are none.
    """

    name: str = parameter("", help="table, or namespace.table")
    location: str = parameter("", help="an empty folder or a URL")
    schema: str | None = None
    columns: list[dict[str, Any]] = field(default_factory=list)
    types: str = ""
    partition_by: tuple[str, ...] = parameter(
        (),
        "--partition-by",
        type=names_of,
        metavar="a,b",
        help="partition columns",
    )
    description: str = parameter(
        "", "--description", metavar="TEXT", help="description in the catalog"
    )

    @property
    def has_file(self) -> bool:
        return bool(self.upload or self.path or self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationDetail:
    """What else the preview of a new table shows.

    Attributes:
        columns: As `CreateTable` has them; those of a file also have `narrower`.
        file_name: The file whose columns it gets; "" without one.
        name: Of the table.
        schema: The columns that it would have.
    """

    columns: tuple[Mapping[str, Any], ...]
    file_name: str
    name: str
    location: str
    schema: tuple[ShownColumn, ...]
    min_reader_version: int
    min_writer_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationPlan:
    """A table that could be made.

    Attributes:
        columns: Its columns, as `CreateTable` has them.
        transaction: Its first commit.
    """

    asked: CreateTable
    columns: list[dict[str, Any]]
    schema: StructType
    transaction: Transaction


def plan_creation(
    opened: DeltaTable, asked: CreateTable, context: RunContext
) -> CreationPlan:
    """Find out whether the columns make a table, and the place takes one."""
    given = asked.columns
    if not given and asked.schema is None:
        given = proposed(asked, context)
    new = NewTable(
        schema=_columns_of(given) if asked.schema is None else _written(asked.schema),
        partition_by=[c["name"] for c in given if c["is_partition"]]
        or asked.partition_by,
        description=asked.description or None,
    )
    made = plan_table(opened.store, new)
    return CreationPlan(
        asked=asked,
        columns=given,
        schema=parse_schema(made.next_metadata.schema_string or ""),
        transaction=made,
    )


def _columns_of(given: Sequence[Mapping[str, Any]]) -> StructType:
    return schema_of(
        [
            ImportColumn(
                source=column["name"],
                name=column["name"],
                type_name=column["type"],
                is_nullable=column["is_nullable"],
                comment=column["comment"],
            )
            for column in given
        ]
    )


def _written(schema: str) -> StructType:
    if schema.lstrip().startswith("{"):
        return parse_schema(schema)
    return StructType(tuple(parse_columns_ddl(schema)))


def proposed(asked: CreateTable, context: RunContext) -> list[dict[str, Any]]:
    """Return the columns that a file seems to have; none of its rows is kept."""
    files = source_files(asked)
    found = with_types(propose_columns(files), asked.types)
    # Only a type matters here: those of two readings may differ.
    unlike = [one for one in found if len({r.data_type for r in one.readings}) > 1]
    check_readings(files, unlike, [one.column for one in found])
    for one in found:
        if one.hint:
            context.job.warn(one.hint)
    return [
        {
            "name": one.column.name,
            "type": one.column.type_name,
            "is_nullable": one.column.is_nullable,
            "comment": one.column.comment,
            "is_partition": False,
            "narrower": one.narrower.describe() if one.narrower else None,
        }
        for one in found
    ]


def preview_creation(plan: CreationPlan) -> OperationPreview[CreationDetail]:
    """Tell which columns the table would have, and what it would ask of readers."""
    metadata, protocol = plan.transaction.next_metadata, plan.transaction.next_protocol
    versions = (protocol.min_reader_version, protocol.min_writer_version)
    columns = tuple(shown_columns(plan.schema.fields, metadata.partition_columns))
    return OperationPreview(
        version=None,
        counts={
            "num_columns": len(plan.schema.fields),
            # A file that is another by then is not what was agreed to.
            "schema_crc32": crc32((metadata.schema_string or "").encode()),
        },
        detail=lambda: CreationDetail(
            columns=tuple(plan.columns),
            file_name=plan.asked.file_name,
            name=plan.asked.name,
            location=plan.asked.location,
            schema=columns,
            min_reader_version=versions[0],
            min_writer_version=versions[1],
        ),
        says=(
            f"{plan.asked.location} would be {plan.asked.name}, an empty table of "
            f"{counted(len(columns), 'column')}, reader {versions[0]} and writer "
            f"{versions[1]}. Nothing was written."
        ),
        lines=lambda: (f"  {one.name}  {one.type}" for one in columns),
        exact=lambda: {
            "columns": json_of(columns),
            "partition_columns": metadata.partition_columns,
        },
    )


def create(opened: DeltaTable, plan: CreationPlan, context: RunContext) -> MadeTable:
    """Make the table, and put it into the catalogue."""
    result = commit(opened.store, replace(plan.transaction, txn=context.txn))
    detail = {"version": result.version, "columns": plan.schema.names}
    return register_made(plan.asked, context, "table.create", detail)


def settle_creation(
    _table: Table | None, asked: CreateTable, result: MadeTable | None
) -> None:
    """Forget a file whose columns were taken."""
    if asked.upload and result is not None:
        forget_upload(asked.upload)


CREATE: Final = register(
    Operation(
        name="create_table",
        words="Create a table",
        title="Create a table",
        doing="Committing version 0",
        action="table.create",
        parameters=CreateTable,
        plan=plan_creation,
        preview=preview_creation,
        detail=CreationDetail,
        carry_out=create,
        result=MadeTable,
        opens=open_place,
        settle=settle_creation,
        resume=lambda asked, when: finish_making(asked, when, "table.create"),
        result_text=lambda made: (
            f"Created {made.table} at {made.location}: version {made.version}, no rows"
        ),
    )
)
