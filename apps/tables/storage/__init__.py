"""The storage connections, and the locations where tables are allowed."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.tables.storage import endpoints as endpoints
    from apps.tables.storage import sealing as sealing
else:
    __getattr__ = modules_on_demand(__name__)
