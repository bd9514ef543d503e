"""Rows that somebody brings, or those of a table, are merged into a table."""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from deltaweb.web.jobs.kind import Queue
from deltaweb.web.tables.catalogue.adding.source import FileAsked, asker, source_files
from deltaweb.web.tables.catalogue.adding.work.import_rows import settle_rows
from deltaweb.web.tables.errors import MergeSourceError
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.operations.operation import Operation, register
from deltaweb.web.tables.operations.rows.merge_rows import (
    MergeAsked,
    carry_out_merge,
    plan_merge,
    preview_merge,
    rows_of_table,
)
from deltaweb.web.tables.storage.opening import open_table, roots_of_server
from deltaweb.writer import importing


@dataclass(frozen=True, kw_only=True)
class MergeBrought(FileAsked, MergeAsked):
    """What is merged: the rows of a file, or of a table.

    Attributes:
        source_id: The id of the table; empty for a file.
        source: Its name when that was asked.
    """

    source_id: str = ""
    source: str = ""

    def rows(self) -> pa.RecordBatchReader:
        """Read the rows of the source, from their beginning each time."""
        if not self.source_id:
            return importing.plan.open_import(source_files(self))
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
        parameters=MergeBrought,
        plan=plan_merge,
        preview=preview_merge,
        carry_out=carry_out_merge,
        settle=settle_rows,
        queue=Queue.SPARK,  # of a large table
    )
)
