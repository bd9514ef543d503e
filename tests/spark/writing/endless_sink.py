"""A process that writes a stream from one table to another until it is killed.

Run with the folder that holds both, and a folder for Spark.
"""

import sys
from pathlib import Path


def main(folder: Path, scratch: Path) -> None:
    """Copy what the source has, a file a batch, and end when all is there."""
    from deltaweb.spark import register
    from deltaweb.spark.driver.session import SparkOptions, get_spark, stop_session

    options = SparkOptions(master="local[1]", folder=scratch, driver_memory="1g")
    spark = get_spark(options)
    register(spark)
    stream = spark.readStream.format("deltaweb").option("maxFilesPerTrigger", 1)
    writer = stream.load(str(folder / "source")).writeStream.format("deltaweb")
    writer = writer.option("checkpointLocation", str(folder / "state"))
    query = writer.trigger(availableNow=True).start(str(folder / "sink"))
    query.awaitTermination()
    stop_session()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
