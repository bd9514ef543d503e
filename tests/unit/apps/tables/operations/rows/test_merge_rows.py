"""Rows that are merged: read once, and merged into the version that was shown."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from apps.jobs.running.reports import Reports
from apps.tables.operations.preview import RunContext
from apps.tables.operations.rows.merge_rows import (
    MergeAsked,
    carry_out_merge,
    plan_merge,
    preview_merge,
)
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.writing.errors import CommitConflictError
from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder

CONTEXT = RunContext(job=Reports(), now=datetime(2026, 11, 28, tzinfo=UTC))


@dataclass(frozen=True, kw_only=True)
class Counted(MergeAsked):
    """Two rows, of which somebody counts how often they are read."""

    reads: list[int] = field(default_factory=list)

    def rows(self, schema: StructType) -> pa.RecordBatchReader:
        assert schema.names == ("n",)
        self.reads.append(1)
        return pa.table({"n": [2, 9]}).to_reader()


TABLE = TableBuilder().rows(n=[1, 2])


def test_the_source_is_read_once(table: DeltaTable) -> None:
    asked = Counted(on="t.n = s.n", update_all=True, insert_all=True)

    plan = plan_merge(table, asked, CONTEXT)
    shown = preview_merge(plan)
    done = carry_out_merge(table, plan, CONTEXT)

    assert shown.counts["num_updated_rows"] == done.num_rows_updated == 1
    assert shown.counts["num_inserted_rows"] == done.num_rows_inserted == 1
    assert len(asked.reads) == 1


def test_nothing_else_is_merged_than_was_shown(table: DeltaTable) -> None:
    asked = Counted(on="t.n = s.n", update_all=True)
    plan = plan_merge(table, asked, CONTEXT)
    table.delete("n = 2")

    with pytest.raises(CommitConflictError):
        carry_out_merge(table, plan, CONTEXT)
