"""Files changed by tasks where Spark evaluates what is asked, for each of their rows.

A file's rows go through Spark in their order and by one task: with them go whether they
are concerned, and the values that they take.
"""

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.spark.arrow_frames import Batches, column_of
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.spark.writing.change_tasks import pack
from deltaweb.spark.writing.file_rows import FILE_NUMBER, by_file
from deltaweb.spark.writing.file_tasks import check_verdict, without_verdicts
from deltaweb.spark.writing.rewrite.row_request import EVERY_ROW, RowRequest, answer_of
from deltaweb.spark.writing.session.checked_sql import is_true
from deltaweb.spark.writing.session.conditions import value_of_sql, with_verdicts
from deltaweb.spark.writing.spark_types import spark_schema
from deltaweb.writer.rewrite.dry_run import RowsSeen
from deltaweb.writer.rewrite.file_changes import FileRewriter, TouchedRows
from deltaweb.writer.rewrite.row_changes import ChangedRows, put_back
from deltaweb.writer.rows.row_checks import RowChecks
from deltaweb.writer.rows.row_completion import RowCompletion
from deltaweb.writer.rows.row_schema import RowSchema

if TYPE_CHECKING:
    from pyspark import Broadcast

HOLDS: Final = "_deltaweb_is_concerned"
OLD: Final = "_deltaweb_old_"


def judged_rows(rows: DataFrame, request: RowRequest) -> DataFrame:
    """Return rows as they become, and beside them what a task needs to know.

    Returns:
        The table's columns with new values where rows are concerned, the old values
        of those that were assigned, `FILE_NUMBER`, `HOLDS`, and the verdicts of
        `with_verdicts`.
    """
    holds = is_true(rows, request.where or EVERY_ROW)
    assigned = request.assignments or {}
    columns = []
    for field in spark_schema(request.schema).fields:
        value = column_of(rows, field.name)
        if field.name in assigned:
            new = value_of_sql(rows, assigned[field.name], field)
            value = F.when(holds, new).otherwise(value).alias(field.name)
        columns.append(value)
    old = [
        column_of(rows, name).alias(f"{OLD}{n}")
        for n, name in enumerate(request.changed)
    ]
    judged = rows.select(*columns, *old, F.col(FILE_NUMBER), holds.alias(HOLDS))
    judged = _generated(judged, request)
    return with_verdicts(judged, request.schema, request.elsewhere)


def _generated(judged: DataFrame, request: RowRequest) -> DataFrame:
    """Return rows with what is generated of their new values."""
    made = request.filled.generated
    if not made:
        return judged
    kinds = spark_schema(request.schema)
    new = {
        name: F.when(
            column_of(judged, HOLDS),
            value_of_sql(judged, sql, kinds[name]),
        ).otherwise(column_of(judged, name))
        for name, sql in made.items()
    }
    return judged.withColumns(new)


def rewrite_judged(
    request: RowRequest,
    files: "Broadcast[pa.Table]",
    batches: Batches,
    *,
    is_dry: bool,
) -> Batches:
    """In a task: change the files whose judged rows come; yields a row by `ANSWER`.

    Args:
        files: Rows of `Snapshot.files`, at the places that `FILE_NUMBER` says.
    """
    seen = RowsSeen() if is_dry else None
    with faults_are_carried(), request.open_changes(is_dry=is_dry) as changes:
        rewriter = FileRewriter(changes, seen)
        judged = _Judged(request)
        for number, some in groupby(by_file(batches), key=itemgetter(0)):
            file = files.value.slice(number, 1)
            rewriter.rewrite(file, (judged.touched(rows) for _, rows in some))
        written = changes.finish(needs_feed=bool(rewriter.removed))
        answer = answer_of(files.value.slice(0, 0), written, rewriter, seen)
    yield from pack(answer)


def _completion(request: RowRequest) -> RowCompletion:
    given = set(request.changed)
    return RowCompletion(request.schema, given, takes_defaults=False)


class _Judged:
    """Judged rows of a task, as the files of a table take them."""

    def __init__(self, request: RowRequest) -> None:
        self._request = request
        self._names = request.schema.names
        self._fit: RowSchema | None = None
        if request.assignments is not None:
            self._completion = _completion(request)
            self._checks = RowChecks(
                request.base.metadata, request.schema, (), request.elsewhere
            )

    def touched(self, batch: pa.RecordBatch) -> TouchedRows:
        request = self._request
        given, verdicts = without_verdicts(batch, len(request.elsewhere))
        holds = given.column(HOLDS)
        new = given.select(self._names)
        old = {
            name: given.column(f"{OLD}{n}") for n, name in enumerate(request.changed)
        }
        columns = [old.get(name, given.column(name)) for name in self._names]
        rows = self._fitted(pa.RecordBatch.from_arrays(columns, schema=new.schema))
        if request.assignments is None:
            return TouchedRows(rows, holds, ChangedRows(rows.filter(pc.invert(holds))))
        changed = self._completion.complete(self._fitted(new.filter(holds)))
        self._checks.check(changed)
        for rule, verdict in zip(request.elsewhere, verdicts, strict=True):
            check_verdict(rule, verdict.filter(holds), changed)
        return TouchedRows(
            rows, holds, ChangedRows(put_back(rows, holds, changed), changed)
        )

    def _fitted(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        if self._fit is None:
            schema = self._request.schema
            self._fit = RowSchema(schema, rows.schema, is_whole=True)
        return self._fit.fit(rows)
