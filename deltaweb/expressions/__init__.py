"""The Spark SQL expressions that are evaluated in process, over Arrow rows.

An expression that cannot be evaluated exactly as Spark does in ANSI mode is refused by
name. Read `node` and `compiler` first.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.expressions import compiler as compiler
    from deltaweb.expressions import condition as condition
    from deltaweb.expressions import session as session
else:
    __getattr__ = modules_on_demand(__name__)
