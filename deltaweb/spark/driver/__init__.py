"""The Spark session: its cluster, its gateway and its Java runtime."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.spark.driver import installed as installed
    from deltaweb.spark.driver import session as session
else:
    __getattr__ = modules_on_demand(__name__)
