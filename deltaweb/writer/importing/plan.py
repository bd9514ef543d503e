"""An import: begun, looked at to its last row, and done by the same code.

`begin_import` reads what holds of the table and which columns the files have, once:
what looks at the rows, and what writes them, go on from there.

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
from deltaweb.delta.snapshot.state import Definition
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.errors import LocationTakenError
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.delta.writing.transaction import CommitResult, Transaction
from deltaweb.writer.append import WRITE, KnownDefinition, append_rows
from deltaweb.writer.importing.checked_rows import ImportedRows, LookLimit, Rules
from deltaweb.writer.importing.narrower import NarrowerType
from deltaweb.writer.importing.options import BadRows, ImportColumn
from deltaweb.writer.importing.proposal import (
    NO_COLUMNS,
    ProposedColumn,
    check_readings,
    propose_columns,
    unclear_columns,
    with_types,
)
from deltaweb.writer.importing.source_file import SourceFiles
from deltaweb.writer.making.free_place import check_empty
from deltaweb.writer.making.new_table import (
    NewTable,
    creation_parameters,
    new_definition,
)
from deltaweb.writer.overwrite import overwrite_rows
from deltaweb.writer.rows.row_checks import RowChecks
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
        types: The types of some that are proposed, as DDL.
        mode: What becomes of the rows that are there; `ERROR` refuses a table.
        made_by: By which the commit that makes a table is known again.
    """

    files: SourceFiles
    columns: Sequence[ImportColumn] = ()
    types: str = ""
    mode: ImportMode = ImportMode.APPEND
    bad_rows: BadRows = BadRows.REFUSE
    merge_schema: bool = False
    partition_by: Sequence[str] = ()
    description: str | None = None
    on_rows: Callable[[int], None] = lambda _count: None
    made_by: SetTransaction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRows:
    """What a look has counted of the same bytes, asked the same.

    Attributes:
        version: Of the table that it looked at; None where there was none.
    """

    version: int | None
    num_rows: int
    num_bad: int


@dataclass(frozen=True, kw_only=True, eq=False)
class BegunImport:
    """An import of which no row is looked at yet.

    Attributes:
        known: What holds of the table; an append goes on from it.
        base: That, as it was found; None where there is no table.
        proposed: What the columns of the files would become if nobody said anything.
        columns: What they become.
    """

    store: TableStore
    asked: Import
    known: KnownDefinition
    base: Definition | None
    proposed: Sequence[ProposedColumn]
    columns: Sequence[ImportColumn]

    @property
    def version(self) -> int | None:
        """That of the table; None where there is none."""
        return None if self.base is None else self.base.version

    @property
    def unclear(self) -> list[ProposedColumn]:
        """The columns that can be read in two ways of which none is chosen."""
        return unclear_columns(self.proposed, self.columns, self.asked.files.form)

    def check_readings(self) -> None:
        """Raise `UnclearReadingError` if a column can be read in two ways."""
        check_readings(self.asked.files, self.proposed, self.columns)

    @property
    def hints(self) -> list[str]:
        """What few values keep text, a sentence a column."""
        return [one.hint for one in self.proposed if one.hint]

    def look(
        self, counted: CountedRows | None = None, *, limit: LookLimit | None = None
    ) -> "ImportPlan":
        """Check every row, or those within a limit; nothing is written.

        Args:
            counted: What was counted before: where the table is as it was then, no row
                is looked at again, and the plan has these numbers alone.
            limit: How much is read, at least; None for all rows.
        """
        rows = self._rows(is_look=True)
        rows.limit = limit
        write = self._write(rows)
        first = pa.table({})
        if counted is not None and counted.version == self.version:
            rows.num_rows, rows.num_bad = counted.num_rows, counted.num_bad
        else:
            first = _first_of(write.accept(rows.reader()))
        return ImportPlan(begun=self, rows=rows, first=first, schema=write.schema)

    def carry_out(self) -> tuple[CommitResult, ImportedRows]:
        """Import the rows in one commit.

        Returns:
            What became of the table, and of the rows.
        """
        self.check_readings()
        rows, merges = self._rows(), self.asked.merge_schema
        if self.base is None:
            return self._create(rows), rows
        if self.asked.mode is ImportMode.OVERWRITE:
            result = overwrite_rows(self.store, rows.reader(), merge_schema=merges)
        else:
            result = append_rows(
                self.store, rows.reader(), merge_schema=merges, known=self.known
            )
        return result, rows

    def _rows(self, *, is_look: bool = False) -> ImportedRows:
        asked = self.asked
        rows = ImportedRows(
            asked.files,
            self._looked_at() if is_look else self.columns,
            asked.bad_rows,
            is_look=is_look,
            on_rows=asked.on_rows,
        )
        if self.base is not None:
            rows.rules = _rules(self._write(rows), rows)
        return rows

    def _looked_at(self) -> Sequence[ImportColumn]:
        """Return the columns: texts, or a first reading, where none is chosen yet."""
        unclear = {one.column.source: one for one in self.unclear}
        found = []
        for column in self.columns:
            asked = unclear.get(column.source)
            if asked is not None and self.base is None:
                found.append(replace(column, type_name="string"))
            elif asked is not None:
                first = replace(asked, readings=asked.readings[:1])
                found.append(first.fitted(column))
            else:
                found.append(column)
        return found

    def _write(self, rows: ImportedRows) -> TableWrite:
        if self.base is None:
            metadata, protocol = new_definition(self._new(rows))
            base = Definition(0, protocol, metadata)
            return TableWrite(self.store, base, metadata, is_new=True)
        metadata = evolved(self.base, rows.arrow, merge=self.asked.merge_schema)
        return TableWrite(self.store, self.base, metadata)

    def _new(self, rows: ImportedRows) -> NewTable:
        return NewTable(
            schema=rows.schema,
            partition_by=self.asked.partition_by,
            description=self.asked.description,
        )

    def _create(self, rows: ImportedRows) -> CommitResult:
        """Make a table with its first rows: one commit, or none."""
        check_empty(self.store)
        write = self._write(rows)
        metadata = write.metadata
        with write.open_files() as files:
            for batch in write.accept(rows.reader()):
                files.write(batch)
            added = files.finish()
            transaction = Transaction(
                base=None,
                operation=CREATE_WITH_ROWS,
                parameters=creation_parameters(metadata, self._new(rows)),
                metrics={
                    "numFiles": added.num_rows,
                    "numOutputRows": files.num_rows,
                    "numOutputBytes": files.num_bytes,
                },
                added=added,
                metadata=metadata,
                protocol=write.base.protocol,
                txn=self.asked.made_by,
            )
        return commit(self.store, transaction)


