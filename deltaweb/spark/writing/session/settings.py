"""The settings of a session: read where a verb is called, and passed on."""

from typing import Final

from pyspark import TaskContext
from pyspark.sql import SparkSession

from deltaweb.expressions.session.settings import UNKNOWN, SessionSettings

TIME_ZONE: Final = "spark.sql.session.timeZone"
ANSI: Final = "spark.sql.ansi.enabled"
DEFAULTS: Final = "spark.deltaweb.defaults."
"""What a session says of settings that nobody has set, so that its tasks know them."""
_USUAL: Final = {
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.storeAssignmentPolicy": "ANSI",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "false",
}


def settings_of(spark: SparkSession) -> SessionSettings:
    """Return by what a session evaluates SQL."""
    return SessionSettings(
        time_zone=spark.conf.get(TIME_ZONE),
        is_ansi=spark.conf.get(ANSI) == "true",
        is_usual=all(
            (spark.conf.get(name, usual) or "").upper() == usual.upper()
            for name, usual in _USUAL.items()
        ),
    )


def tell_tasks(spark: SparkSession) -> None:
    """Have the tasks of a session know what it has where nobody has set it.

    Spark hands on to its tasks only what is set.
    """
    for name in (TIME_ZONE, ANSI):
        value = spark.conf.get(name)
        if value is not None:
            spark.conf.set(f"{DEFAULTS}{name}", value)


def settings_of_task() -> SessionSettings:
    """In a task: return by what its session evaluates SQL, as far as Spark tells."""
    context = TaskContext.get()
    if context is None:
        return UNKNOWN
    found = {
        name: context.getLocalProperty(name)
        or context.getLocalProperty(f"{DEFAULTS}{name}")
        for name in (TIME_ZONE, ANSI)
    }
    ansi = found[ANSI]
    return SessionSettings(
        time_zone=found[TIME_ZONE],
        is_ansi=None if ansi is None else ansi.lower() == "true",
        is_usual=all(
            (context.getLocalProperty(name) or usual).upper() == usual.upper()
            for name, usual in _USUAL.items()
        ),
    )
