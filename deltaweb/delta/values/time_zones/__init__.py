"""Time zones: the clock of an instant, and the instant of a clock, as Java has them.

A time that a change to summer time leaves out goes forward by as much as is left out,
and one that comes twice is the first of the two. All years have rules: those before
the first known change go by the sun of the place, to the second, and those after the
last by what holds then. Arrow knows no rule after 2037, and Python none beyond the
year 9999. Read the modules in this order:

    rules   offsets over time, and what they make of times
    known   the rules of a zone by its name, also of years after the last known one
    written the zone that a time says itself

Source: RFC 9636, "The Time Zone Information Format"; `java.time.zone.ZoneRules`; Spark,
`SparkDateTimeUtils`.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.values.time_zones import known as known
else:
    __getattr__ = modules_on_demand(__name__)
