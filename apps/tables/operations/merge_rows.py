"""Rows of a source are merged into a table: here, or by Spark where it is large.

Spark also does what a process of ours does not evaluate exactly as Spark would.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from django.conf import settings

from apps.tables.index.spark_session import with_spark
from apps.tables.storage.opening import place_of
from deltaweb.expressions.errors import ExpressionError
from deltaweb.writer.merge.builder import MergeBuilder

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession
    from deltaweb.delta.writing.transaction import CommitResult
    from deltaweb.writer.merge.clauses import MergeClause

ReadSource = Callable[[], pa.RecordBatchReader]
"""Reads the rows of a source, from their beginning each time."""


def merge_rows(
    location: str, source: ReadSource, on: str, step: Callable[[str], None]
) -> MergeBuilder:
    """Return a merge to say the clauses of, and to execute.

    Args:
        location: Of the table.
        source: Reads the rows; they are held in memory.
        on: SQL by which rows match: `t` is the table, `s` the source.
        step: Told that Spark is started, where it is.
    """
    return MergeBuilder(partial(_merge, location, source, on, step))


def _merge(
    location: str,
    source: ReadSource,
    on: str,
    step: Callable[[str], None],
    clauses: "Sequence[MergeClause]",
) -> "CommitResult":
    from deltaweb.writer.merge.merge import plan_merge

    place = place_of(location)
    try:
        plan = plan_merge(place.open(), source(), on, clauses)
    except ExpressionError:
        pass
    else:
        is_large = plan.opened_bytes() > int(settings.SPARK_DIFF_BYTES)
        if plan.is_for_a_process or not is_large:
            return plan.commit()

    def work(spark: "SparkSession") -> "CommitResult":
        from deltaweb.spark.writing.merge.run import merge

        rows = spark.createDataFrame(source().read_all())
        return merge(spark, place, rows, on, clauses)

    return with_spark(step, work)
