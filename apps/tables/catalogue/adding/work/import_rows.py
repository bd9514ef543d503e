"""Rows of files become rows of a table, or a table."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import pyarrow as pa

from apps.pages.changes.parameters import names_of, parameter
from apps.pages.page_json import IfKnown, Spread, from_json
from apps.tables.catalogue.adding.source import FileAsked, source_files
from apps.tables.catalogue.adding.table_request import (
    finish_making,
    open_place,
    register_made,
)
from apps.tables.catalogue.adding.uploads import (
    forget_upload,
    note_counts,
    noted_counts,
    upload_digest,
)
from apps.tables.models import Table
from apps.tables.operations.operation import (
    Operation,
    commit_text,
    index_again,
    open_subject,
    register,
)
from apps.tables.operations.preview import OperationPreview, RunContext
from apps.tables.operations.stored import MadeTable
from deltaweb.delta.errors import LocationNotFoundError, TableNotFoundError
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import python_values
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.words import counted
from deltaweb.writer.importing.checked_rows import ImportedRows, LookLimit, bad_text
from deltaweb.writer.importing.options import BadRows, ImportColumn
from deltaweb.writer.importing.plan import (
    BegunImport,
    CountedRows,
    Import,
    ImportMode,
    ImportPlan,
    begin_import,
)
from deltaweb.writer.importing.source_file import SourceFile

# Of the preview of a job: those of other people wait for its end.
LOOK: Final = LookLimit(num_bytes=1 << 30, seconds=20.0)
MAX_SHOWN: Final = 20
"""Values that do not fit, in the answer of a command."""
MAX_WARNED: Final = 5
MAX_CELL: Final = 200
MAX_GRID_COLUMNS: Final = 60


@dataclass(frozen=True, kw_only=True)
class ImportRows(FileAsked):
    """What is imported.

    Attributes:
        name: Of a table that is made; empty for rows of one that is there.
        columns: What its columns become, as `ImportColumn` has it, and `is_partition`.
        types: The types of some of them, as DDL; without `columns`.
        partition_by: Columns that divide a table that is made; without `columns`.
        bad_rows: What becomes of rows that do not fit.
        merge_schema: Whether columns that the table lacks are added.
    """

    name: str = ""
    location: str = ""
    description: str = ""
    columns: list[dict[str, Any]] = field(default_factory=list)
    types: str = ""
    mode: str = parameter(
        ImportMode.APPEND.value,
        "--mode",
        choices=[*ImportMode],
        help="what to do with existing rows; error refuses an existing table",
    )
    merge_schema: bool = parameter(
        default=True,
        option="--merge-schema",
        action="store_true",
        help="add columns that the table does not have",
    )
    bad_rows: str = parameter(
        BadRows.LEAVE_OUT.value,
        "--bad-rows",
        choices=[*BadRows],
        help="what to do with rows that have a value that does not fit",
    )
    partition_by: tuple[str, ...] = parameter(
        (),
        "--partition-by",
        type=names_of,
        metavar="a,b",
        help="partition columns of a new table",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedColumn:
    """A column of the first rows."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTimes:
    """The times without a zone of a file.

    Attributes:
        sentences: What becomes of them.
    """

    time_zone: str
    moved: tuple[Mapping[str, int], ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRule:
    """A constraint that rows of a file break, and how many."""

    name: str
    expression: str
    num_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A value of a file that does not fit.

    Attributes:
        column: None where the row as a whole does not.
    """

    file: str
    line: int
    column: str | None
    value: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDetail:
    """What else the preview of an import shows.

    Attributes:
        is_unclear: Whether columns can be read in several ways.
        columns: Those of the file, as `ImportPlan.describe` has them.
        schema: The columns that are written.
        new_columns: Those of them that the table lacks.
        is_partial: Whether the file is too large for the preview.
        bad: The first of the values that do not fit.
        size_bytes: Bytes of the files.
        is_new: Whether the table is made.
        table_columns: The type of each column in the table; "" of a new one.
        first_columns: The columns of the first rows.
        first: The first rows as they would be stored.
    """

    is_unclear: bool
    columns: tuple[Mapping[str, Any], ...]
    schema: tuple[TypedColumn, ...]
    new_columns: tuple[str, ...]
    num_rows: int
    num_bad: int
    is_partial: bool
    times: LocalTimes
    rules: tuple[BrokenRule, ...]
    bad: tuple[Misfit, ...]
    file_name: str
    size_bytes: int
    is_new: bool
    mode: str
    bad_rows: str
    table_columns: Mapping[str, str]
    first_columns: tuple[TypedColumn, ...]
    first: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsImported:
    """Rows that were imported.

    Attributes:
        committed: None where only the log says that the table was made.
        num_bad: Rows that did not fit.
        num_rows: Rows that did.
        made: The table that was made; None of one that was there.
    """

    committed: IfKnown[Spread[CommitResult | None]] = None
    num_bad: IfKnown[int | None] = None
    num_rows: IfKnown[int | None] = None
    made: IfKnown[Spread[MadeTable | None]] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsPlan:
    """What was asked, and what it would do where somebody is shown that.

    Without it the rows are left to the commit, which reads each once.

    Attributes:
        is_agreed: Whether somebody agreed to all rows of a file that was too large.
    """

    asked: ImportRows
    begun: BegunImport
    looked: ImportPlan | None
    is_agreed: bool = False


def as_import(asked: ImportRows, context: RunContext) -> Import:
    """Return what the library is asked."""
    job = context.job

    def tell(count: int) -> None:
        job.progress(count, unit="rows")

    columns = [
        ImportColumn(**{k: v for k, v in column.items() if k != "is_partition"})
        for column in asked.columns
    ]
    return Import(
        files=source_files(asked),
        columns=columns,
        types=asked.types,
        mode=ImportMode(asked.mode),
        bad_rows=BadRows(asked.bad_rows),
        merge_schema=asked.merge_schema,
        partition_by=[c["name"] for c in asked.columns if c.get("is_partition")]
        or asked.partition_by,
        description=asked.description or None,
        on_rows=tell,
        made_by=context.txn,
    )


def plan_rows(opened: DeltaTable, asked: ImportRows, context: RunContext) -> RowsPlan:
    """Check every row, or go by a preview of the same bytes that were brought."""
    begun = begin_import(opened.store, as_import(asked, context))
    if not context.is_shown or context.seen or asked.user_id is None:
        begun.check_readings()  # only a page or a preview asks
    if not context.is_shown:
        return RowsPlan(asked=asked, begun=begun, looked=None)
    if context.seen and context.seen.job and not context.seen.counts:
        return RowsPlan(asked=asked, begun=begun, looked=None, is_agreed=True)
    limit = LOOK if context.is_job and context.seen is None else None
    if not asked.upload:  # a file of others may be another by now
        return RowsPlan(asked=asked, begun=begun, looked=begun.look(limit=limit))
    key = f"{upload_digest(asked.upload)} {json.dumps(asdict(asked), sort_keys=True)}"
    counts = noted_counts(asked.upload, key) if context.seen else None
    counted = None if counts is None else CountedRows(**counts)
    looked = begun.look(counted, limit=limit)
    if counted is None and not looked.rows.is_partial:
        counted = CountedRows(
            version=begun.version,
            num_rows=looked.rows.num_rows,
            num_bad=looked.rows.num_bad,
        )
        note_counts(asked.upload, key, asdict(counted))
    return RowsPlan(asked=asked, begun=begun, looked=looked)


def preview_rows(plan: RowsPlan) -> OperationPreview[ImportDetail]:
    """Tell how many rows fit, what is wrong with the others, and show the first.

    Rows of a file that is too large are not counted: nothing is there to agree to.
    """
    asked, begun = plan.asked, plan.begun
    if plan.is_agreed:
        return OperationPreview(
            version=begun.version,
            counts={},
            detail=lambda: _detail(plan, begun.look()),
        )
    table = plan.looked or begun.look()
    rows = table.rows
    is_counted = not rows.is_partial and not begun.unclear
    counts = {"num_rows": rows.num_rows, "num_bad": rows.num_bad}
    return OperationPreview(
        version=begun.version,
        counts=counts if is_counted else {},
        detail=lambda: _detail(plan, table),
        is_empty=not rows.is_partial
        and not rows.num_rows
        and asked.mode == ImportMode.APPEND,
        says=_says(table),
        lines=lambda: _lines(table),
    )


def _detail(plan: RowsPlan, table: ImportPlan) -> ImportDetail:
    asked, begun = plan.asked, plan.begun
    first = table.first.select(table.first.column_names[:MAX_GRID_COLUMNS])
    new = set(table.new_columns)
    facts = table.describe()
    return from_json(
        ImportDetail,
        {
            **facts,
            "file_name": asked.file_name or ", ".join(asked.files),
            "size_bytes": sum(map(_size_bytes, begun.asked.files.each())),
            "is_new": begun.base is None,
            "mode": asked.mode,
            "bad_rows": asked.bad_rows,
            "table_columns": {
                one["name"]: "" if one["name"] in new else one["type"]
                for one in facts["schema"]
            },
            "first_columns": [
                one for one in facts["schema"] if one["name"] in first.column_names
            ],
            "first": [
                [*row] for row in zip(*map(cell_texts, first.columns), strict=True)
            ],
        },
    )


def _size_bytes(file: SourceFile) -> int:
    with file.open() as source:
        found: int = source.size()
    return found


def _says(plan: ImportPlan) -> str:
    rows = plan.rows
    becomes = "would be made of" if plan.begun.base is None else "would get"
    do = "does" if rows.num_bad == 1 else "do"
    if rows.is_partial:
        return (
            f"The file is too large to preview: {counted(rows.num_rows, 'row')} of it "
            f"fit, {rows.num_bad:,} {do} not, and the import reads the others."
        )
    return (
        f"{plan.begun.store.root} {becomes} {counted(rows.num_rows, 'row')}; "
        f"{rows.num_bad:,} {do} not fit."
    )


def _lines(plan: ImportPlan) -> Iterator[str]:
    """Say what does not fit, which columns are new, and what few values keep text."""
    rows = plan.rows
    for rule, number in rows.bad_by_rule.items():
        yield (
            f"{counted(number, 'row')} would break the constraint "
            f"{rule.name!r}: {rule.sql}."
        )
    yield from (f"{sentence}." for sentence in rows.times.sentences())
    yield from (f"  {bad_text(one)}" for one in rows.bad[:MAX_SHOWN])
    if len(rows.bad) > MAX_SHOWN:
        yield "  ... and more"
    if plan.new_columns:
        yield f"New columns: {', '.join(plan.new_columns)}."
    yield "Nothing was written."
    if hints := plan.begun.hints:
        yield "--bad-rows leave-out leaves out rows that do not fit:"
        yield from (f"  {hint}" for hint in hints)


def cell_texts(values: pa.ChunkedArray) -> list[str | None]:
    """Return values as the page shows them; None is null."""
    return [
        None if value is None else cell_text(value)[:MAX_CELL]
        for value in python_values(values)
    ]


def import_rows(
    _opened: DeltaTable, plan: RowsPlan, context: RunContext
) -> RowsImported:
    """Write the rows in one commit; a table that was made is registered."""
    asked = plan.asked
    result, rows = plan.begun.carry_out()
    for sentence in _warnings(plan.begun, rows):
        context.job.warn(sentence)
    made = None
    if asked.name:
        detail = {"version": result.version, "files": [asked.file_name]}
        made = register_made(asked, context, "table.import", detail)
    return RowsImported(
        committed=result, num_bad=rows.num_bad, num_rows=rows.num_rows, made=made
    )


def finish(asked: ImportRows, context: RunContext) -> RowsImported | None:
    """Register a table whose maker was killed; None where there is none."""
    made = finish_making(asked, context, "table.import")
    return None if made is None else RowsImported(made=made)


def result_text(result: RowsImported) -> str:
    """Say how many rows the commit added."""
    return commit_text(result.committed or CommitResult(version=None))


def _warnings(begun: BegunImport, rows: ImportedRows) -> Iterator[str]:
    """Say what few values keep text, which times moved, and which rows are left out."""
    yield from begun.hints
    yield from (f"{sentence}." for sentence in rows.times.sentences())
    if not rows.num_bad:
        return
    were = "was" if rows.num_bad == 1 else "were"
    is_null = rows.bad_rows is BadRows.STORE_NULL
    done = f"{were} left out" + ", or stored with null" * is_null
    first = "; ".join(bad_text(one) for one in rows.bad[:MAX_WARNED])
    more = "; ..." if len(rows.bad) > MAX_WARNED else ""
    yield f"{counted(rows.num_bad, 'row')} {done}: {first}{more}."


def question(asked: ImportRows, opened: DeltaTable) -> str:
    """Return what somebody is asked; nothing where no row goes."""
    if asked.mode != ImportMode.OVERWRITE:
        return ""
    try:
        opened.latest_version()
    except (LocationNotFoundError, TableNotFoundError):
        return ""
    return f"Replace every row of {opened.root}?"


def open_table_or_place(table: Table | None, asked: ImportRows) -> DeltaTable:
    """Open the table, or the place of one that is to be made."""
    return open_place(table, asked) if table is None else open_subject(table, asked)


def settle_rows(table: Table | None, asked: FileAsked, result: object) -> None:
    """Forget a file that was imported, and index the table."""
    if asked.upload and result is not None:
        forget_upload(asked.upload)
    index_again(table, asked, result)


IMPORT: Final = register(
    Operation(
        name="import_rows",
        words="Import rows of a file",
        title="Import rows into {table}",
        doing="Writing the rows",
        action="table.import",
        parameters=ImportRows,
        plan=plan_rows,
        preview=preview_rows,
        detail=ImportDetail,
        carry_out=import_rows,
        result=RowsImported,
        result_text=result_text,
        opens=open_table_or_place,
        settle=settle_rows,
        question=question,
        looks_long=True,
        resume=finish,
        page="tables:table-import",
    )
)
