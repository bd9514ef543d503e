"""The JVM of a session, and what it says before there is anything to say."""

import os
from threading import Thread
from typing import Any, Final

from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

STDERR: Final = 2
# Of every start, whatever log4j is set to: they go past it.
_OF_EVERY_START: Final = (
    b"WARNING: Using incubator modules:",
    b"Setting default log level to ",
    b"To adjust logging level use ",
    b"Setting Spark log level to ",
)


def start_jvm(conf: SparkConf) -> Any:  # noqa: ANN401 (py4j has no types)
    """Start the JVM; what it writes to stderr goes to ours, the usual lines left out.

    Returns:
        The gateway to it.
    """
    reading, writing = os.pipe()
    Thread(target=_pass_on, args=(reading,), daemon=True).start()
    try:
        return launch_gateway(conf, popen_kwargs={"stderr": writing})  # type: ignore[no-untyped-call]  # PySpark's
    finally:
        os.close(writing)


def _pass_on(descriptor: int) -> None:
    with os.fdopen(descriptor, "rb") as lines:
        for line in lines:
            if not line.startswith(_OF_EVERY_START):
                os.write(STDERR, line)
