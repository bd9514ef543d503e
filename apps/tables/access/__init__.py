"""The access to tables and namespaces: who has it and why, and who requests it."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.tables.access import concerned as concerned
    from apps.tables.access import counts as counts
else:
    __getattr__ = modules_on_demand(__name__)
