"""A large log is replayed by Spark for a check of its files: the answer is the same."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from apps.jobs.models import Job
from apps.tables.work.check_files import CHECK_FILES, request_file_check
from deltaweb.index import file_check
from deltaweb.table import DeltaTable
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.factories import NOW

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_counts_what_one_process_counts(spark: "SparkSession", lake: Path):
    from deltaweb.spark.data_files import file_check as on_spark
    from deltaweb.storage.place import TablePlace

    location = str(lake / "customers")

    found = on_spark.check_files(
        spark, TablePlace(location, {}, ()), on_progress=lambda *_: None
    )

    expected = file_check.check_files(DeltaTable(location))
    assert found.missing.num_rows
    assert found.missing == expected.missing
    assert (found.num_versions, found.num_paths) == (
        expected.num_versions,
        expected.num_paths,
    )
    assert found.spelled == expected.spelled


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("spark")
def test_a_job_lets_spark_replay_a_large_log(lake, tmp_path, settings):
    settings.HOME = tmp_path / "home"
    table = new_indexed_table("customers", lake / "customers")
    settings.SPARK_REPLAY_BYTES = 0
    job = request_file_check(table, now=NOW)

    CHECK_FILES.work(job.id)

    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.DONE, "")
    assert job.result is not None
    assert job.result["num_gone"] > 0
    assert "Replaying the log and listing storage" in job.log
