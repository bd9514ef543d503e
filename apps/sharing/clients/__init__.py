"""Clients of the protocol: what of a table they can read, and the code to do it."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.clients import snippets as snippets
else:
    __getattr__ = modules_on_demand(__name__)
