"""The data pipeline on PySpark; only worker processes import this package.

`driver` starts the session, `pipeline` indexes many tables in one Spark job, and
`writing` reads and writes tables as DataFrames. Tasks call the same code as the engine
in process.
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
