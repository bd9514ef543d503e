"""The maintenance that a schedule repeats, such as Optimize and vacuum."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.tables.health.repeats import running as running
else:
    __getattr__ = modules_on_demand(__name__)
