"""What a write is to be: found out once, in the driver, before a task runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Self

import pyarrow as pa

from deltaweb.delta.errors import LocationNotFoundError, TableNotFoundError
from deltaweb.delta.features.identity_columns import IDENTITY_COLUMNS
from deltaweb.delta.features.row_tracking import ROW_TRACKING, kept_row_ids
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.protocol.schema import StructType, arrow_schema, parse_schema
from deltaweb.delta.snapshot.state import Definition, load_definition
from deltaweb.delta.writing.concurrent_commits import is_noted
from deltaweb.delta.writing.errors import (
    LocationTakenError,
    SchemaMismatchError,
    UnsupportedWriteError,
)
from deltaweb.delta.writing.requirements import RowConstraint, check_writable
from deltaweb.expressions.session.settings import OURS, SessionSettings
from deltaweb.spark.writing.session.conditions import FilledColumns
from deltaweb.spark.writing.session.stored_values import stored_schema
from deltaweb.storage.place import TablePlace
from deltaweb.writer.append import WRITE
from deltaweb.writer.making.free_place import check_empty
from deltaweb.writer.making.new_table import NewTable, new_definition
from deltaweb.writer.overwrite import REPLACE_WHERE
from deltaweb.writer.rows.identity_numbers import IdentityNumbers
from deltaweb.writer.rows.row_checks import constraints_elsewhere
from deltaweb.writer.rows.row_schema import RowSchema
from deltaweb.writer.table_write import TableWrite, evolved


class SaveMode(StrEnum):
    """What becomes of the rows that are there; the names are Spark's."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    ERROR = "error"
    IGNORE = "ignore"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the mode of a name, in any case."""
        name = text.lower()
        return cls("error" if name == "errorifexists" else name)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRequest:
    """What is asked of a write.

    Attributes:
        partition_by: The partition columns of a table that is made; those of one that
            is there have to be the same. None to leave it to the table.
    """

    mode: SaveMode = SaveMode.APPEND
    partition_by: Sequence[str] | None = None
    where: str | None = None
    merge_schema: bool = False
    overwrite_schema: bool = False
    dynamic: bool = False
    txn: tuple[str, int] | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ways = (self.where is not None, self.overwrite_schema, self.dynamic)
        if sum(ways) > 1:
            message = "choose one of where, overwrite_schema and dynamic"
            raise ValueError(message)
        if any(ways) and self.mode is not SaveMode.OVERWRITE:
            message = "where, overwrite_schema and dynamic are for mode 'overwrite'"
            raise ValueError(message)

    @property
    def noted(self) -> SetTransaction | None:
        """The action that notes how far the application has come."""
        if self.txn is None:
            return None
        app_id, version = self.txn
        return SetTransaction(app_id=app_id, version=version)

    @property
    def rules(self) -> tuple[RowConstraint, ...]:
        """What must be true of the rows of this write alone."""
        if self.where is None:
            return ()
        return (RowConstraint(REPLACE_WHERE, self.where),)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WritePlan:
    """A write to a version of a table, as its tasks and its commit need it.

    Attributes:
        base: What holds at the version that was read; None where this makes the table.
        protocol: What holds from the write on; the next as well.
        elsewhere: Conditions on rows that tasks do not evaluate: Spark does.
        filled: Columns that Spark gives the rows.
        is_checked: Whether rows are new ones; others were checked when they came.
        copied: The files whose rows these are, where they are written again.
    """

    place: TablePlace
    request: WriteRequest
    base: Definition | None
    protocol: Protocol
    metadata: Metadata
    settings: SessionSettings = OURS
    elsewhere: tuple[RowConstraint, ...] = ()
    filled: FilledColumns = field(default_factory=FilledColumns)
    is_checked: bool = True
    copied: pa.Table | None = None

    @property
    def write(self) -> TableWrite:
        """The write as in process, with a store of its own."""
        base = self.base or Definition(0, self.protocol, self.metadata)
        is_new = self.base is None
        return TableWrite(self.place.open(), base, self.metadata, is_new=is_new)

    @property
    def schema(self) -> StructType:
        return self.write.schema


def plan_write(
    place: TablePlace,
    incoming: pa.Schema,
    request: WriteRequest,
    settings: SessionSettings = OURS,
) -> WritePlan | None:
    """Find out what a write is to be.

    Returns:
        None where nothing is to be done: the table is there, or has the `txn`.
    """
    store = place.open()
    try:
        base = load_definition(store)
    except (TableNotFoundError, LocationNotFoundError):
        if request.where is not None:
            raise
        return _plan_new_table(store, place, incoming, request, settings)
    if request.mode is SaveMode.IGNORE:
        return None
    if request.mode is SaveMode.ERROR:
        raise LocationTakenError(location=store.root)
    replaces = request.mode is SaveMode.OVERWRITE
    check_writable(base, root=store.root, operation=WRITE, removes_rows=replaces)
    if request.where is not None and kept_row_ids(base.protocol, base.metadata):
        raise rows_not_tracked(store.root, base)
    if is_noted(store, request.noted):
        return None
    metadata = evolved(
        base, incoming, merge=request.merge_schema, replaces=request.overwrite_schema
    )
    _check_partitions(metadata, request.partition_by)
    schema = parse_schema(metadata.schema_string or "")
    if IdentityNumbers.of(base.protocol, schema).columns:
        raise rows_not_numbered(store.root, base)
    plan = WritePlan(
        place=place,
        request=request,
        base=base,
        protocol=base.protocol,
        metadata=metadata,
        settings=settings,
    )
    return _checked(plan, incoming)


def _plan_new_table(
    store: TableStore,
    place: TablePlace,
    incoming: pa.Schema,
    request: WriteRequest,
    settings: SessionSettings,
) -> WritePlan:
    check_empty(store)
    metadata, protocol = new_definition(
        new_table(incoming, request), is_evaluated_here=False
    )
    plan = WritePlan(
        place=place,
        request=request,
        base=None,
        protocol=protocol,
        metadata=metadata,
        settings=settings,
    )
    return _checked(plan, incoming)


def new_table(incoming: pa.Schema, request: WriteRequest) -> NewTable:
    return NewTable(
        schema=incoming,
        partition_by=request.partition_by or (),
        properties=request.properties,
    )


def _checked(plan: WritePlan, incoming: pa.Schema) -> WritePlan:
    schema, metadata, rules = plan.schema, plan.metadata, plan.request.rules
    settings = plan.settings
    filled = FilledColumns.of(schema, incoming.names, settings)
    given = stored_schema(incoming, schema)
    for name in filled.names:
        given = given.append(arrow_schema(schema.select((name,)))[0])
    RowSchema(schema, given)
    elsewhere = constraints_elsewhere(metadata, schema, rules, settings)
    return replace(plan, elsewhere=elsewhere, filled=filled)


def _check_partitions(metadata: Metadata, asked: Sequence[str] | None) -> None:
    there = [name.lower() for name in metadata.partition_columns]
    if asked is None or [name.lower() for name in asked] == there:
        return
    kept = ", ".join(metadata.partition_columns) or "no column"
    reason = f"cannot be a partition column: the table is partitioned by {kept}"
    raise SchemaMismatchError(misfits=dict.fromkeys(asked or there, reason))


def rows_not_tracked(root: str, base: Definition) -> UnsupportedWriteError:
    """Return the refusal to write rows again that keep what they are known by."""
    needs = [f"{ROW_TRACKING} for rows that Spark writes again"]
    return UnsupportedWriteError(root=root, version=base.version, needs=needs)


def rows_not_numbered(root: str, base: Definition) -> UnsupportedWriteError:
    """Return the refusal to write new rows that a table numbers."""
    needs = [f"{IDENTITY_COLUMNS} in rows that Spark's tasks write"]
    return UnsupportedWriteError(root=root, version=base.version, needs=needs)
