"""Work whose Spark session dies is done again once, whichever job it is of."""

from typing import TYPE_CHECKING, NoReturn

import pytest

from apps.tables.index.spark_session import with_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_work_is_done_again_once(spark: "SparkSession") -> None:
    from deltaweb.spark.job import SparkLostError

    sessions: list[SparkSession] = []

    def work(session: "SparkSession") -> str:
        sessions.append(session)
        if len(sessions) == 1:
            raise SparkLostError
        return "done"

    assert with_spark(lambda _: None, work) == "done"
    assert sessions == [spark, spark]


@pytest.mark.usefixtures("spark")
def test_work_that_loses_every_session_is_given_up() -> None:
    from deltaweb.spark.job import SparkLostError

    tries: list[object] = []

    def work(session: "SparkSession") -> NoReturn:
        tries.append(session)
        raise SparkLostError

    with pytest.raises(SparkLostError):
        with_spark(lambda _: None, work)

    assert len(tries) == 2
