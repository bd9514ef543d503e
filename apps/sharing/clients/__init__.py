"""The known clients of the protocol: the features each can read, and code for each."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.clients import snippets as snippets
else:
    __getattr__ = modules_on_demand(__name__)
