"""Where the files of a table's newest version are read from: its index, or a new one.

A log that no index has been made of is replayed in process, and by Spark where it is
large, as an index of its own that is gone with the answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from django.conf import settings

from apps.jobs.running.tracking import TrackedJob
from apps.tables.index.engine import choose
from apps.tables.index.folders import RUNS_FOLDER, index_folder, indexes_folder
from apps.tables.models import Table
from apps.tables.storage.opening import roots_of_server, table_place
from deltaweb import spark
from deltaweb.delta.log.checkpoints.sidecars import log_size_bytes
from deltaweb.delta.log.segment import load_log_segment
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession
    from deltaweb.index.folder.result import IndexResult


@contextmanager
def answer_index(
    table: Table, opened: DeltaTable, job: TrackedJob
) -> Iterator[Path | None]:
    """Give the index that a job reads the newest version from; None for the log.

    Args:
        job: The job; an index that it makes is gone when it goes on.
    """
    known = index_folder(table)
    if known is not None and known.is_dir():
        yield known
        return
    folder = indexes_folder() / RUNS_FOLDER / f"answer-{job.id}"

    def on_spark(session: "SparkSession") -> Path | None:
        job.step("Replaying the log on Spark")
        request = spark.table_tasks.IndexRequest(
            place=table_place(table, roots=roots_of_server()),
            folder=str(folder),
            max_task_bytes=settings.SPARK_REPLAY_BYTES,
        )
        found: list[IndexResult] = []
        spark.pipeline.index_tables(
            session,
            [request],
            lambda _position, result: found.append(result),
            scratch=folder.parent,
        )
        # The log itself says what is wrong where there is no index of it.
        return Path(found[0].folder) if found[0].folder else None

    try:
        made, _engine = choose(
            log_size_bytes(opened.store, load_log_segment(opened.store)),
            settings.SPARK_REPLAY_BYTES,
            here=lambda: None,
            on_spark=on_spark,
            reports=job,
        )
        yield made
    finally:
        rmtree(folder, ignore_errors=True)
