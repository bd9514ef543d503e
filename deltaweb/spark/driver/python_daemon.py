"""The process of an executor that forks its Python workers, our modules loaded.

PySpark's own daemon imports nothing before it forks; each worker then takes half a
second to a second for what all of them need, and Spark ends one that has rested for a
minute. Spark runs this module in its place: `spark.python.daemon.module`.
"""

import gc
import sys
from importlib import import_module
from typing import Final

from pyspark.daemon import manager

from deltaweb.environment.without_pandas import refuse_pandas

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
    """Import what tasks need; later collections of garbage leave it out."""
    refuse_pandas()
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    if sys.platform == "linux":  # libraries of other systems may not bear a fork
        load()
    manager()
