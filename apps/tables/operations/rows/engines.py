"""Who changes the rows of a table: this process, or Spark for what is large.

Spark also does what a process of ours does not evaluate exactly as Spark would.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from django.conf import settings

from deltaweb.web.tables.index.engine import choose

if TYPE_CHECKING:
    from deltaweb.web.tables.index.spark_session import SparkSession
    from deltaweb.web.tables.operations.preview import RunContext

T = TypeVar("T")

SESSION_ZONE: Final = "spark.sql.session.timeZone"


class ChangeHere(Protocol):
    """A change of rows as this process would do it; nothing is written yet."""

    @property
    def is_for_a_process(self) -> bool:
        """Whether Spark's tasks cannot do it."""

    def opened_bytes(self) -> int:
        """Return the bytes of the files that are inspected.

        Raises:
            ExpressionError: If the SQL is not evaluated in process.
        """


Change = TypeVar("Change", bound=ChangeHere)


def with_fitting_engine(
    here: Callable[[], Change],
    then: Callable[[Change], T],
    on_spark: "Callable[[SparkSession], T]",
    context: "RunContext",
    *,
    time_zone: str,
) -> T:
    """Do a change of rows; the bytes of the files that it opens decide who does it.

    Args:
        context: Told that Spark is started, where it is; it may say who does it.
        time_zone: The zone of the SQL: Spark has it in a session of that zone.
    """
    change = cache(here)

    def size() -> int:
        size_bytes = change().opened_bytes()
        return 0 if change().is_for_a_process else size_bytes

    found, _engine = choose(
        size,
        settings.SPARK_DIFF_BYTES,
        here=lambda: then(change()),
        on_spark=lambda spark: on_spark(in_zone(spark, time_zone)),
        reports=context.job,
        wanted=context.engine,
    )
    return found


def in_zone(spark: "SparkSession", time_zone: str) -> "SparkSession":
    """Return a session that reads times without a zone by the clocks of one.

    It shares everything but its settings with the session that workers share.
    """
    if spark.conf.get(SESSION_ZONE) == time_zone:
        return spark
    own = spark.newSession()
    own.conf.set(SESSION_ZONE, time_zone)
    return own
