"""The time zones as Java defines them: from an instant to local time, and back.

A local time that a change to summer time skips moves forward by the gap; one that
occurs twice means the first. Every year has a rule, also those after 2037, for which
Arrow has none.

Source: RFC 9636, "The Time Zone Information Format"; `java.time.zone.ZoneRules`; Spark,
`SparkDateTimeUtils`.
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.delta.values.time_zones import known as known
else:
    __getattr__ = modules_on_demand(__name__)
