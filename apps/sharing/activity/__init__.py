"""The record of calls and changes, and the counts of use."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.activity import notices as notices
else:
    __getattr__ = modules_on_demand(__name__)
