"""Rows that a drawn condition chooses, here and in Spark: one check for every zone."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.scan.rows import read_rows
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import (
    ExpressionError,
    ExpressionMistakenError,
    ExpressionValueError,
)
from deltaweb.table import DeltaTable
from deltaweb.writer.rewrite.plan import RewritePlan
from tests.support.tables.row_tables import Table
from tests.support.tables.table_builder import TableBuilder
from tests.support.tables.typed_rows import BAD_TEXTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = "drawn"


@dataclass(frozen=True)
class DrawnRows:
    """The same rows in files of two, by partitions, and in one file of row groups."""

    rows: pa.Table
    tables: tuple[DeltaTable, ...]
    grouped: Table

    @classmethod
    def write(cls, folder: Path, rows: pa.Table, *partitioned_by: str) -> "DrawnRows":
        """Write rows in each way."""
        files = TableBuilder().columns(rows.schema).build()
        for start in range(0, rows.num_rows, 2):
            files.append(rows.slice(start, 2))
        parts = TableBuilder().partitioned_by(*partitioned_by).rows(rows).build()
        grouped = Table(folder, schema_of_arrow(rows.schema))
        grouped.add(rows, row_group_size=2)
        return cls(rows, (files, parts), grouped)

    def check(self, session: "SparkSession", sql: str, zone: str = "UTC") -> None:
        """Assert that a condition reads, counts and deletes what Spark finds."""
        expected = rows_of_spark(session, sql)
        schema = schema_of_arrow(self.rows.schema)
        [batch] = self.rows.combine_chunks().to_batches()

        judged = _found(
            lambda: batch.filter(SQLCondition(sql, schema, zone).holds(batch))
        )

        if isinstance(judged, ExpressionMistakenError) and expected is not None:
            # A text that is no value is refused even where Spark never looks at it.
            assert any(text in sql for text in BAD_TEXTS)
            assert " is not a" in judged.reason
        elif expected is None:
            assert isinstance(judged, Exception)
        else:
            assert judged == expected
            assert all(rows == expected for rows in self._chosen(sql, zone))

    def _chosen(self, sql: str, zone: str) -> list[list[int] | Exception]:
        """Return the rows that are read, and those that would be deleted."""
        condition = SQLCondition(sql, self.grouped.schema, zone)
        found = [_found(lambda: read_rows(self.grouped.source, predicate=condition))]
        for table in self.tables:
            there = DeltaTable.from_store(table.store, time_zone=zone)
            found += [
                _found(lambda: there.snapshot().read(["row"], sql)),  # noqa: B023  # called at once
                _found(lambda: _counted(there.plan_delete(sql))),  # noqa: B023  # as above
            ]
        return found


def _counted(plan: RewritePlan) -> pa.Table:
    """Return the rows that a dry run shows, which are as many as it counts."""
    assert plan.outcome.num_rows == plan.before.num_rows
    return plan.before


def _found(read: Callable[[], Any]) -> list[int] | Exception:
    """Return the numbers of rows, or why there are none."""
    try:
        return sorted(read()["row"].to_pylist())
    except (ExpressionError, ExpressionValueError) as error:
        return error


def rows_of_spark(session: "SparkSession", sql: str) -> list[int] | None:
    """Return the numbers of rows; None where Spark raises."""
    from pyspark.errors import PySparkException

    try:
        rows = session.table(VIEW).filter(sql).select("row").collect()
        return sorted(row["row"] for row in rows)
    except PySparkException:
        return None
