"""The dependence of an expression on a session's settings, such as its time zone."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.expressions.session import dependence as dependence
    from deltaweb.expressions.session import zone_times as zone_times
else:
    __getattr__ = modules_on_demand(__name__)
