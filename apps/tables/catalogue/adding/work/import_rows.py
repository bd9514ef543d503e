"""Rows of a file become rows of a table, or a table."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import pyarrow as pa

from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import python_values
from deltaweb.table import DeltaTable
from deltaweb.web.tables.catalogue.adding.source import FileAsked, source_files
from deltaweb.web.tables.catalogue.adding.table_request import (
    finish_making,
    open_place,
    register_made,
)
from deltaweb.web.tables.catalogue.adding.uploads import (
    forget_upload,
    note_counts,
    noted_counts,
    upload_digest,
)
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.operations.operation import (
    Operation,
    index_again,
    open_subject,
    register,
)
from deltaweb.web.tables.operations.preview import OperationPreview, RunContext
from deltaweb.writer.importing.options import BadRows, ImportColumn
from deltaweb.writer.importing.plan import (
    CountedRows,
    Import,
    ImportMode,
    ImportPlan,
    carry_out_import,
    plan_import,
)

MAX_CELL: Final = 200
MAX_GRID_COLUMNS: Final = 60


@dataclass(frozen=True, kw_only=True)
class ImportRows(FileAsked):
    """What is imported.

    Attributes:
        name: Of a table that is made; empty for rows of one that is there.
        columns: What its columns become, as `ImportColumn` has it, and `is_partition`.
        bad_rows: What becomes of rows that do not fit.
        merge_schema: Whether columns that the table lacks are added.
    """

    name: str = ""
    location: str = ""
    description: str = ""
    columns: list[dict[str, Any]] = field(default_factory=list)
    mode: str = "append"
    bad_rows: str = "leave-out"
    merge_schema: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsPlan:
    """What was asked, and what it would do."""

    asked: ImportRows
    table: ImportPlan
    size_bytes: int


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
        mode=ImportMode(asked.mode),
        bad_rows=BadRows(asked.bad_rows),
        merge_schema=asked.merge_schema,
        partition_by=[c["name"] for c in asked.columns if c.get("is_partition")],
        description=asked.description or None,
        on_rows=tell,
        made_by=context.txn,
    )


def plan_rows(opened: DeltaTable, asked: ImportRows, context: RunContext) -> RowsPlan:
    """Check every row, or go by a preview of the same bytes that were brought."""
    wanted = as_import(asked, context)
    (file,) = wanted.files.each()
    with file.open() as source:
        size_bytes = source.size()
    if not asked.upload:  # a file of others may be another by now
        table = plan_import(opened.store, wanted)
        return RowsPlan(asked=asked, table=table, size_bytes=size_bytes)
    key = f"{upload_digest(asked.upload)} {json.dumps(asdict(asked), sort_keys=True)}"
    counts = noted_counts(asked.upload, key) if context.seen else None
    counted = None if counts is None else CountedRows(**counts)
    table = plan_import(opened.store, wanted, counted)
    if counted is None:
        counted = CountedRows(
            version=None if table.base is None else table.base.version,
            num_rows=table.rows.num_rows,
            num_bad=table.rows.num_bad,
        )
        note_counts(asked.upload, key, asdict(counted))
    return RowsPlan(asked=asked, table=table, size_bytes=size_bytes)


def preview_rows(plan: RowsPlan) -> OperationPreview:
    """Tell how many rows fit, what is wrong with the others, and show the first."""
    table, asked = plan.table, plan.asked
    facts = table.describe()
    first = table.first.select(table.first.column_names[:MAX_GRID_COLUMNS])
    return OperationPreview(
        version=None if table.base is None else table.base.version,
        counts={"num_rows": facts["num_rows"], "num_bad": facts["num_bad"]},
        detail={
            **facts,
            "file_name": asked.file_name,
            "size_bytes": plan.size_bytes,
            "is_new": table.base is None,
            "mode": asked.mode,
            "bad_rows": asked.bad_rows,
            "table_columns": _types(table),
            "first_columns": [
                one for one in facts["schema"] if one["name"] in first.column_names
            ],
            "first": [
                [*row] for row in zip(*map(cell_texts, first.columns), strict=True)
            ],
        },
        is_empty=not facts["num_rows"] and asked.mode == ImportMode.APPEND,
    )


def cell_texts(values: pa.ChunkedArray) -> list[str | None]:
    """Return values as the page shows them; None is null."""
    return [
        None if value is None else cell_text(value)[:MAX_CELL]
        for value in python_values(values)
    ]


def _types(table: ImportPlan) -> dict[str, str]:
    new = set(table.new_columns)
    return {
        one["name"]: "" if one["name"] in new else one["type"]
        for one in table.describe()["schema"]
    }


def import_rows(
    opened: DeltaTable, plan: RowsPlan, context: RunContext
) -> dict[str, Any]:
    """Write the rows in one commit; a table that was made is registered."""
    asked = plan.asked
    result, rows = carry_out_import(opened.store, plan.table.asked_again())
    facts = {**asdict(result), "num_bad": rows.num_bad, "num_rows": rows.num_rows}
    if asked.name:
        detail = {"version": result.version, "files": [asked.file_name]}
        facts |= register_made(asked, context, "table.import", detail)
    return facts


def open_table_or_place(table: Table | None, asked: ImportRows) -> DeltaTable:
    """Open the table, or the place of one that is to be made."""
    return open_place(table, asked) if table is None else open_subject(table, asked)


def settle_rows(
    table: Table | None, asked: FileAsked, result: Mapping[str, Any] | None
) -> None:
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
        carry_out=import_rows,
        opens=open_table_or_place,
        settle=settle_rows,
        resume=lambda asked, when: finish_making(asked, when, "table.import"),
        page="tables:table-import",
    )
)
