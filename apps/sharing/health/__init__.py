"""The facts and rules of sharing about the health of tables."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.health import examining as examining
    from apps.sharing.health import table_use as table_use
else:
    __getattr__ = modules_on_demand(__name__)
