"""The reads and writes of tables as DataFrames, for data of any size.

Tasks write data files and return them with statistics; the driver makes one commit of
them. Files of failed task attempts are in no commit.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.writing import excerpts as excerpts
    from deltaweb.spark.writing import merge as merge
    from deltaweb.spark.writing import rewrite as rewrite
    from deltaweb.spark.writing import source as source
    from deltaweb.spark.writing import spark_types as spark_types
    from deltaweb.spark.writing import write_plan as write_plan
else:
    __getattr__ = modules_on_demand(__name__)
