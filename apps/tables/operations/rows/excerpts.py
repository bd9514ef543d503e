"""What may be seen of data files and of changes, written here or by Spark.

Nothing of the table changes: the excerpts lie elsewhere.
"""

from collections.abc import Iterable, Iterator
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

Written = tuple[str, WrittenFile | None]


def write_excerpts(
    excerpts: Excerpts | ChangeExcerpts,
    files: pa.Table,
    *,
    reports: Reports,
    wanted: Engine | None = None,
) -> Iterable[Written]:
    """Write what may be seen of files; return each by its path once it is written.

    This process writes a file when the result is iterated. Where nothing of a file may
    be seen, None stands for it.

    Args:
        files: As the excerpts take them, with their sizes; one at least.
        wanted: Who does it; None to choose by the bytes that are read.
    """

    def here() -> Iterator[Written]:
        for done, one in enumerate(excerpts.write(files), start=1):
            yield one
            reports.progress(done, total=files.num_rows, unit="files")

    def on_spark(session: "SparkSession") -> Iterable[Written]:
        tell = reports.progress_of("tasks")
        return spark.writing.excerpts.write_excerpts(session, excerpts, files, tell)

    written, _engine = choose(
        sum(files["size"].to_pylist()),
        settings.SPARK_DIFF_BYTES,
        here=here,
        on_spark=on_spark,
        reports=reports,
        wanted=wanted,
    )
    return written
