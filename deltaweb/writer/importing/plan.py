"""An import: looked at to its last row first, then done by the same code.

Source: delta_protocol.md, "Requirements for Writers".
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.errors import LocationNotFoundError, TableNotFoundError
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import SetTransaction
from deltaweb.delta.protocol.schema import StructType, parse_schema, type_text
from deltaweb.delta.snapshot.state import Definition, load_definition
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.errors import LocationTakenError
from deltaweb.delta.writing.transaction import CommitResult, Transaction
from deltaweb.writer.append import append_rows
from deltaweb.writer.importing.checked_rows import ImportedRows, Rules
from deltaweb.writer.importing.narrower import NarrowerType
from deltaweb.writer.importing.options import BadRows, ImportColumn
from deltaweb.writer.importing.proposal import (
    ProposedColumn,
    propose_columns,
    table_columns,
)
from deltaweb.writer.importing.source_file import SourceFiles
from deltaweb.writer.making.free_place import check_empty
from deltaweb.writer.making.new_table import (
    NewTable,
    creation_parameters,
    new_definition,
)
from deltaweb.writer.overwrite import overwrite_rows
from deltaweb.writer.row_checks import RowChecks
from deltaweb.writer.rows.row_schema import RowSchema
from deltaweb.writer.table_write import TableWrite, evolved

CREATE_WITH_ROWS: Final = "CREATE TABLE AS SELECT"
FIRST_ROWS: Final = 20


class ImportMode(StrEnum):
    """What becomes of the rows that a table has."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """What is imported, and how.

    Attributes:
        columns: What their columns become; none for what is proposed.
        mode: What becomes of the rows that are there; `ERROR` refuses a table.
        made_by: By which the commit that makes a table is known again.
    """

    files: SourceFiles
    columns: Sequence[ImportColumn] = ()
    mode: ImportMode = ImportMode.APPEND
    bad_rows: BadRows = BadRows.REFUSE
    merge_schema: bool = False
    partition_by: Sequence[str] = ()
    description: str | None = None
    on_rows: Callable[[int], None] = lambda _count: None
    made_by: SetTransaction | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class ImportPlan:
    """What an import would do.

    Attributes:
        proposed: What they would become if nobody said anything.
        rows: All of them, looked at: how many fit, and what is wrong with the others.
    """

    asked: Import
    base: Definition | None
    columns: Sequence[ImportColumn]
    proposed: Sequence[ProposedColumn]
    rows: ImportedRows
    first: pa.Table
    schema: StructType

    def asked_again(self) -> Import:
        """Return what was asked, with the columns that were found out."""
        return replace(self.asked, columns=self.columns)

    @property
    def new_columns(self) -> list[str]:
        if self.base is None:
            return [*self.schema.names]
        before = parse_schema(self.base.metadata.schema_string or "")
        return [name for name in self.schema.names if before.find(name) is None]

    @property
    def narrower(self) -> dict[str, NarrowerType]:
        """What most values of columns are that are text by the others, by source."""
        return {
            column.source: narrower
            for column, _, narrower in self._known()
            if narrower is not None
        }

    def _known(
        self,
    ) -> list[tuple[ImportColumn, ProposedColumn | None, NarrowerType | None]]:
        proposed = {one.column.source: one for one in self.proposed}
        found = []
        for column in self.columns:
            known = proposed.get(column.source)
            is_text = known is not None and column.type_name == "string"
            found.append((column, known, known.narrower if known and is_text else None))
        return found

    def describe(self) -> dict[str, Any]:
        """Return it as JSON, without the rows."""
        rows = self.rows
        return {
            "columns": [
                {
                    "source": column.source,
                    "name": column.name,
                    "type": column.type_name,
                    "is_nullable": column.is_nullable,
                    "num_bad": rows.bad_by_column[column.source],
                    "examples": list(known.examples) if known else [],
                    "narrower": narrower.describe() if narrower else None,
                }
                for column, known, narrower in self._known()
            ],
            "schema": [
                {"name": c.name, "type": type_text(c.data_type)}
                for c in self.schema.fields
            ],
            "new_columns": self.new_columns,
            "num_rows": rows.num_rows,
            "num_bad": rows.num_bad,
            "times": self.rows.times.describe(),
            "rules": [
                {"name": rule.name, "expression": rule.sql, "num_rows": count}
                for rule, count in rows.bad_by_rule.items()
            ],
            "bad": [
                {
                    "file": one.file,
                    "line": one.line,
                    "column": one.column,
                    "value": one.value,
                    "reason": one.reason,
                }
                for one in rows.bad
            ],
        }


def open_import(files: SourceFiles) -> pa.RecordBatchReader:
    """Open files as one stream of rows, whose columns are those of all of them."""
    columns = [one.column for one in propose_columns(files)]
    return ImportedRows(files, columns).reader()


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRows:
    """What a look has counted of the same bytes, asked the same.

    Attributes:
        version: Of the table that it looked at; None where there was none.
    """

    version: int | None
    num_rows: int
    num_bad: int


def plan_import(
    store: TableStore, asked: Import, counted: CountedRows | None = None
) -> ImportPlan:
    """Check every row of an import; nothing is written.

    Args:
        counted: What was counted before: where the table is as it was then, no row is
            looked at again, and the plan has these numbers alone.
    """
    base = existing(store)
    if base is not None and asked.mode is ImportMode.ERROR:
        raise LocationTakenError(location=store.root)
    if base is None:
        check_empty(store)
    proposed = import_columns(base, asked)
    columns = asked.columns or [one.column for one in proposed]
    rows = _rows(store, asked, base, columns, is_look=True)
    write = _write(store, asked, base, rows)
    if counted is not None and counted.version == (
        None if base is None else base.version
    ):
        rows.num_rows, rows.num_bad = counted.num_rows, counted.num_bad
        first = pa.table({})
    else:
        first = _first_of(write.accept(rows.reader()))
    return ImportPlan(
        asked=asked,
        base=base,
        columns=columns,
        proposed=proposed,
        rows=rows,
        first=first,
        schema=write.schema,
    )


def _first_of(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Go through all rows, and return the first."""
    head: list[pa.RecordBatch] = []
    num_rows = 0
    for batch in batches:
        if num_rows < FIRST_ROWS:
            head.append(batch.slice(0, FIRST_ROWS - num_rows))
            num_rows += head[-1].num_rows
    return pa.Table.from_batches(head) if head else pa.table({})


