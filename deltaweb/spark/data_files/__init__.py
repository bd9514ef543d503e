"""The data files that Spark tasks read: how they are distributed and inspected."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.data_files import feed_digest as feed_digest
    from deltaweb.spark.data_files import file_check as file_check
    from deltaweb.spark.data_files import shares as shares
    from deltaweb.spark.data_files import survey as survey
else:
    __getattr__ = modules_on_demand(__name__)
