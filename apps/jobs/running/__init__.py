"""The run of a job: its lease, its progress and its cancellation."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from uuid import UUID

from apps.pages.registry import Registry
from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.jobs.running import apart as apart
    from apps.jobs.running import apart_between as apart_between
    from apps.jobs.running import retirement as retirement
    from apps.jobs.running import tracking as tracking
else:
    __getattr__ = modules_on_demand(__name__)

start_checks: Final[Registry[Callable[[UUID], None]]] = Registry()
"""Each takes the id of a job that starts, and raises the error with which it fails."""
