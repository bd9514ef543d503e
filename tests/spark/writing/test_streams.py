"""Tables as sources and sinks of Structured Streaming."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Run = Callable[..., None]
BUSY = "Python worker failed to connect back"
"""What Spark says of a process that took ten seconds to start; a query begins again."""
TRIES = 10
SCHEMA = pa.schema([("n", pa.int64()), ("s", pa.string())])


def rows(*numbers: int) -> pa.Table:
    return pa.table({"n": [*numbers], "s": [f"s{n}" for n in numbers]}, schema=SCHEMA)


def numbers(location: Path) -> list[int]:
    return sorted(DeltaTable(str(location)).snapshot().read(["n"])["n"].to_pylist())


@pytest.fixture
def source(tmp_path: Path) -> DeltaTable:
    """Four files of two rows each, a version each."""
    files = (rows(first, first + 1) for first in range(0, 8, 2))
    return TableBuilder(tmp_path / "source").columns(SCHEMA).rows(*files).build()


@pytest.fixture
def run(spark: "SparkSession", tmp_path: Path) -> Run:
    """Read what the source has, write it to the sink, and stop."""
    from pyspark.errors import StreamingQueryException

    from deltaweb.spark import register

    register(spark)

    def run(sink: str = "sink", **options: Any) -> None:  # noqa: ANN401  # what options take
        stream = spark.readStream.format("deltaweb").options(**options)
        rows = stream.load(str(tmp_path / "source"))
        writer = rows.writeStream.format("deltaweb").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(tmp_path / f"{sink}-state"))
        for _ in range(TRIES):
            query = writer.start(str(tmp_path / sink))
            try:
                query.awaitTermination()
            except StreamingQueryException as error:
                if BUSY not in str(error):
                    raise
            else:
                return
        pytest.fail("the machine starts no process in ten seconds")

    return run


class TestEachBatchIsWrittenOnce:
    def test_though_spark_forgets_that_it_was(self, source, run, tmp_path):
        run(maxFilesPerTrigger=2)

        sink = tmp_path / "sink"
        assert numbers(sink) == list(range(8))
        (noted,) = DeltaTable(str(sink)).snapshot().transactions.values()
        state = json.loads((tmp_path / "sink-state/metadata").read_text())
        assert (noted.app_id, noted.version) == (state["id"], 1)
        assert (
            DeltaTable(str(sink)).latest_version() == 2
        )  # the first one is made empty

        # As a kill between the commit and Spark's own note of it leaves it.
        for note in (tmp_path / "sink-state/commits").glob("*1*"):
            note.unlink()
        source.delete("n = 3")  # what it has read, and is told to pass over
        source.append(rows(8))
        run(maxFilesPerTrigger=2, skipChangeCommits=True)

        assert numbers(sink) == list(range(9))
        (noted,) = DeltaTable(str(sink)).snapshot().transactions.values()
        assert noted.version == 2
        files = DeltaTable(str(sink)).snapshot().num_files
        assert len(list(sink.glob("*.parquet"))) == files


class TestASourceThatChanges:
    @pytest.mark.exhaustive  # every run asks the reader itself, below
    def test_stops_where_rows_were_removed_unless_told_otherwise(
        self, source: DeltaTable, run: Run, tmp_path: Path
    ) -> None:
        source.delete("n = 3")
        source.optimize()
        source.append(rows(9))

        with pytest.raises(Exception, match="changed or removed rows"):
            run(startingVersion=1)
        run("passed", startingVersion=1, skipChangeCommits=True)
        assert numbers(tmp_path / "passed") == [*range(8), 9]

    def test_gives_what_was_written_again_where_it_is_told_to(self, source):
        from pyspark.sql.streaming.datasource import ReadAllAvailable
        from pyspark.sql.types import StructType

        from deltaweb.spark.writing.source.options import SourceOptions
        from deltaweb.spark.writing.source.stream_files import (
            StreamChangeError,
            StreamOffset,
        )
        from deltaweb.spark.writing.source.stream_reader import StreamReader

        source.delete("n = 3")

        def first_batch(**told: str) -> object:
            options = SourceOptions(
                {"path": source.root, "startingVersion": "3", **told}
            )
            reader = StreamReader(options, StructType(), is_whole=True)
            return reader.latestOffset(reader.initialOffset(), ReadAllAvailable())

        with pytest.raises(StreamChangeError):
            first_batch(ignoreDeletes="true")
        ends = [
            first_batch(**{o: "true"}) for o in ("ignoreChanges", "skipChangeCommits")
        ]
        assert ends == [StreamOffset(6).to_json()] * 2
