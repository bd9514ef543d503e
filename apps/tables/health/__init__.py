"""The findings of rules about tables, and the maintenance that repeats."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.tables.health import examining as examining
    from apps.tables.health import lateness as lateness
    from apps.tables.health import listing as listing
    from apps.tables.health import repeats as repeats
else:
    __getattr__ = modules_on_demand(__name__)
