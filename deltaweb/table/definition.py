"""The verbs that change what a table is: properties, columns, rules, protocol."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from deltaweb import conditions, writer
from deltaweb.delta import protocol, writing
from deltaweb.delta.protocol.schema import StructField, schema_of_arrow
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_definition, load_state
from deltaweb.delta.writing import operations
from deltaweb.table.opened import OpenedTable

if TYPE_CHECKING:
    from deltaweb.delta.protocol.schema import DataType
    from deltaweb.delta.snapshot.state import Definition
    from deltaweb.delta.writing.after_commit import CheckpointTime
    from deltaweb.delta.writing.operations.definition_plan import DefinitionPlan
    from deltaweb.delta.writing.transaction import CommitResult, Transaction

NewColumns = Iterable[StructField | pa.Field] | str


class TableDefinition(OpenedTable):
    """What changes the definition of a table; `DeltaTable` has all of it."""

    def set_properties(
        self,
        properties: Mapping[str, str],
        *,
        upgrade: bool = False,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Set properties of the table; `delta.feature.NAME = supported` adds a feature.

        Args:
            properties: By name; values are text.
            upgrade: Whether the protocol may go up for them, in the same commit; this
                cannot be undone.
            checkpoint: As in `append`.

        Raises:
            PropertyError: If a value is not of its property.
            ProtocolTooOldError: If the protocol does not know of it yet.
            UnsupportedWriteError: If it turns on what is not written here.
            DeltaError: As `commit` lists them.
        """
        root = self._store.root
        return self._change(
            lambda base: operations.definition.set_properties(
                base, properties, root=root, upgrade=upgrade
            ),
            checkpoint,
        )

    def unset_properties(
        self, names: Iterable[str], *, checkpoint: "CheckpointTime | None" = None
    ) -> "CommitResult":
        """Take properties away; those that are not there are skipped.

        Raises:
            PropertyError: If one is a constraint, which is dropped by its name.
            DeltaError: As `commit` lists them.
        """
        return self._change(
            lambda base: operations.definition.unset_properties(base, names), checkpoint
        )

    def add_columns(
        self,
        columns: NewColumns,
        *,
        upgrade: bool = False,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Add columns at the end, null in all present rows.

        Args:
            columns: Fields of pyarrow or of a schema, or DDL such as
                `note STRING COMMENT 'what was said', tags ARRAY<STRING>`.
            upgrade: Whether the protocol may go up for their types, in the same
                commit; this cannot be undone.
            checkpoint: As in `append`.

        Raises:
            SchemaError: If the DDL does not parse.
            SchemaMismatchError: If a column is there already, or takes no null.
            ProtocolTooOldError: If the protocol does not know of a type.
            DeltaError: As `commit` lists them.
        """
        fields, root = _fields(columns), self._store.root
        return self._change(
            lambda base: operations.definition.add_columns(
                base, fields, root=root, upgrade=upgrade
            ),
            checkpoint,
        )

    def rename_column(
        self, column: str, new_name: str, *, checkpoint: "CheckpointTime | None" = None
    ) -> "CommitResult":
        """Give a column of a table that maps columns another name.

        Args:
            column: A dotted path for a nested column; the parts of arrays and maps
                are called `element`, `key` and `value`, and backticks quote a name.
            new_name: Its name within what holds it.
            checkpoint: As in `append`.

        Raises:
            ColumnNotFoundError: If there is no such column.
            ColumnInUseError: If a constraint or another rule names it.
            ProtocolUpgradeError: If the table maps no columns.
            DeltaError: As `commit` lists them.
        """
        root = self._store.root
        return self._change(
            lambda base: operations.renamed_columns.rename_column(
                base,
                column,
                new_name,
                root=root,
                names_column=conditions.named.names_column,
            ),
            checkpoint,
        )

    def widen_column(
        self,
        column: str,
        data_type: "DataType | str",
        *,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Give a column a wider type; stored values are widened as they are read.

        Args:
            column: A dotted path for a nested column; the parts of arrays and maps
                are called `element`, `key` and `value`.
            data_type: What it becomes, or that as SQL spells it: `BIGINT`.
            checkpoint: As in `append`.

        Raises:
            SchemaError: If the type is none.
            ColumnNotFoundError: If there is no such column.
            TypeNotWidenedError: If it does not become of that type.
            ColumnInUseError: If a constraint or a generated column names it.
            ProtocolUpgradeError: If the table does not let types change.
            DeltaError: As `commit` lists them.
        """
        root = self._store.root
        wide = (
            protocol.schema_ddl.parse_type_ddl(data_type)
            if isinstance(data_type, str)
            else data_type
        )
        return self._change(
            lambda base: operations.widened_columns.widen_column(
                base,
                column,
                wide,
                root=root,
                names_column=conditions.named.names_column,
            ),
            checkpoint,
        )

    def drop_column(
        self, column: str, *, checkpoint: "CheckpointTime | None" = None
    ) -> "CommitResult":
        """Take a column out of the rows of a table that maps columns.

        Its values stay in the files that have them, and in the versions before.

        Raises:
            DeltaError: As `rename_column` lists them.
        """
        root = self._store.root
        return self._change(
            lambda base: operations.renamed_columns.drop_column(
                base,
                column,
                root=root,
                names_column=conditions.named.names_column,
            ),
            checkpoint,
        )

    def set_comment(
        self,
        text: str | None,
        column: str | None = None,
        *,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Describe the table, or a column of it; None takes the words away.

        Raises:
            ColumnNotFoundError: If there is no such column.
            DeltaError: As `commit` lists them.
        """
        return self._change(
            lambda base: operations.definition.set_comment(base, text, column=column),
            checkpoint,
        )

    def add_constraint(
        self,
        name: str,
        sql: str,
        *,
        upgrade: bool = False,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Add a CHECK constraint, once it is true of every present row.

        Args:
            name: The constraint's name.
            sql: Its expression.
            upgrade: Whether the protocol may go up for it, in the same commit; this
                cannot be undone.
            checkpoint: As in `append`.

        Raises:
            ConstraintViolatedError: If it is false or unknown for a row.
            ConstraintNameError: If the name is taken.
            ExpressionError: If the SQL does not fit the table, or is not evaluated
                here.
            ProtocolTooOldError: If the protocol does not know of constraints.
            DeltaError: As `commit` lists them.
        """
        plan = self.plan_constraint(name, sql, upgrade=upgrade)
        return self._carry_out(plan, checkpoint)

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
        state, root = load_state(self._store, None), self._store.root
        snapshot = Snapshot(self._store, state)
        transaction = operations.definition.add_constraint(
            state.definition, name, sql, root=root, upgrade=upgrade
        )
        operations.definition_plan.plan_definition(
            transaction, root=root
        )  # before any row is read
        constraint = writing.requirements.RowConstraint(name, sql)
        checked = writer.rows.row_checks.look_at_rows(
            snapshot, constraint, on_progress, self.sql_zone
        )
        return operations.definition_plan.plan_definition(
            transaction, root=root, checked=checked
        )

    def drop_constraint(
        self, name: str, *, checkpoint: "CheckpointTime | None" = None
    ) -> "CommitResult":
        """Drop a CHECK constraint.

        Raises:
            ConstraintNameError: If there is none of that name.
            DeltaError: As `commit` lists them.
        """
        return self._change(
            lambda base: operations.definition.drop_constraint(base, name), checkpoint
        )

    def upgrade_protocol(
        self,
        reader: int | None = None,
        writer: int | None = None,
        *,
        checkpoint: "CheckpointTime | None" = None,
    ) -> "CommitResult":
        """Raise the versions of the protocol; this cannot be undone.

        Raises:
            ProtocolUpgradeError: If a version would go down.
            UnsupportedWriteError: If a version asks more than is done here.
            DeltaError: As `commit` lists them.
        """
        root = self._store.root
        return self._change(
            lambda base: operations.protocol_change.upgrade_protocol(
                base, reader=reader, writer=writer, root=root
            ),
            checkpoint,
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
        transaction = change(load_definition(self._store))
        return operations.definition_plan.plan_definition(
            transaction, root=self._store.root
        )

    def _change(
        self,
        change: "Callable[[Definition], Transaction]",
        checkpoint: "CheckpointTime | None",
    ) -> "CommitResult":
        return self._carry_out(self.plan_definition(change), checkpoint)

    def _carry_out(
        self, plan: "DefinitionPlan", checkpoint: "CheckpointTime | None"
    ) -> "CommitResult":
        with writing.after_commit.checkpoints(checkpoint):
            return operations.definition_plan.carry_out_definition(self._store, plan)


def _fields(columns: NewColumns) -> list[StructField]:
    if isinstance(columns, str):
        return [*protocol.schema_ddl.parse_columns_ddl(columns)]
    return [
        column
        if isinstance(column, StructField)
        else schema_of_arrow(pa.schema([column])).fields[0]
        for column in columns
    ]
