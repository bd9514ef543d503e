"""The run of a job: its lease, its progress and its cancellation."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.jobs.running import apart as apart
    from apps.jobs.running import apart_between as apart_between
    from apps.jobs.running import retirement as retirement
    from apps.jobs.running import tracking as tracking
else:
    __getattr__ = modules_on_demand(__name__)
