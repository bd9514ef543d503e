"""Rows of a file, or those of a table, are merged into a table."""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from apps.jobs.kind import Queue
from apps.pages.changes.parameters import parameter
from apps.tables.catalogue.adding.source import FileAsked, asker, source_files
from apps.tables.catalogue.adding.work.import_rows import settle_rows
from apps.tables.errors import MergeSourceError
from apps.tables.models import Table
from apps.tables.operations.operation import Operation, commit_text, register
from apps.tables.operations.rows.merge_rows import (
    MergeAsked,
    MergeDetail,
    carry_out_merge,
    plan_merge,
    preview_merge,
    question,
    rows_of_table,
)
from apps.tables.storage.opening import (
    open_location,
    open_table,
    roots_of_server,
)
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.writer import importing


@dataclass(frozen=True, kw_only=True)
class MergeRows(FileAsked, MergeAsked):
    """What is merged: the rows of a file, or of a table.

    Attributes:
        source_id: The id of a table; empty for a file, and for a command.
        source: The name of that table when that was asked; the location of one that a
            command names.
        types: The types of some columns of a file, as DDL.
    """

    source_id: str = ""
    types: str = ""
    source: str = parameter(
        "", metavar="SOURCE", help="a CSV, JSON or Parquet file, or a table"
    )

    def rows(self, schema: StructType) -> pa.RecordBatchReader:
        """Read the rows of the source, from their beginning each time."""
        if self.user_id is None and not self.files:
            return rows_of_table(open_location(self.source))
        if not self.source_id:
            return importing.plan.open_import(source_files(self), self.types, schema)
        seen = Table.objects.visible_to(asker(self.user_id))
        found = seen.filter(id=self.source_id).first()
        if found is None:
            raise MergeSourceError
        return rows_of_table(open_table(found, roots=roots_of_server()))


MERGE: Final = register(
    Operation(
        name="merge_rows",
        words="Merge rows",
        title="Merge rows into {table}",
        doing="Writing the rows",
        action="table.merge",
        parameters=MergeRows,
        plan=plan_merge,
        preview=preview_merge,
        detail=MergeDetail,
        carry_out=carry_out_merge,
        result=CommitResult,
        result_text=commit_text,
        settle=settle_rows,
        question=question,
        looks_long=True,
        has_engines=True,
        queue=Queue.SPARK,  # of a large table
    )
)
