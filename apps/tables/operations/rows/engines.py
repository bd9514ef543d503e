"""Who changes the rows of a table: this process, or Spark for what is large.

Spark also does what a process of ours does not evaluate exactly as Spark would.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from django.conf import settings

from apps.tables.index.engine import choose, evaluated_here

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession
    from apps.tables.operations.preview import RunContext

T = TypeVar("T")
R = TypeVar("R")

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
    on_spark: "Callable[[SparkSession, Change | None], T]",
    then: "Callable[[Change | T], R]",
    context: "RunContext",
    *,
    time_zone: str,
) -> R:
    """Go on with a change of rows as the engine has it that does it.

    What this process evaluates it does itself, unless the files that are opened are
    many.

    Args:
        here: Returns the change as this process does it.
        on_spark: Returns it as Spark does; it is given that of this process, where that
            evaluates it.
        then: What is done with it: by Spark, again where a session died.
        context: Told that Spark is started, where it is; it may say who does it.
        time_zone: The zone of the SQL: Spark has it in a session of that zone.
    """

    def sized() -> tuple[Change, int]:
        change = here()
        size_bytes = change.opened_bytes()
        return change, 0 if change.is_for_a_process else size_bytes

    evaluated, why = evaluated_here(sized, context.engine)
    change, size = evaluated or (None, None)
    found, _engine = choose(
        size,
        settings.SPARK_DIFF_BYTES,
        here=lambda: then(change or here()),
        on_spark=lambda spark: then(on_spark(in_zone(spark, time_zone), change)),
        reports=context.job,
        wanted=context.engine,
        why=why,
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
