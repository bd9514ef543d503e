"""How a worker's tasks start Spark."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf import settings

if TYPE_CHECKING:
    from deltaweb.spark.session import SparkOptions

SPARK_ATTEMPTS: Final = 2  # sessions that a job may use up


def spark_options() -> "SparkOptions":
    """Return the options of the settings; workers alone load Spark."""
    from deltaweb.spark import session

    return session.SparkOptions(
        master=settings.SPARK_MASTER,
        folder=Path(settings.HOME) / "spark",
        driver_memory=settings.SPARK_DRIVER_MEMORY,
    )
