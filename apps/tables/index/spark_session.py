"""How workers use Spark; nothing else of the apps loads it."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from django.conf import settings

from apps.jobs.running.apart_process import hand_on_if_apart
from deltaweb import spark
from deltaweb.spark.driver.installed import check_installed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession as SparkSession  # noqa: PLC0414 (for kinds)

T = TypeVar("T")

logger = logging.getLogger(__name__)

STARTING: Final = "Starting Spark"
SPARK_ATTEMPTS: Final = 2  # sessions that a job may use up


def with_spark(
    step: Callable[[str], None], work: "Callable[[SparkSession], T]", *, idle: str = ""
) -> T:
    """Return what some work with Spark returns; a session that dies is replaced once.

    Args:
        step: Told that Spark is started, where it is not there yet.
        work: Called with the session, again where one died.
        idle: What `step` is told where Spark is there; nothing for "".
    """
    check_installed()
    hand_on_if_apart()
    for attempt in range(1, SPARK_ATTEMPTS + 1):
        if text := STARTING if spark.driver.session.is_needed() else idle:
            step(text)
        try:
            return work(_get_spark())
        except spark.job.SparkLostError:
            if attempt == SPARK_ATTEMPTS:
                raise
            logger.warning("Spark stopped; its work is done again.")
    raise AssertionError  # the last attempt returns or raises


@contextmanager
def spark_after(delay_s: float) -> Iterator[Callable[[], bool]]:
    """Start Spark beside what is done meanwhile, where that takes longer than a delay.

    Yields:
        What tells whether Spark is there.
    """
    timer = threading.Timer(delay_s, _start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda: not spark.driver.session.is_needed()
    finally:
        timer.cancel()


def _start() -> None:
    try:
        _get_spark()
    except Exception as error:  # noqa: BLE001 (who needs it starts it again, and is told)
        logger.info("Spark could not be started beside other work: %s", error)


def _get_spark() -> "SparkSession":
    return spark.driver.session.get_spark(
        spark.driver.session.SparkOptions(
            master=settings.SPARK_MASTER,
            folder=Path(settings.HOME) / "spark",
            driver_memory=settings.SPARK_DRIVER_MEMORY,
        )
    )