def import_columns(base: Definition | None, asked: Import) -> list[ProposedColumn]:
    """Return what the columns of files become, unless somebody says otherwise.

    Args:
        base: The table, whose columns keep their types; None where there is none.
    """
    proposed = propose_columns(asked.files)
    if base is None:
        return proposed
    return table_columns(proposed, parse_schema(base.metadata.schema_string or ""))


def carry_out_import(
    store: TableStore, asked: Import
) -> tuple[CommitResult, ImportedRows]:
    """Import rows in one commit.

    Returns:
        What became of the table, and of the rows.
    """
    base = existing(store)
    columns = asked.columns or [one.column for one in import_columns(base, asked)]
    rows = _rows(store, asked, base, columns)
    if base is None:
        return _create_with_rows(store, asked, rows), rows
    match asked.mode:
        case ImportMode.ERROR:
            raise LocationTakenError(location=store.root)
        case ImportMode.OVERWRITE:
            return overwrite_rows(
                store, rows.reader(), merge_schema=asked.merge_schema
            ), rows
        case _:
            result = append_rows(store, rows.reader(), merge_schema=asked.merge_schema)
            return result, rows


def existing(store: TableStore) -> Definition | None:
    """Return what holds of a table; None where there is none."""
    try:
        return load_definition(store)
    except (LocationNotFoundError, TableNotFoundError):
        return None


def _rows(
    store: TableStore,
    asked: Import,
    base: Definition | None,
    columns: Sequence[ImportColumn],
    *,
    is_look: bool = False,
) -> ImportedRows:
    rows = ImportedRows(
        asked.files, columns, asked.bad_rows, is_look=is_look, on_rows=asked.on_rows
    )
    if base is not None:
        rows.rules = _rules(_write(store, asked, base, rows), rows)
    return rows


def _rules(write: TableWrite, rows: ImportedRows) -> Rules | None:
    """Return what the table asks of rows; the write is used for nothing else."""
    checks = RowChecks(write.metadata, write.schema)
    if checks.is_empty:
        return None
    fit = RowSchema(write.schema, rows.arrow, write.numbers)
    return lambda some: checks.broken(fit.fit(some))


def _new(asked: Import, rows: ImportedRows) -> NewTable:
    return NewTable(
        schema=rows.schema,
        partition_by=asked.partition_by,
        description=asked.description,
    )


def _write(
    store: TableStore, asked: Import, base: Definition | None, rows: ImportedRows
) -> TableWrite:
    if base is None:
        metadata, protocol = new_definition(_new(asked, rows))
        base = Definition(0, protocol, metadata)
        return TableWrite(store, base, metadata, is_new=True)
    metadata = evolved(base, rows.arrow, merge=asked.merge_schema)
    return TableWrite(store, base, metadata)


def _create_with_rows(
    store: TableStore, asked: Import, rows: ImportedRows
) -> CommitResult:
    """Make a table with its first rows: one commit, or none."""
    check_empty(store)
    write = _write(store, asked, None, rows)
    metadata = write.metadata
    with write.open_files() as files:
        for batch in write.accept(rows.reader()):
            files.write(batch)
        added = files.finish()
        transaction = Transaction(
            base=None,
            operation=CREATE_WITH_ROWS,
            parameters=creation_parameters(metadata, _new(asked, rows)),
            metrics={
                "numFiles": added.num_rows,
                "numOutputRows": files.num_rows,
                "numOutputBytes": files.num_bytes,
            },
            added=added,
            metadata=metadata,
            protocol=write.base.protocol,
            txn=asked.made_by,
        )
    return commit(store, transaction)
