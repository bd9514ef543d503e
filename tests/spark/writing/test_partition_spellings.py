"""Tasks tell partitions apart, and spell them, as a process does."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaweb.table import DeltaTable
from tests.spark.settings_cases import KOLKATA, NEW_YORK, settings
from tests.support import matrix
from tests.support.logs.spelled_partitions import append_spelled, spelled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TEXTS = {
    "ts": "2024-03-10 07:00:00",
    "tn": "2024-03-10 07:00:00.50",
    "x": "1.0E10",
    "i": "07",
    "d": "1.5",
}
OURS = {
    "ts": "2024-03-10T07:00:00.000000Z",
    "tn": "2024-03-10 07:00:00.500000",
    "x": "10000000000.0",
    "i": "7",
    "d": "1.50",
}
COLUMNS = [
    "timestamp'2024-03-10T07:00:00Z' ts",
    "timestamp_ntz'2024-03-10 07:00:00.5' tn",
    *("1e10D x", "7 i", "1.50BD d"),
]


@pytest.fixture
def _session_of(spark: "SparkSession", zone: str) -> Iterator[None]:
    """A session of a zone, as long as a test lasts."""
    with settings(spark, time_zone=zone):
        yield


def rows(spark: "SparkSession", *numbers: int) -> "DataFrame":
    """Rows of the one partition."""
    found = spark.createDataFrame([(number,) for number in numbers], "n int")
    return found.selectExpr("n", *COLUMNS)


def numbers(location: Path) -> list[int]:
    return sorted(DeltaTable(str(location)).snapshot().read(["n"])["n"].to_pylist())


def made(spark: "SparkSession", location: Path, *texts: dict[str, str]) -> DeltaTable:
    """A table of a file of two rows for each spelling: 0 and 1, 10 and 11..."""
    from deltaweb.spark import write_table

    first = rows(spark, 0, 1).coalesce(1)
    write_table(first, str(location), partition_by=[*TEXTS])
    table = DeltaTable(str(location))
    table.delete()
    for place, some in enumerate(texts):
        ours = rows(spark, 10 * place, 10 * place + 1).toArrow()
        append_spelled(table, ours, **some)
    return table


@matrix("zone", ["UTC", NEW_YORK, KOLKATA], often=[NEW_YORK])
@pytest.mark.usefixtures("_session_of")
class TestTasks:
    def test_write_the_text_that_has_a_zone(self, spark, tmp_path):
        from deltaweb.spark import write_table

        write_table(
            rows(spark, 1).coalesce(1), str(tmp_path / "t"), partition_by=[*TEXTS]
        )

        assert spelled(DeltaTable(str(tmp_path / "t"))) == [OURS]

    def test_replace_a_partition_whatever_its_texts(self, spark, tmp_path):
        from deltaweb.spark import write_table

        table = made(spark, tmp_path, TEXTS, OURS)

        write_table(
            rows(spark, 99).coalesce(1), str(tmp_path), "overwrite", dynamic=True
        )

        assert numbers(tmp_path) == [99]
        assert spelled(table) == [OURS]


CHANGES: dict[str, Callable[["SparkSession", str], object]] = {}


def change(act: Callable[["SparkSession", str], object]) -> None:
    """Take a change that leaves rows of each file."""
    CHANGES[act.__name__] = act


@change
def delete(spark: "SparkSession", location: str) -> None:
    from deltaweb.spark import delete_rows

    delete_rows(spark, location, "n % 10 = 0")


@change
def update_by_spark(spark: "SparkSession", location: str) -> None:
    from deltaweb.spark import update_rows

    update_rows(spark, location, {"n": "n + 100"}, "soundex(cast(n as string)) = '0'")


@change
def merge(spark: "SparkSession", location: str) -> None:
    from deltaweb.spark import merge_rows

    source = spark.sql("select explode(array(0, 10)) k")
    merge = merge_rows(spark, location, source, "t.n = s.k")
    merge.when_matched_update({"n": "s.k + 100"}).execute()


@change
def replace_where(spark: "SparkSession", location: str) -> None:
    from deltaweb.spark import write_table

    nothing = rows(spark, 0).filter("false")
    write_table(nothing, location, "overwrite", where="n % 10 = 0")


@pytest.fixture(scope="module")
def spelled_alike(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A table of texts of others, which no test changes."""
    folder = tmp_path_factory.mktemp("made") / "t"
    made(spark, folder, TEXTS, TEXTS)
    return folder


@pytest.mark.parametrize("name", CHANGES)
def test_tasks_keep_the_texts_of_partitions(spark, spelled_alike, tmp_path, name):
    location = str(shutil.copytree(spelled_alike, tmp_path / "t"))

    CHANGES[name](spark, location)

    table = DeltaTable(location)
    assert {tuple(said.items()) for said in spelled(table)} == {tuple(TEXTS.items())}
