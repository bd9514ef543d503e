"""What may be seen of many data files, or of large changes, written by tasks.

Each has some of the files. Where rows of some may come that go with others, tasks read
and spread them, find in the next step what is left of those that met, and only then
write, each its files, the rows of these.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.delta.feed.net_changes import NUMBER, by_file
from deltaweb.spark.arrow_frames import (
    Batches,
    map_in_arrow,
    row_of,
    run_tasks,
    unpacked,
)
from deltaweb.spark.changed_rows import PARTITION, spread
from deltaweb.spark.data_files.shares import deal_out, num_tasks, size_bytes
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.spark.writing.change_tasks import ANSWER, pack, unpack
from deltaweb.writer.excerpts import (
    EXCERPT,
    KIND,
    TELLS_KINDS,
    ChangeExcerpts,
    Excerpts,
    is_one_way,
)
from deltaweb.writer.files.parquet_file import WrittenFile

if TYPE_CHECKING:
    from pyspark import Broadcast

Written = tuple[str, WrittenFile | None]


TITLE: Final = "Prepare a share"
_BLOCKS: Final = pa.schema([(PARTITION, pa.int32()), ("rows", pa.binary())])


def write_excerpts(
    spark: SparkSession,
    excerpts: Excerpts | ChangeExcerpts,
    files: pa.Table,
    on_progress: OnProgress,
) -> list[Written]:
    """Write what may be seen of files; return each by its path, in any order."""
    of_changes = isinstance(excerpts, ChangeExcerpts)
    more = (EXCERPT, KIND, NUMBER, TELLS_KINDS) if of_changes else (EXCERPT,)
    at_least = spark.sparkContext.defaultParallelism
    parts = deal_out(files, at_least=at_least, more=more)
    kept = spark.sparkContext.broadcast(parts)
    try:
        if isinstance(excerpts, ChangeExcerpts) and not is_one_way(files):
            count = num_tasks(size_bytes(files), at_least=at_least)
            task = _ChangeTask(excerpts, kept, count)
            blocks = run_tasks(spark, len(parts), task.spread_part, _BLOCKS)
            for step, schema in ((task.match, _BLOCKS), (task.write, ANSWER)):
                met = blocks.repartitionById(count, blocks[PARTITION])
                blocks = map_in_arrow(met, step, schema)
        else:
            write = partial(_write_part, excerpts, kept)
            blocks = run_tasks(spark, len(parts), write, ANSWER)
        rows = run_job(spark, blocks.collect, on_progress, title=TITLE)
    finally:
        kept.destroy()
    return [one for row in rows for one in unpack(row[0], list)]


def _write_part(
    excerpts: Excerpts | ChangeExcerpts,
    parts: "Broadcast[list[pa.Table]]",
    number: int,
) -> Batches:
    with faults_are_carried():
        written = list(excerpts.write(parts.value[number]))
    yield from pack(written)


@dataclass(frozen=True)
class _ChangeTask:
    """The steps of changes of which some rows go and others come."""

    excerpts: ChangeExcerpts
    parts: "Broadcast[list[pa.Table]]"
    num_partitions: int

    def spread_part(self, number: int) -> Batches:
        """Yield the rows of the files of one part, for where equal ones meet."""
        part = self.parts.value[number]
        files = (part.slice(row, 1) for row in range(part.num_rows))
        with faults_are_carried():
            rows = chain.from_iterable(map(self.excerpts.placed, files))
            yield from self._blocks(rows, self.excerpts.seen.names)

    def match(self, batches: Batches) -> Batches:
        """Find what is left of rows that met; yield places for who has their files."""
        with faults_are_carried(), self.excerpts.net_changes() as net:
            for rows in _unpacked(batches):
                net.add(rows)
            yield from self._blocks(net.places(), [NUMBER])

    def write(self, batches: Batches) -> Batches:
        """Write the rows at the places that have come, each file once."""
        with faults_are_carried():
            kept = by_file(_unpacked(batches))
            written = [
                self.excerpts.write_file(part.slice(row, 1), kept)
                for part in self.parts.value
                for row, number in enumerate(part[NUMBER].to_pylist())
                if number in kept
            ]
        yield from pack(written)

    def _blocks(self, tables: Iterable[pa.Table], by: Sequence[str]) -> Batches:
        for number, block in spread(tables, by, self.num_partitions):
            yield row_of(_BLOCKS, number, block)


def _unpacked(batches: Batches) -> Iterator[pa.Table]:
    for batch in batches:
        for block in batch["rows"]:
            yield unpacked(block.as_buffer())
