"""The driver of a change of rows: files dealt out, what became of them put together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
from pyspark.sql import SparkSession

from deltaweb.delta.features.change_feed import writes_changes
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.writing.commit import discard_files
from deltaweb.expressions.session.settings import OURS, SessionSettings
from deltaweb.spark.arrow_frames import Batches, map_in_arrow, run_parts
from deltaweb.spark.data_files.shares import READ, deal_out
from deltaweb.spark.writing.change_tasks import ANSWER, run_watched, unpack
from deltaweb.spark.writing.file_rows import numbered_rows
from deltaweb.spark.writing.replaced_rows import count_matches
from deltaweb.spark.writing.rewrite.judged_rows import judged_rows, rewrite_judged
from deltaweb.spark.writing.rewrite.row_request import (
    EVERY_ROW,
    RowRequest,
    ShareAnswer,
    feed_share,
    rewrite_share,
)
from deltaweb.writer.changes.change_writer import all_changes
from deltaweb.writer.matching import row_counts
from deltaweb.writer.rewrite.dry_run import RowsSeen
from deltaweb.writer.rewrite.engine import ConcernedFiles
from deltaweb.writer.rewrite.file_changes import Progress, RewrittenFiles, counted

TITLE: Final = "Change rows"
Answers = list[ShareAnswer]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RewriteByTasks:
    """Changes files by tasks of Spark; see `writer.rewrite.engine.RewriteEngine`.

    Attributes:
        is_evaluated_here: Whether tasks evaluate it as a process does; else Spark.
    """

    spark: SparkSession
    snapshot: Snapshot
    request: RowRequest
    is_evaluated_here: bool

    @property
    def settings(self) -> SessionSettings:
        """Those of the session, but where nothing depends on them."""
        return OURS if self.is_evaluated_here else self.request.settings

    @property
    def progress_unit(self) -> str:
        """Tasks of Spark, of a share of files each."""
        return "tasks"

    def look(
        self, about: ConcernedFiles, seen: RowsSeen, on_progress: Progress | None
    ) -> RewrittenFiles:
        work = partial(self._change, about.opened, is_dry=True, is_sure=about.is_sure)
        answers = self._run(work, on_progress)
        for answer in answers:
            if answer.seen is not None and not seen.is_full:
                before, after = answer.seen
                seen.see(_one(before), None if after is None else _one(after))
        return self._joined(about.gone, answers)

    @contextmanager
    def write(
        self, about: ConcernedFiles, on_progress: Progress | None
    ) -> Iterator[RewrittenFiles]:
        """Do it; on an error in its context what was written is taken back.

        Of tasks that were stopped, unreferenced files may stay: a vacuum takes them.
        """
        opened, request = about.opened, self.request
        work = partial(self._change, opened, is_dry=False, is_sure=about.is_sure)
        answers = self._run(work, on_progress)
        try:
            tells_rows = any(answer.done.removed.num_rows for answer in answers)
            base = request.base
            if tells_rows and writes_changes(base.protocol, base.metadata):
                answers += self._run(partial(self._feed, about.gone), on_progress)
            yield self._joined(about.gone, answers)
        except BaseException:
            paths = [path for one in answers for path in one.done.written.paths]
            discard_files(request.place.open(), paths)
            raise

    # === Jobs of Spark ===

    def _run(
        self, work: Callable[[], Answers], on_progress: Progress | None
    ) -> Answers:
        return run_watched(self.spark, work, on_progress, title=TITLE)

    def _change(self, opened: pa.Table, *, is_dry: bool, is_sure: bool) -> Answers:
        if not opened.num_rows:
            return []
        if not self.is_evaluated_here:
            return self._judge(opened, is_dry=is_dry, is_sure=is_sure)
        task = partial(rewrite_share, is_dry=is_dry, is_sure=is_sure)
        return self._by_shares(task, self._logged(opened, is_dry=is_dry))

    def _feed(self, gone: pa.Table) -> Answers:
        return self._by_shares(feed_share, gone) if gone.num_rows else []

    def _by_shares(self, task: Callable[..., Batches], files: pa.Table) -> Answers:
        at_least = self.spark.sparkContext.defaultParallelism
        more = [name for name in files.column_names if name not in READ]
        shares = deal_out(files, at_least=at_least, more=more)
        work = partial(task, self.request)
        with run_parts(self.spark, shares, work, ANSWER) as answers:
            rows = answers.collect()
        return [unpack(bytes(row.answer), ShareAnswer) for row in rows]

    def _judge(self, opened: pa.Table, *, is_dry: bool, is_sure: bool) -> Answers:
        request, reading = self.request, self.request.reading
        if not is_sure:
            where = request.where or EVERY_ROW
            counts = count_matches(self.spark, reading, opened, where)
            opened = opened.take(pa.array(sorted(counts), pa.int64()))
        if not opened.num_rows:
            return []
        kept = self.spark.sparkContext.broadcast(self._logged(opened, is_dry=is_dry))
        try:
            with numbered_rows(self.spark, reading, opened) as rows:
                task = partial(rewrite_judged, request, kept, is_dry=is_dry)
                judged = judged_rows(rows, request)
                found = map_in_arrow(judged, task, ANSWER).collect()
        finally:
            kept.destroy()
        return [unpack(bytes(row.answer), ShareAnswer) for row in found]

    def _logged(self, files: pa.Table, *, is_dry: bool) -> pa.Table:
        """Return files with what the log says of them, where it is to be said again."""
        return files if is_dry else self.request.logged(self.snapshot, files)

    # === What became of the files ===

    def _joined(self, gone: pa.Table, answers: Sequence[ShareAnswer]) -> RewrittenFiles:
        first = counted(gone, row_counts(self.snapshot, gone))
        names = first.column_names
        done = [answer.done for answer in answers]
        return RewrittenFiles(
            written=all_changes([one.written for one in done]),
            removed=pa.concat_tables(
                [first, *(one.removed.select(names) for one in done)]
            ),
            num_copied_rows=sum(one.num_copied_rows for one in done),
        )


def _one(rows: pa.Table) -> pa.RecordBatch:
    (batch,) = rows.combine_chunks().to_batches()
    return batch
