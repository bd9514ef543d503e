"""The conditions of people and programs: SQL, JSON hints and filters as one tree.

`tree` is the condition, and `sql`, `json` and `dialects` convert it. `widen` and
`bounds` decide which files may match, without ever losing a row.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.conditions import hints as hints
    from deltaweb.conditions import named as named
    from deltaweb.conditions import sql as sql
else:
    __getattr__ = modules_on_demand(__name__)
