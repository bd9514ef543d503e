"""Tasks of a merge: files changed and new rows written, by the code of a process."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from deltaweb.spark.arrow_frames import Batches
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.spark.writing.change_tasks import pack
from deltaweb.spark.writing.file_rows import FILE_NUMBER, FILE_PLACE, by_file
from deltaweb.spark.writing.merge.joined_rows import CHOICE, source_fields
from deltaweb.spark.writing.merge.merge_request import MergeRequest
from deltaweb.writer.changes.change_writer import WrittenChanges
from deltaweb.writer.merge.clauses import NO_CLAUSE, Places
from deltaweb.writer.merge.file_merge import PlannedRows
from deltaweb.writer.rows.row_schema import RowSchema

if TYPE_CHECKING:
    from pyspark import Broadcast


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MergeAnswer:
    """What a task answers."""

    written: WrittenChanges
    num_output_rows: int
    counts: dict[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class _FilePlan:
    """The rows of a file that change, in the order of their places."""

    places: Places
    choices: Places
    sent: pa.RecordBatch

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch], sent: "_Sent") -> "_FilePlan":
        rows = pa.Table.from_batches(batches).combine_chunks()
        return cls(
            places=rows[FILE_PLACE].to_numpy(),
            choices=rows[CHOICE].to_numpy(),
            sent=sent.fit(rows.to_batches()[0]),
        )

    def planned(self, read: Iterable[pa.RecordBatch]) -> Iterator[PlannedRows]:
        start = 0
        for rows in read:
            end = start + rows.num_rows
            low, high = np.searchsorted(self.places, [start, end])
            chosen = np.full(rows.num_rows, NO_CLAUSE, np.int16)
            partners = np.full(rows.num_rows, -1, np.int64)
            here = self.places[low:high] - start
            chosen[here] = self.choices[low:high]
            partners[here] = np.arange(low, high)
            yield PlannedRows(rows, chosen, partners)
            start = end

    def source_rows(self, places: Places) -> pa.RecordBatch:
        return self.sent.take(pa.array(places))


class _Sent:
    """What comes with rows, held to the schema that tasks know."""

    def __init__(self, request: MergeRequest) -> None:
        self._schema = request.sent
        self._columns = source_fields(request.sent)
        self._fit: RowSchema | None = None

    def fit(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        some = rows.select(self._columns).rename_columns(list(self._schema.names))
        if self._fit is None:
            self._fit = RowSchema(self._schema, some.schema, is_whole=True)
        return self._fit.fit(some)


def change_files(
    request: MergeRequest, files: "Broadcast[pa.Table]", batches: Batches
) -> Batches:
    """In a task: change the files whose planned rows come; yields a row by `ANSWER`.

    Args:
        files: Rows of `Snapshot.files` with `FILE_NUMBER`.
        batches: Of `joined_rows` that have a choice, by file and place.
    """
    with faults_are_carried(), request.open_changes() as writer:
        merger, sent = request.open_merger(writer), _Sent(request)
        known = files.value
        rows_of = {number: row for row, number in enumerate(_numbers(known))}
        for number, some in groupby(by_file(batches), key=itemgetter(0)):
            file = known.slice(rows_of[number], 1)
            plan = _FilePlan.of((part for _, part in some), sent)
            planned = plan.planned(request.reading.table_rows(file))
            merger.change(file, planned, plan.source_rows)
        answer = MergeAnswer(
            written=writer.finish(),
            num_output_rows=writer.files.num_rows,
            counts=merger.counts,
        )
    yield from pack(answer)


def insert_rows(request: MergeRequest, batches: Batches, *, in_feed: bool) -> Batches:
    """In a task: write rows of `new_rows`; yields a row by `ANSWER`.

    Args:
        in_feed: Whether the change feed has them beside the new files.
    """
    with faults_are_carried(), request.open_changes() as writer:
        merger, sent = request.open_merger(writer), _Sent(request)
        for batch in batches:
            chosen = batch.column(CHOICE).to_numpy().astype(np.int16)
            merger.insert(sent.fit(batch), chosen, in_feed=in_feed)
        answer = MergeAnswer(
            written=writer.finish(needs_feed=in_feed),
            num_output_rows=writer.files.num_rows,
            counts=merger.counts,
        )
    yield from pack(answer)


def _numbers(files: pa.Table) -> list[int]:
    numbers: list[int] = files[FILE_NUMBER].to_pylist()
    return numbers
