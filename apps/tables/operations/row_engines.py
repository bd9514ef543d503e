"""Who changes the rows of a table: this process, or Spark for what is large.

Spark also does what a process of ours does not evaluate exactly as Spark would.
"""

from typing import TYPE_CHECKING

from django.conf import settings

from apps.tables.index.spark_session import with_spark
from apps.tables.models.subjects import table_of
from apps.tables.operations.foreseen import Occasion
from apps.tables.operations.row_previews import progress_of
from apps.tables.storage.opening import roots_of_server, table_place
from deltaweb.expressions.errors import ExpressionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from apps.tables.index.spark_session import SparkSession
    from deltaweb.storage.place import TablePlace
    from deltaweb.writer.rewrite.plan import Rewrite, RewritePlan

    OnSpark = Callable[[SparkSession, TablePlace], Rewrite]


def plan_rows(
    occasion: Occasion, here: "Callable[[], Rewrite]", on_spark: "OnSpark"
) -> "RewritePlan":
    """Plan a change of rows; the bytes of the files decide who does it.

    Args:
        occasion: The occasion.
        here: Returns the change as this process does it.
        on_spark: Returns it as Spark does.

    Raises:
        DeltaError: As the change does.
    """
    try:
        rewrite = here()
        is_large = rewrite.opened_bytes() > int(settings.SPARK_DIFF_BYTES)
        is_large = is_large and not rewrite.keeps_row_ids  # as Spark's tasks do not
    except ExpressionError:
        is_large = True
    if not is_large:
        return rewrite.plan(progress_of(occasion, rewrite))
    place = table_place(table_of(occasion.job), roots=roots_of_server())

    def work(spark: "SparkSession") -> "RewritePlan":
        occasion.job.step("Looking through the files")
        there = on_spark(spark, place)
        return there.plan(progress_of(occasion, there))

    return with_spark(occasion.job.step, work)
