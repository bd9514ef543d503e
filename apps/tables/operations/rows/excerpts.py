"""What may be seen of data files and of changes, written here or by Spark.

Nothing of the table changes: the excerpts lie elsewhere.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
from django.conf import settings

from apps.jobs.running.reports import Reports
from apps.tables.index.engine import Engine, choose
from deltaweb import spark
from deltaweb.writer.excerpts import ChangeExcerpts, Excerpts
from deltaweb.writer.files.parquet_file import WrittenFile

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

Keep = Callable[[str, WrittenFile | None], None]


def write_excerpts(
    excerpts: Excerpts | ChangeExcerpts,
    files: pa.Table,
    keep: Keep,
    *,
    reports: Reports,
    wanted: Engine | None = None,
) -> None:
    """Write what may be seen of files.

    Args:
        files: As the excerpts take them, with their sizes; one at least.
        keep: Told of each once it is written, by its path; None where nothing of a
            file may be seen.
        wanted: Who does it; None to choose by the bytes that are read.
    """

    def here() -> None:
        for done, (path, written) in enumerate(excerpts.write(files), start=1):
            keep(path, written)
            reports.progress(done, total=files.num_rows, unit="files")

    def on_spark(session: "SparkSession") -> None:
        tell = reports.progress_of("tasks")
        write = spark.writing.excerpts.write_excerpts
        for path, written in write(session, excerpts, files, tell):
            keep(path, written)

    choose(
        sum(files["size"].to_pylist()),
        settings.SPARK_DIFF_BYTES,
        here=here,
        on_spark=on_spark,
        reports=reports,
        wanted=wanted,
    )
