"""Spark of the newest release that Iceberg has a runtime for, beside our own."""

from pathlib import Path
from typing import Final

from deltaweb.spark.driver.java import find_java_home
from tests.support.peers.fetched import find_jars, find_package
from tests.support.peers.sidecar import Sidecar

SPARK: Final = "pyspark==4.1.4"
ICEBERG: Final = "1.12.0"
ARTIFACTS: Final = (
    f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG}",
    f"org.apache.iceberg:iceberg-aws-bundle:{ICEBERG}",
)
OPTIONS: Final = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    # A query of some rows takes less than the making of code for it does, or than its
    # plan being made again between its stages and told to nobody.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def find_spark(folder: Path) -> tuple[Path, dict[str, str]]:
    """Return the folder of its packages, and the variables that it starts with."""
    jars = find_jars(f"iceberg-{ICEBERG}", ARTIFACTS, folder)
    packages = find_package(SPARK, folder)
    return packages, {
        "JAVA_HOME": str(find_java_home(folder)),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DIST_CLASSPATH": ":".join(map(str, jars)),
        "SPARK_HOME": str(packages / "pyspark"),
    }


class SidecarSpark(Sidecar):
    """A Spark that has an Iceberg catalogue attached; `spark` is its session.

    Args:
        folder: For rows, and for what Spark keeps.
        catalog: What it is called.
        properties: Of the catalogue, which answers by REST.
    """

    def __init__(self, folder: Path, catalog: str, properties: dict[str, str]) -> None:
        packages, environment = find_spark(folder)
        super().__init__(folder, packages, **environment)
        place = f"spark.sql.catalog.{catalog}"
        options = {
            **OPTIONS,
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            place: "org.apache.iceberg.spark.SparkCatalog",
            f"{place}.type": "rest",
            **{f"{place}.{name}": value for name, value in properties.items()},
        }
        told = self.run(
            "from pyspark.sql import SparkSession\n"
            "builder = SparkSession.builder.master('local[1]')\n"
            f"for name, value in {options!r}.items():\n"
            "    builder = builder.config(name, value)\n"
            "found = builder.getOrCreate().range(1)",
            "found",
        )
        assert "error" not in told, told
