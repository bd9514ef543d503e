"""Who changes the rows of a table: this process, or Spark for what is large.

Spark also does what a process of ours does not evaluate exactly as Spark would.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from django.conf import settings

from apps.tables.index.spark_session import with_spark
from deltaweb.expressions.errors import ExpressionError, ExpressionMistakenError

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

T = TypeVar("T")

Step = Callable[[str], None]
"""Told what is done next, in some words."""


class ChangeHere(Protocol):
    """A change of rows as this process would do it; nothing is written yet."""

    @property
    def is_for_a_process(self) -> bool:
        """Whether Spark's tasks cannot do it."""
        ...

    def opened_bytes(self) -> int:
        """Return the bytes of the files that are looked into.

        Raises:
            ExpressionError: If the SQL is not evaluated in process.
        """
        ...


Change = TypeVar("Change", bound=ChangeHere)


def with_fitting_engine(
    here: Callable[[], Change],
    then: Callable[[Change], T],
    on_spark: "Callable[[SparkSession], T]",
    step: Step,
) -> T:
    """Do a change of rows; the bytes of the files that it opens decide who does it.

    Args:
        here: Returns the change as this process does it.
        then: Does it.
        on_spark: Does it with Spark.
        step: Told that Spark is started, where it is.

    Raises:
        ExpressionMistakenError: If the SQL cannot be right; Spark is not started.
        DeltaError: As the change does.
    """
    try:
        change = here()
        is_large = change.opened_bytes() > int(settings.SPARK_DIFF_BYTES)
    except ExpressionMistakenError:
        raise
    except ExpressionError:
        return with_spark(step, on_spark)
    if is_large and not change.is_for_a_process:
        return with_spark(step, on_spark)
    return then(change)
