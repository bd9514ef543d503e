"""A Spark session with the reference implementation, in a process of its own.

`python -m tests.support.peers.reference_session FOLDER` reads a line of JSON a command
and answers by one: `{"sql": TEXT}` by its rows, `{"python": CODE}` by the number of
rows of what its variable `found` has, `{"files": LOCATION}` by the paths of the live
files of a table, whose log it opens anew and holds against its checksum.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from deltaweb.spark.driver.class_archive import reading_options
from deltaweb.spark.driver.session import JAVA_OPTIONS

EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


def main(folder: str) -> None:
    """Start the session, say so, and answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else writes to the output is no answer
    spark = _session(Path(folder))
    _answer(answers, {"version": spark.version})
    for line in sys.stdin:
        command = json.loads(line)
        try:
            if "sql" in command:
                rows = [list(row) for row in spark.sql(command["sql"]).collect()]
                _answer(answers, {"rows": rows})
            elif "python" in command:
                names: dict[str, Any] = {"spark": spark}
                exec(command["python"], names)  # noqa: S102 (what people are told to run)
                _answer(answers, {"num_rows": names["found"].count()})
            else:
                _answer(answers, {"files": _live_files(spark, command["files"])})
        except Exception as error:  # noqa: BLE001 (the test tells what went wrong)
            _answer(answers, {"error": f"{type(error).__name__}: {error}"[:4000]})
    spark.stop()


def _answer(answers: Any, values: dict[str, Any]) -> None:  # noqa: ANN401 (a text file)
    answers.write(json.dumps(values, default=str) + "\n")
    answers.flush()


def _session(folder: Path) -> SparkSession:
    classes = reading_options(Path(os.environ["JAVA_HOME"]))
    options = {
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": (
            f"{JAVA_OPTIONS} -Dderby.system.home={folder} -Djava.io.tmpdir={folder}"
            f"{classes}"
        ),
        "spark.sql.extensions": EXTENSION,
        "spark.sql.catalog.spark_catalog": CATALOG,
        # A query of some rows takes less than the making of code for it does, or than
        # its plan being made again between its stages and told to nobody.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.ui.explainMode": "simple",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "local"),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.databricks.delta.state.corruptionIsFatal": "true",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _live_files(spark: SparkSession, location: str) -> list[str]:
    """Open the log of a table from nothing, and return its live files."""
    jvm: Any = spark._jvm  # noqa: SLF001 (there is no public way to the JVM)
    deltas = jvm.org.apache.spark.sql.delta.DeltaLog
    deltas.clearCache()
    log = deltas.forTable(spark._jsparkSession, location)  # noqa: SLF001 (as above)
    snapshot = log.unsafeVolatileSnapshot()
    nothing = getattr(jvm.scala.collection.immutable, "Map$")
    snapshot.validateChecksum(getattr(nothing, "MODULE$").empty())
    files = DataFrame(snapshot.allFiles().toDF(), spark)
    return sorted(row["path"] for row in files.select("path").collect())


if __name__ == "__main__":
    main(*sys.argv[1:])