@dataclass(frozen=True, kw_only=True, eq=False)
class ImportPlan:
    """What an import would do.

    Attributes:
        rows: All of them, looked at: how many fit, and what is wrong with the others.
        first: The first of those that fit.
        schema: That of the table, once they are in.
    """

    begun: BegunImport
    rows: ImportedRows
    first: pa.Table
    schema: StructType

    @property
    def new_columns(self) -> list[str]:
        base = self.begun.base
        if base is None:
            return [*self.schema.names]
        before = parse_schema(base.metadata.schema_string or "")
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
        proposed = {one.column.source: one for one in self.begun.proposed}
        found = []
        for column in self.begun.columns:
            known = proposed.get(column.source)
            is_text = known is not None and column.type_name == "string"
            found.append((column, known, known.narrower if known and is_text else None))
        return found

    def describe(self) -> dict[str, Any]:
        """Return it as JSON, without the rows."""
        rows = self.rows
        unclear = {one.column.source: one.readings for one in self.begun.unclear}
        return {
            "is_unclear": bool(unclear),
            "columns": [
                {
                    "source": column.source,
                    "name": column.name,
                    "type": column.type_name,
                    "is_nullable": column.is_nullable,
                    "num_bad": rows.bad_by_column[column.source],
                    "examples": list(known.examples) if known else [],
                    "narrower": narrower.describe() if narrower else None,
                    "format": column.decimal_sign or column.day_order,
                    "readings": [
                        one.describe() for one in unclear.get(column.source, ())
                    ],
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
            "is_partial": rows.is_partial,
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


def open_import(
    files: SourceFiles, types: str = "", unseen: StructType = NO_COLUMNS
) -> pa.RecordBatchReader:
    """Open files as one stream of rows, whose columns are those of all of them.

    Args:
        types: The types of some of them, as DDL.
        unseen: Columns whose types are taken for what has no value in the files.
    """
    proposed = with_types(propose_columns(files, unseen=unseen), types)
    columns = [one.column for one in proposed]
    check_readings(files, proposed, columns)
    return ImportedRows(files, columns).reader()


def begin_import(store: TableStore, asked: Import) -> BegunImport:
    """Find out what holds of the table, and which columns the files have."""
    known = KnownDefinition(store)
    try:
        base = known.newest()
    except (LocationNotFoundError, TableNotFoundError):
        base = None
    if base is None:
        check_empty(store)
    elif asked.mode is ImportMode.ERROR:
        raise LocationTakenError(location=store.root)
    else:  # before much is read
        removes_rows = asked.mode is ImportMode.OVERWRITE
        check_writable(
            base, root=store.root, operation=WRITE, removes_rows=removes_rows
        )
    there = NO_COLUMNS
    if base is not None:
        there = parse_schema(base.metadata.schema_string or "")
    proposed = with_types(propose_columns(asked.files, there), asked.types)
    known_readings = {one.column.source: one for one in proposed}
    return BegunImport(
        store=store,
        asked=asked,
        known=known,
        base=base,
        proposed=proposed,
        columns=[
            known_readings[one.source].fitted(one)
            if one.source in known_readings
            else one
            for one in asked.columns
        ]
        or [one.column for one in proposed],
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


def _rules(write: TableWrite, rows: ImportedRows) -> Rules | None:
    """Return what the table asks of rows; the write is used for nothing else."""
    checks = RowChecks(write.metadata, write.schema)
    if checks.is_empty:
        return None
    fit = RowSchema(write.schema, rows.arrow, write.numbers)
    return lambda some: checks.broken(fit.fit(some))
