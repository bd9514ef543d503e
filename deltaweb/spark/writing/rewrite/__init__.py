"""The deletes and updates on Spark, by the same rules as in process.

One task changes each file as a whole, because a deletion vector names a row by its
position. The driver makes one commit of all files.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.writing.rewrite import run as run
else:
    __getattr__ = modules_on_demand(__name__)
