"""The private parts of PySpark are as we use them; elsewhere none of it is touched."""

import inspect
import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import SparkContext, daemon
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from deltaweb.spark.arrow_frames import map_in_arrow
from deltaweb.spark.driver import pyspark_internals as internals

PRIVATE = r"\._(jdf|jc|jsc|jvm|gateway|active_spark_context|instantiatedSession)\b"


def test_the_session_of_a_process_is_known(spark: SparkSession) -> None:
    assert internals.session_of_process() is spark
    assert internals.is_running(spark)
    assert internals.gateway_of_process().proc.poll() is None
    for name in ("_jvm", "_active_spark_context"):
        assert getattr(SparkContext, name) is not None


def test_rows_are_made_of_arrow_batches(spark: SparkSession) -> None:
    rows = map_in_arrow(
        spark.range(3, numPartitions=1), lambda batches: batches, pa.schema(ID)
    )

    assert [row.id for row in rows.collect()] == [0, 1, 2]


ID = [("id", pa.int64())]


def test_the_analyzer_tells_of_a_plan(spark: SparkSession) -> None:
    rows = spark.range(3)
    plan = internals.analyzed_plan(rows.where("id > 1"))

    references = plan.condition().references().toSeq()
    assert [references.apply(0).name(), references.size()] == ["id", 1]
    for value, is_settled in (("id + 1", True), ("rand()", False)):
        selected = internals.analyzed_plan(rows.selectExpr(value))
        assert selected.deterministic() is is_settled


def test_the_jvm_is_started_with_what_a_process_takes() -> None:
    assert [*inspect.signature(launch_gateway).parameters] == ["conf", "popen_kwargs"]


def test_the_daemon_begins_by_one_function() -> None:
    assert not inspect.signature(daemon.manager).parameters


@pytest.mark.parametrize("folder", ["deltaweb", "apps"])
def test_no_other_file_names_them(folder: str) -> None:
    found = [
        str(path)
        for path in sorted(Path(folder).rglob("*.py"))
        if re.search(PRIVATE, path.read_text(encoding="utf-8"))
    ]

    assert found in ([], [str(Path(internals.__file__).relative_to(Path.cwd()))])
