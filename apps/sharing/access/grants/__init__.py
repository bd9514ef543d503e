"""The rows and columns of a shared table that each recipient may read.

`checks` and `rules` hold the rule of a recipient. `preparing` rewrites the files that a
rule does not leave whole, and `proof` checks the result.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from apps.pages.registry import Registry
from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from apps.sharing.access.grants import preparing as preparing
else:
    __getattr__ = modules_on_demand(__name__)

emptied: Final[Registry[Callable[[datetime], object]]] = Registry()
"""Called after a preparation has changed which rules show no row; it does not raise."""
