"""The driver of a merge: what is joined, and what became of the files put together."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (the name that all Spark code has)

from deltaweb.delta.features.change_feed import writes_changes
from deltaweb.delta.scan.predicate import Predicate
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.writing.commit import discard_files
from deltaweb.delta.writing.transaction import EVERYTHING_READ, TableRead
from deltaweb.spark.arrow_frames import Batches, map_in_arrow
from deltaweb.spark.data_files.shares import num_tasks, size_bytes
from deltaweb.spark.writing.change_tasks import ANSWER, run_watched, unpack
from deltaweb.spark.writing.file_rows import FILE_NUMBER, FILE_PLACE
from deltaweb.spark.writing.merge.joined_rows import (
    CHOICE,
    joined_rows,
    new_rows,
    numbered_source,
    reach_of,
    table_rows,
)
from deltaweb.spark.writing.merge.merge_request import MergeRequest
from deltaweb.spark.writing.merge.merge_tasks import (
    MergeAnswer,
    change_files,
    insert_rows,
)
from deltaweb.writer.changes.change_writer import all_changes
from deltaweb.writer.matching import files_within
from deltaweb.writer.merge.clauses import About, may_repeat
from deltaweb.writer.merge.file_merge import COUNTS, MergeMatchedTwiceError
from deltaweb.writer.merge.outcome import MergeOutcome
from deltaweb.writer.rewrite.file_changes import Progress

TITLE: Final = "Merge rows"
INSERTED_A_TASK: Final = 1 << 18
"""Rows of a source for which a task is worth files of its own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergeByTasks:
    """Merges rows by tasks of Spark."""

    spark: SparkSession
    snapshot: Snapshot
    request: MergeRequest
    source: DataFrame
    answers: list[MergeAnswer] = field(default_factory=list)

    @contextmanager
    def write(self, on_progress: Progress | None) -> Iterator[MergeOutcome]:
        """Do it; on an error in its context what was written is taken back.

        Of tasks that were stopped, unreferenced files may stay: a vacuum takes them.
        """
        try:
            yield run_watched(self.spark, self._work, on_progress, title=TITLE)
        except BaseException:
            paths = [path for one in self.answers for path in one.written.paths]
            discard_files(self.request.place.open(), paths)
            raise

    # === Jobs of Spark ===

    def _work(self) -> MergeOutcome:
        request = self.request
        source = numbered_source(self.source)
        num_source = source.count()
        reach = self._reach(source, num_source)
        files = self._candidates(reach)
        with table_rows(self.spark, request, files) as rows:
            joined = joined_rows(request, rows, source)
        changed = self._change(joined, files)
        if request.of(About.NOT_MATCHED):
            in_feed = changed.num_rows > 0
            self._insert(new_rows(request, source, joined), num_source, in_feed=in_feed)
        counts = {
            name: sum(one.counts[name] for one in self.answers) for name in COUNTS
        }
        return MergeOutcome(
            written=all_changes([one.written for one in self.answers]),
            num_output_rows=sum(one.num_output_rows for one in self.answers),
            changed=changed,
            counts={**counts, "numSourceRows": num_source},
            read=EVERYTHING_READ
            if reach is None
            else TableRead(predicate=reach, files=files),
        )

    def _reach(self, source: DataFrame, num_source: int) -> Predicate | None:
        if self.request.of(About.NOT_MATCHED_BY_SOURCE):
            return None  # rows that match nothing are anywhere
        return reach_of(self.request, source, num_source)

    def _candidates(self, reach: Predicate | None) -> pa.Table:
        """Return the files that may hold a row that changes or goes."""
        if reach is None:
            return self.snapshot.counted(self.snapshot.files)
        return files_within(self.snapshot, reach)

    def _change(self, joined: DataFrame, files: pa.Table) -> pa.Table:
        """Change files that have rows to change, and return them."""
        planned = joined.filter(F.col(CHOICE).isNotNull())
        if may_repeat(self.request.clauses):
            planned = planned.dropDuplicates([FILE_NUMBER, FILE_PLACE])
        rows = planned.groupBy(FILE_NUMBER, FILE_PLACE).count()
        twice = F.min(F.when(F.col("count") > 1, F.col(FILE_PLACE)))
        found = rows.groupBy(FILE_NUMBER).agg(twice.alias(FILE_PLACE)).toArrow()
        for row in found.filter(found[FILE_PLACE].is_valid()).slice(0, 1).to_pylist():
            raise self._matched_twice(files, row[FILE_NUMBER], row[FILE_PLACE])
        numbers = found.sort_by(FILE_NUMBER)[FILE_NUMBER].combine_chunks()
        changed = files.take(numbers)
        if not changed.num_rows:
            return changed
        logged = self.request.logged(self.snapshot, changed)
        at_least = self.spark.sparkContext.defaultParallelism
        count = num_tasks(size_bytes(changed), at_least=at_least)
        parts = planned.repartition(min(count, changed.num_rows), FILE_NUMBER)
        kept = self.spark.sparkContext.broadcast(
            logged.append_column(FILE_NUMBER, numbers)
        )
        try:
            task = partial(change_files, self.request, kept)
            self._run(parts.sortWithinPartitions(FILE_NUMBER, FILE_PLACE), task)
        finally:
            kept.destroy()
        return changed

    def _matched_twice(
        self, files: pa.Table, number: int, place: int
    ) -> MergeMatchedTwiceError:
        start = 0
        for rows in self.request.reading.table_rows(files.slice(number, 1)):
            end = start + rows.num_rows
            if place < end:
                one = rows.slice(place - start, 1)
                return MergeMatchedTwiceError.of(self.request.on, one)
            start = end
        raise IndexError(place)  # tasks have read it there

    def _insert(self, rows: DataFrame, num_source: int, *, in_feed: bool) -> None:
        base = self.request.base
        in_feed = in_feed and writes_changes(base.protocol, base.metadata)
        count = max(1, -(-num_source // INSERTED_A_TASK))
        task = partial(insert_rows, self.request, in_feed=in_feed)
        self._run(rows.coalesce(count), task)

    def _run(self, rows: DataFrame, task: Callable[[Batches], Batches]) -> None:
        found = map_in_arrow(rows, task, ANSWER).collect()
        self.answers.extend(unpack(bytes(row.answer), MergeAnswer) for row in found)
