"""How workers use Spark; nothing else of the apps loads it."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from django.conf import settings

from deltaweb import spark
from deltaweb.spark.driver.installed import check_installed
from deltaweb.web.jobs.running.apart_process import hand_on_if_apart

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
    options = spark.driver.session.SparkOptions(
        master=settings.SPARK_MASTER,
        folder=Path(settings.HOME) / "spark",
        driver_memory=settings.SPARK_DRIVER_MEMORY,
    )
    for attempt in range(1, SPARK_ATTEMPTS + 1):
        if text := STARTING if spark.driver.session.is_needed() else idle:
            step(text)
        try:
            return work(spark.driver.session.get_spark(options))
        except spark.job.SparkLostError:
            if attempt == SPARK_ATTEMPTS:
                raise
            logger.warning("Spark stopped; its work is done again.")
    raise AssertionError  # the last attempt returns or raises
