"""Rows of a source are merged into a table: here, or by Spark where it is large.

Spark also does what a process of ours does not evaluate exactly as Spark would.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow as pa

from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.web.tables.operations.rows.engines import Step, with_fitting_engine
from deltaweb.web.tables.storage.opening import place_of
from deltaweb.writer.merge.builder import MergeBuilder

if TYPE_CHECKING:
    from deltaweb.delta.writing.transaction import CommitResult
    from deltaweb.web.tables.index.spark_session import SparkSession
    from deltaweb.writer.merge.clauses import MergeClause
    from deltaweb.writer.merge.outcome import MergeOutlook

T = TypeVar("T")

ReadSource = Callable[[], pa.RecordBatchReader]
"""Reads the rows of a source, from their beginning each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSource:
    """What is merged into which table.

    Attributes:
        location: Of the table.
        read: Reads the rows; they are held in memory.
        on: SQL by which rows match: `t` is the table, `s` the source.
        time_zone: Whose clocks show the times without a zone in all SQL.
    """

    location: str
    read: ReadSource
    on: str
    time_zone: str = UTC_ZONE


class PlannedMerge(Protocol):
    """A merge whose clauses are said, of either engine."""

    def foresee(self) -> "MergeOutlook":
        """Find out what it would do; nothing is written."""
        ...

    def commit(self) -> "CommitResult":
        """Do it."""
        ...


def merge_rows(source: MergeSource, step: Step) -> MergeBuilder:
    """Return a merge to say the clauses of, and to execute.

    Args:
        source: The rows, and the table.
        step: Told that Spark is started, where it is.
    """
    return MergeBuilder(
        lambda clauses: _with_merge(source, clauses, lambda one: one.commit(), step)
    )


def foresee_merge(
    source: MergeSource, clauses: "Sequence[MergeClause]", step: Step
) -> "MergeOutlook":
    """Find out what a merge would do; nothing is written.

    Raises:
        DeltaError: As the merge does before it writes.
    """
    return _with_merge(source, clauses, lambda one: one.foresee(), step)


def _with_merge(
    source: MergeSource,
    clauses: "Sequence[MergeClause]",
    then: Callable[[PlannedMerge], T],
    step: Step,
) -> T:
    from deltaweb.writer.merge.merge import plan_merge

    place, zone = place_of(source.location), source.time_zone

    def on_spark(spark: "SparkSession") -> T:
        from deltaweb.spark.writing.merge.run import MergeOnSpark

        rows = spark.createDataFrame(source.read().read_all())
        there = MergeOnSpark(
            spark=spark, place=place, source=rows, on=source.on, clauses=clauses
        )
        return then(there)

    return with_fitting_engine(
        lambda: plan_merge(
            place.open(), source.read(), source.on, clauses, time_zone=zone
        ),
        then,
        on_spark,
        step,
        time_zone=zone,
    )
