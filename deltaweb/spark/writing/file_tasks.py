"""Rows of a task to data files, by the code that writes in process.

A task answers with the files that it wrote and their statistics, packed as Arrow.
Whatever goes wrong before it has answered, it takes its files back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Self

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.commit import discard_files
from deltaweb.delta.writing.requirements import RowConstraint
from deltaweb.delta.writing.transaction import ADDED_FILES
from deltaweb.spark.arrow_frames import Batches, packed, row_of, unpacked
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.spark.writing.write_plan import WritePlan
from deltaweb.writer.rows.row_checks import RowChecks, violation
from deltaweb.writer.rows.row_schema import RowSchema

PART_SCHEMA: Final = pa.schema(
    [("files", pa.binary()), ("num_rows", pa.int64()), ("num_bytes", pa.int64())]
)


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """What a task wrote.

    Attributes:
        files: `ADDED_FILES` in Arrow's stream format.
    """

    files: bytes
    num_rows: int
    num_bytes: int

    @classmethod
    def nothing(cls) -> Self:
        """Return what a task answers that wrote no file."""
        return cls(packed(ADDED_FILES.empty_table()), 0, 0)

    @property
    def added(self) -> pa.Table:
        return unpacked(self.files)


def added_files(parts: Sequence[TaskFiles]) -> pa.Table:
    tables = [part.added for part in parts]
    return pa.concat_tables([ADDED_FILES.empty_table(), *tables])


def discard_parts(store: TableStore, parts: Sequence[TaskFiles]) -> None:
    """Delete what tasks wrote that is not to be committed."""
    discard_files(store, added_files(parts)["path"].to_pylist())


def write_task(plan: WritePlan, batches: Batches) -> Batches:
    """Write the rows of a task; yields a row by `PART_SCHEMA`, or none."""
    with faults_are_carried():
        part = write_rows(plan, batches)
    if part.num_rows:
        yield row_of(PART_SCHEMA, part.files, part.num_rows, part.num_bytes)


def write_rows(plan: WritePlan, batches: Batches) -> TaskFiles:
    """Write rows as data files; see `conditions.with_verdicts` for their columns."""
    write = plan.write
    with write.open_files() as files:
        files.spell_as(plan.copied)
        for rows in _accepted(plan, batches):
            files.write(rows)
        return TaskFiles(packed(files.finish()), files.num_rows, files.num_bytes)


def _accepted(plan: WritePlan, batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yield rows as the table has them, each checked."""
    rows = iter(batches)
    first = next(rows, None)
    if first is None:
        return
    schema = plan.schema
    rules = plan.elsewhere if plan.is_checked else ()
    given, _ = without_verdicts(first, len(rules))
    fit = RowSchema(schema, given.schema)
    checks = RowChecks(plan.metadata, schema, plan.request.rules, plan.elsewhere)
    for batch in chain([first], rows):
        given, verdicts = without_verdicts(batch, len(rules))
        fitted = fit.fit(given)
        if plan.is_checked:
            checks.check(fitted)
            for rule, verdict in zip(rules, verdicts, strict=True):
                check_verdict(rule, verdict, fitted)
        yield fitted


def without_verdicts(
    batch: pa.RecordBatch, count: int
) -> tuple[pa.RecordBatch, list[pa.Array]]:
    """Return rows without the last columns, which `with_verdicts` added, and these."""
    num_columns = batch.num_columns - count
    columns = batch.columns
    schema = pa.schema([batch.schema.field(n) for n in range(num_columns)])
    rows = pa.RecordBatch.from_arrays(columns[:num_columns], schema=schema)
    return rows, columns[num_columns:]


def check_verdict(
    rule: RowConstraint, verdict: pa.BooleanArray, rows: pa.RecordBatch
) -> None:
    """Refuse rows that break a rule, by what Spark says of each."""
    holds = pc.fill_null(verdict, fill_value=False)
    if holds.true_count < rows.num_rows:
        raise violation(rule, rows, pc.invert(holds))
