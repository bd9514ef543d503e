"""The process of an executor that forks its Python workers, our modules loaded.

PySpark's own daemon imports nothing before it forks; each worker then takes half a
second to a second for what all of them need, and Spark ends one that has rested for a
minute. Spark runs this module in its place: `spark.python.daemon.module`.
"""

import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

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


def leave_archives_of_spark_out_of_the_path() -> None:
    """Load PySpark from its folder instead of from the archives that lie in it.

    Spark puts an archive of PySpark, and one of its jars, first on Python's path. From
    an archive each daemon compiles every module again, and each task reads the list of
    its files again, which takes longer than most tasks do. Only archives within the
    folder of the installed PySpark are left out: the same modules lie there unpacked.
    """
    files = [place for place in sys.path if Path(place).is_file()]
    folders = [place for place in sys.path if place not in files]
    found = PathFinder.find_spec("pyspark", folders)
    if found is None or found.origin is None:
        return
    installed = os.path.realpath(Path(found.origin).parent)
    for place in files:
        if Path(os.path.realpath(place)).is_relative_to(installed):
            sys.path.remove(place)
            sys.path_importer_cache.pop(place, None)


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
    leave_archives_of_spark_out_of_the_path()
    if sys.platform == "linux":  # libraries of other systems may not bear a fork
        load()
    import_module("pyspark.daemon").manager()
