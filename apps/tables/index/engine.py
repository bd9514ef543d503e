"""Here or on Spark: who does some work on a table.

This process does what is small, Spark what is large, and what is not evaluated here
exactly as Spark would. Whoever runs a command may say so by `--engine`.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from apps.jobs.running.reports import Reports
from apps.tables.index.spark_session import with_spark
from deltaweb.expressions.errors import ExpressionError, ExpressionMistakenError
from deltaweb.spark.driver.installed import check_installed

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

T = TypeVar("T")


class Engine(StrEnum):
    """Who does it; results of jobs have the words."""

    HERE = "here"
    SPARK = "spark"

    @property
    def words(self) -> str:
        """As results say it."""
        return "in process" if self is Engine.HERE else "Spark"


def choose(  # noqa: PLR0913 (each is one part of the choice)
    size: int | None,
    most: int,
    *,
    here: Callable[[], T],
    on_spark: "Callable[[SparkSession], T]",
    reports: Reports,
    wanted: Engine | None = None,
    why: str = "",
) -> tuple[T, Engine]:
    """Do some work where it fits.

    Args:
        size: The size of the work, in bytes or files; None if it is unknown, or if
            this process cannot do the work.
        most: The largest size for this process.
        on_spark: Does it with Spark; a session that dies is replaced once.
        reports: Told that Spark is started, where it is.
        wanted: Who is to do it, whatever its size; None to choose.
        why: The reason why Spark is needed for little work, which is reported when it
            is started.

    Returns:
        What came of it, and who did it.
    """
    fits = size is not None and size <= most
    engine = wanted or (Engine.HERE if fits else Engine.SPARK)
    if engine is Engine.HERE:
        return here(), engine

    def step(text: str) -> None:
        reports.step(f"{text}: {why}" if why else text)

    return with_spark(step, on_spark), engine


def evaluated_here(
    evaluate: Callable[[], T], wanted: Engine | None
) -> tuple[T | None, str]:
    """Return what comes of SQL in this process; None where Spark evaluates it instead.

    Args:
        wanted: As in `choose`: for Spark nothing is tried here, and for this process
            what it does not evaluate is refused.

    Returns:
        The value, and why Spark evaluates it: "" if that was chosen.
    """
    if wanted is Engine.SPARK:
        return None, ""
    try:
        return evaluate(), ""
    except ExpressionMistakenError:
        raise
    except ExpressionError as error:
        if wanted is Engine.HERE:
            raise
        check_installed(error.message)
        return None, error.reason
