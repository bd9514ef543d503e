"""The data pipeline on PySpark; only worker processes import this package.

Read in this order:

    driver        one SparkSession a process, built when it is first needed: `session`,
                  `cluster`, and the Java runtime that it gets
    log           a log as tasks read it: row groups and packs of commits (`reader`),
                  what a later commit covers (`tail_facts`, `tail_layers`,
                  `held_layers`), and the state of a version (`replay`)
    index_files   the index of a large table, replayed by Spark
    checkpoint    a checkpoint, written by one task
    statistics    the profile of a column
    table_changes the rows of two versions compared by tasks
    changed_rows  what these tasks read, shuffle and keep
    pipeline      one Spark job over many tables
    table_tasks   what its tasks do with them, and a process where there is no Spark
    run_folder    what the tasks and the driver report to each other
    job           the frame of all work: watched, cancelled, its faults translated
    arrow_frames  DataFrames of Python functions over Arrow batches
    data_files    dealt out to tasks, and inspected by their footers
    writing       DataFrames to tables and back: `write_table`, `read_table`, and the
                  data source `deltaweb`; `delete_rows`, `update_rows`, `merge_rows`
    task_faults   errors of the Delta core on their way from an executor to the driver

Many small tables share few tasks, whose work is the in-process engine's
(`deltaweb.index.build.full`); a log above `DELTAWEB_SPARK_REPLAY_BYTES` is read by all
executors. Until a worker's session runs, it reads small logs itself (`table_tasks`).
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand, names_on_demand

if TYPE_CHECKING:
    from deltaweb.spark import checkpoint as checkpoint
    from deltaweb.spark import data_files as data_files
    from deltaweb.spark import driver as driver
    from deltaweb.spark import job as job
    from deltaweb.spark import pipeline as pipeline
    from deltaweb.spark import statistics as statistics
    from deltaweb.spark import table_changes as table_changes
    from deltaweb.spark import table_tasks as table_tasks
    from deltaweb.spark import writing as writing
    from deltaweb.spark.writing.frame_read import read_table
    from deltaweb.spark.writing.frame_write import write_table
    from deltaweb.spark.writing.merge.run import merge_rows
    from deltaweb.spark.writing.rewrite.run import delete_rows, update_rows
    from deltaweb.spark.writing.source.data_source import register

__all__ = [
    "delete_rows",
    "merge_rows",
    "read_table",
    "register",
    "update_rows",
    "write_table",
]

_PLACES = {
    "delete_rows": "deltaweb.spark.writing.rewrite.run",
    "merge_rows": "deltaweb.spark.writing.merge.run",
    "read_table": "deltaweb.spark.writing.frame_read",
    "register": "deltaweb.spark.writing.source.data_source",
    "update_rows": "deltaweb.spark.writing.rewrite.run",
    "write_table": "deltaweb.spark.writing.frame_write",
}


if not TYPE_CHECKING:
    _module = modules_on_demand(__name__)
    _name = names_on_demand(__name__, _PLACES)

    def __getattr__(name: str) -> object:
        """Import what users of PySpark need when they ask for it; jobs name modules."""
        if name not in _PLACES:
            return _module(name)
        _module("driver").installed.check_installed()
        return _name(name)
