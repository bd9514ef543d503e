"""The merge on Spark, by the same rules as in process.

A join decides which rows change and by which clause. One task then rewrites each file
as a whole.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.writing.merge import run as run
else:
    __getattr__ = modules_on_demand(__name__)
