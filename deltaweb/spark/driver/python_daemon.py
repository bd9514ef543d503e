"""The process of an executor that forks its Python workers, our modules loaded.

PySpark's own daemon imports nothing before it forks; each worker then takes half a
second to a second for what all of them need, and Spark ends one that has rested for a
minute. Spark runs this module in its place: `spark.python.daemon.module`.
"""

import sys
from contextlib import suppress
from importlib import import_module
from typing import Final

from pyspark.daemon import manager

from deltaweb.environment.own_process import (
    leave_modules_out_of_collections,
    prepare_process,
)

MODULE: Final = __name__
# What tasks are made of, by name: this room is below them.
LOADED: Final = (
    "pyspark.worker",
    "deltaweb.spark.pipeline",
    "deltaweb.spark.checkpoint",
    "deltaweb.spark.statistics",
    "deltaweb.spark.table_changes",
    "deltaweb.spark.data_files.survey",
    "deltaweb.spark.writing.merge.merge_tasks",
    "deltaweb.spark.writing.rewrite.run",
)


def load() -> None:
    """Import what tasks need; later collections of garbage leave it out.

    What is missing here is left to the tasks: of executors with another version the
    first one says so.
    """
    prepare_process()
    for name in LOADED:
        with suppress(ImportError):
            import_module(name)
    leave_modules_out_of_collections()


if __name__ == "__main__":
    if sys.platform == "linux":  # libraries of other systems may not bear a fork
        load()
    manager()
