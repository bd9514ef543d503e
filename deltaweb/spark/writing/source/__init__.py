"""The Spark data source `deltaweb`, for batches and streams.

It does not push filters down, because Spark 4.2 shares one plan between all uses of a
loaded DataFrame. Pass columns and `filesWhere` as options of the load instead.
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
