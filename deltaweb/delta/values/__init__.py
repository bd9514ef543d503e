"""The values of columns in partition values, statistics, data files and Python."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.values import time_zones as time_zones
else:
    __getattr__ = modules_on_demand(__name__)
