"""The verbs of a table that write no data file: its definition, and its versions.

Each is one call into `deltaweb.delta.writing`, which is imported by the method that
needs it: a command that only reads starts without.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.schema import StructField
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_definition, load_state
from deltaweb.delta.values.time_zones.known import UTC_ZONE

if TYPE_CHECKING:
    from deltaweb.delta.protocol.schema import DataType
    from deltaweb.delta.snapshot.state import Definition
    from deltaweb.delta.writing.operations.definition_plan import DefinitionPlan
    from deltaweb.delta.writing.operations.restore import RestorePlan
    from deltaweb.delta.writing.operations.vacuum import VacuumPlan
    from deltaweb.delta.writing.transaction import CommitResult, Transaction

NewColumns = Iterable[StructField | pa.Field] | str


class TableUpkeep:
    """What changes a table without writing rows; `DeltaTable` has all of it."""

    _store: TableStore
    _time_zone: str | None
    snapshot: Callable[..., Snapshot]

    # === The definition ===

    def set_properties(
        self, properties: Mapping[str, str], *, upgrade: bool = False
    ) -> "CommitResult":
        """Set properties of the table; `delta.feature.NAME = supported` adds a feature.

        Args:
            properties: By name; values are text.
            upgrade: Whether the protocol may go up for them, in the same commit; there
                is no way back.

        Raises:
            PropertyError: If a value is not of its property.
            ProtocolTooOldError: If the protocol does not know of it yet.
            UnsupportedWriteError: If it turns on what is not written here.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.writing.operations.definition import set_properties

        root = self._store.root
        return self._change(
            lambda base: set_properties(base, properties, root=root, upgrade=upgrade)
        )

    def unset_properties(self, names: Iterable[str]) -> "CommitResult":
        """Take properties away; those that are not there are passed over.

        Raises:
            PropertyError: If one is a constraint, which is dropped by its name.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.writing.operations.definition import unset_properties

        return self._change(lambda base: unset_properties(base, names))

    def add_columns(
        self, columns: NewColumns, *, upgrade: bool = False
    ) -> "CommitResult":
        """Add columns at the end, null in all present rows.

        Args:
            columns: Fields of pyarrow or of a schema, or DDL such as
                `note STRING COMMENT 'what was said', tags ARRAY<STRING>`.
            upgrade: Whether the protocol may go up for their types, in the same
                commit; there is no way back.

        Raises:
            SchemaError: If the DDL does not parse.
            SchemaMismatchError: If a column is there already, or takes no null.
            ProtocolTooOldError: If the protocol does not know of a type.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.writing.operations.definition import add_columns

        fields, root = _fields(columns), self._store.root
        return self._change(
            lambda base: add_columns(base, fields, root=root, upgrade=upgrade)
        )

    def rename_column(self, column: str, new_name: str) -> "CommitResult":
        """Give a column of a table that maps columns another name.

        Args:
            column: A dotted path for a nested column.
            new_name: Its name within what holds it.

        Raises:
            ColumnNotFoundError: If there is no such column.
            ColumnInUseError: If a constraint or a property names it.
            ProtocolUpgradeError: If the table maps no columns.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.writing.operations.renamed_columns import rename_column

        root = self._store.root
        return self._change(
            lambda base: rename_column(base, column, new_name, root=root)
        )

    def widen_column(self, column: str, data_type: "DataType | str") -> "CommitResult":
        """Give a column a wider type; stored values are widened as they are read.

        Args:
            column: A dotted path for a nested column; the parts of arrays and maps
                are called `element`, `key` and `value`.
            data_type: What it becomes, or that as SQL spells it: `BIGINT`.

        Raises:
            SchemaError: If the type is none.
            ColumnNotFoundError: If there is no such column.
            TypeNotWidenedError: If it does not become of that type.
            ColumnInUseError: If a constraint or a generated column names it.
            ProtocolUpgradeError: If the table does not let types change.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.protocol.schema_ddl import parse_type_ddl
        from deltaweb.delta.writing.operations.widened_columns import widen_column

        root = self._store.root
        wide = parse_type_ddl(data_type) if isinstance(data_type, str) else data_type
        return self._change(lambda base: widen_column(base, column, wide, root=root))

    def drop_column(self, column: str) -> "CommitResult":
        """Take a column out of the rows of a table that maps columns.

        Its values stay in the files that have them, and in the versions before.

        Raises:
            DeltaError: As `rename_column` lists them.
        """
        from deltaweb.delta.writing.operations.renamed_columns import drop_column

        root = self._store.root
        return self._change(lambda base: drop_column(base, column, root=root))

    def set_comment(
        self, text: str | None, column: str | None = None
    ) -> "CommitResult":
        """Describe the table, or a column of it; None takes the words away.

        Raises:
            ColumnNotFoundError: If there is no such column.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.writing.operations.definition import set_comment

        return self._change(lambda base: set_comment(base, text, column=column))

    def add_constraint(
        self, name: str, sql: str, *, upgrade: bool = False
    ) -> "CommitResult":
        """Add a CHECK constraint, once it is true of every present row.

        Args:
            name: The constraint's name.
            sql: Its expression.
            upgrade: Whether the protocol may go up for it, in the same commit; there
                is no way back.

        Raises:
            ConstraintViolatedError: If it is false or unknown for a row.
            ConstraintNameError: If the name is taken.
            ExpressionError: If the SQL does not fit the table, or is not evaluated
                here.
            ProtocolTooOldError: If the protocol does not know of constraints.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.writing.operations.definition_plan import (
            carry_out_definition,
        )

        plan = self.plan_constraint(name, sql, upgrade=upgrade)
        return carry_out_definition(self._store, plan)

    def plan_constraint(
        self,
        name: str,
        sql: str,
        *,
        upgrade: bool = False,
        on_progress: Callable[[int, int | None], None] | None = None,
    ) -> "DefinitionPlan":
        """Return what `add_constraint` would do, and which rows it would forbid.

        Args:
            name: The constraint's name.
            sql: Its expression.
            upgrade: As `add_constraint` takes it.
            on_progress: Told how many rows are looked at, and of how many if the log
                says so; it may raise to stop the work.

        Raises:
            DeltaError: As `add_constraint` does, but for the rows.
        """
        from deltaweb.delta.writing.operations.definition import add_constraint
        from deltaweb.delta.writing.operations.definition_plan import plan_definition
        from deltaweb.delta.writing.requirements import RowConstraint
        from deltaweb.writer.row_checks import look_at_rows

        state, root = load_state(self._store, None), self._store.root
        snapshot = Snapshot(self._store, state)
        transaction = add_constraint(
            state.definition, name, sql, root=root, upgrade=upgrade
        )
        plan_definition(transaction, root=root)  # before any row is read
        constraint = RowConstraint(name, sql)
        checked = look_at_rows(
            snapshot, constraint, on_progress, self._time_zone or UTC_ZONE
        )
        return plan_definition(transaction, root=root, checked=checked)

    def drop_constraint(self, name: str) -> "CommitResult":
        """Drop a CHECK constraint.

        Raises:
            ConstraintNameError: If there is none of that name.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.writing.operations.definition import drop_constraint

        return self._change(lambda base: drop_constraint(base, name))

    def upgrade_protocol(
        self, reader: int | None = None, writer: int | None = None
    ) -> "CommitResult":
        """Raise the versions of the protocol; there is no way back.

        Raises:
            ProtocolUpgradeError: If a version would go down.
            UnsupportedWriteError: If a version asks more than is done here.
            DeltaError: As `commit` lists them.
        """
        from deltaweb.delta.writing.operations.protocol_change import upgrade_protocol

        root = self._store.root
        return self._change(
            lambda base: upgrade_protocol(base, reader=reader, writer=writer, root=root)
        )

    def plan_definition(
        self, change: "Callable[[Definition], Transaction]"
    ) -> "DefinitionPlan":
        """Return what a change of the definition would do; nothing is written.

        Args:
            change: Makes the transaction of what holds now: a function of
                `deltaweb.delta.writing.operations.definition`.

        Raises:
            DeltaError: As the change, and a commit of it, do.
        """
        from deltaweb.delta.writing.operations.definition_plan import plan_definition

        transaction = change(load_definition(self._store))
        return plan_definition(transaction, root=self._store.root)

    def _change(self, change: "Callable[[Definition], Transaction]") -> "CommitResult":
        from deltaweb.delta.writing.operations.definition_plan import (
            carry_out_definition,
        )

        return carry_out_definition(self._store, self.plan_definition(change))

    # === Versions and files ===

    def plan_restore(
        self, version: int | None = None, timestamp: datetime | str | None = None
    ) -> "RestorePlan":
        """Return what `restore` would do; its `missing` names files that are gone.

        Raises:
            DeltaError: As `restore` does, but for the files.
        """
        from deltaweb.delta.writing.operations.restore import plan_restore

        now = self.snapshot()
        asked = None if timestamp is None else str(timestamp)
        target = self.snapshot(version, timestamp)
        return plan_restore(self._store, now, target, timestamp=asked)

    def restore(
        self, version: int | None = None, timestamp: datetime | str | None = None
    ) -> "CommitResult":
        """Make a version of before the newest one, by its number or a time.

        Raises:
            RestoreFilesMissingError: If files of it are gone from storage.
            AppendOnlyError: If files would go, and the table only takes new rows.
            DeltaError: As `snapshot` and `commit` list them.
        """
        from deltaweb.delta.writing.operations.restore import carry_out_restore

        return carry_out_restore(self._store, self.plan_restore(version, timestamp))

    def vacuum(  # noqa: PLR0913  # what a caller may want of one
        self,
        retention_hours: float | None = None,
        *,
        dry_run: bool = True,
        allow_short_retention: bool = False,
        now: datetime | None = None,
        is_told: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> "VacuumPlan":
        """Find the files that the table no longer needs; delete them when asked to.

        Args:
            retention_hours: How long what left the table is kept; by
                `delta.deletedFileRetentionDuration` for None.
            dry_run: Whether the files are only found.
            allow_short_retention: Whether it may be shorter than that property.
            now: The time to count back from, aware; this moment for None.
            is_told: Whether the table's history says so, in two commits.
            on_progress: Called with the files that are gone, and of how many; it may
                raise to stop the work.

        Raises:
            RetentionTooShortError: If the retention is shorter than the table's.
            DeltaError: As `deltaweb.delta.writing.operations.vacuum` lists them.
        """
        from deltaweb.delta.writing.operations.vacuum import vacuum

        return vacuum(
            self._store,
            now=now or datetime.now(UTC),
            retention_hours=retention_hours,
            is_dry_run=dry_run,
            allow_short_retention=allow_short_retention,
            is_told=is_told,
            on_progress=on_progress,
        )


def _fields(columns: NewColumns) -> list[StructField]:
    from deltaweb.delta.protocol.schema.from_arrow import (
        schema_of_arrow,
    )
    from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl

    if isinstance(columns, str):
        return [*parse_columns_ddl(columns)]
    return [
        column
        if isinstance(column, StructField)
        else schema_of_arrow(pa.schema([column])).fields[0]
        for column in columns
    ]
