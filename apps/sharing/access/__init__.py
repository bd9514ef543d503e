"""The callers of the protocol, and the tables that each may read."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.access import requests as requests
else:
    __getattr__ = modules_on_demand(__name__)
