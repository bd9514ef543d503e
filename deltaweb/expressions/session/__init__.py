"""What of an expression the settings of a session change.

Read in this order:

    settings      the time zone, ANSI mode, and whether anything else is unusual
    operands      what an expression is made of, and what becomes one type
    joined_types  whether several types become one alike in every session
    zone_times    the session's zone, and what times are in it
    dependence    what depends on a session, and what of a condition does not
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.expressions.session import dependence as dependence
    from deltaweb.expressions.session import zone_times as zone_times
else:
    __getattr__ = modules_on_demand(__name__)
