"""Which data files of a large table storage holds: its log is replayed by Spark.

The listing itself is this process's: storage gives it page by page to one asker.
"""

from functools import partial

from pyspark.sql import SparkSession

from deltaweb.index import file_check
from deltaweb.index.file_check import FileCheck
from deltaweb.spark.index_files import SparkEngine
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable


def check_files(
    spark: SparkSession, source: TablePlace, *, on_progress: OnProgress
) -> FileCheck:
    """List a table's storage once, and count for each version what it lacks."""
    table = DeltaTable.from_store(source.open())
    engine = SparkEngine(spark, source)
    work = partial(file_check.check_files, table, engine=engine)
    return run_job(spark, work, on_progress, title="Verify the files of a table")
