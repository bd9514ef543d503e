"""The data source `deltaweb` of Spark, on its API for sources written in Python.

    options       what users set, read once
    data_source   the source itself, and how a session gets to know it
    batch_reader  rows of a version
    batch_writer  rows of a DataFrame
    stream_files  what a stream reads of a table, and how far a batch goes
    stream_reader rows of a table as it grows
    stream_writer batches of a stream, each exactly once

Filters of DataFrames are not taken: Spark 4.2 keeps one plan of reading for all uses
of what `load` returned, so the filters of one would leave rows out of another. What is
asked for with the load itself, columns and `filesWhere`, is of that load alone.

Spark makes these objects in processes of its own, and sends them on to tasks as they
are: they hold values, and open a table where they need it.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.writing.source import batch_reader as batch_reader
    from deltaweb.spark.writing.source import batch_writer as batch_writer
    from deltaweb.spark.writing.source import stream_reader as stream_reader
    from deltaweb.spark.writing.source import stream_writer as stream_writer
else:
    __getattr__ = modules_on_demand(__name__)
