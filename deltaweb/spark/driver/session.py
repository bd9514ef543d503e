"""One SparkSession a process, built when it is first needed and again when it died."""

import logging
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from deltaweb.spark.driver import python_daemon
from deltaweb.spark.driver.class_archive import reading_options, writing_options
from deltaweb.spark.driver.cluster import (
    ApplicationEndedError,
    SparkClusterError,
    check_executors,
    find_driver_host,
    first_line,
    is_local,
)
from deltaweb.spark.driver.java import find_java_home
from deltaweb.spark.driver.pyspark_internals import (
    forget_context,
    gateway_of_process,
    is_running,
    session_of_process,
)

logger = logging.getLogger(__name__)

APP_NAME: Final = "deltaweb"
LOOPBACK: Final = "127.0.0.1"
SHUFFLE_PARTITIONS: Final = 4
# A quick start and a small footprint: the jobs are short and mostly wait for Python.
# Long work of Spark's own, of which there is little, takes twice as long for it.
# Without a size, there are 48 MB for compiled code, which Spark fills in minutes.
JAVA_OPTIONS: Final = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
    " -XX:+UseSerialGC -XX:-UsePerfData"
)
_LOG4J: Final = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %p spark.%c{1}: %m\
%notEmpty{ request=%X{mdc.request}}%notEmpty{ job=%X{mdc.job}}%n
"""
_lock = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions:
    """How a session is made.

    Attributes:
        master: A Spark master: `local[*]`, `spark://host:7077`, `yarn`, ...
        folder: Where Spark may keep its files; made when needed. On a cluster the
            executors share it.
        driver_memory: Heap of the driver, in Java's spelling.
        executors_within_s: How long a cluster may take to give the first executor.
        class_archive: Where the JVM leaves an archive of its classes when it ends;
            None for one that reads the archive of this machine, as all but one do.
    """

    master: str
    folder: Path
    driver_memory: str = "2g"
    executors_within_s: float = 120
    class_archive: Path | None = None


def get_spark(options: SparkOptions) -> SparkSession:
    """Return this process's session; build it when there is none that lives.

    Safe to call from several threads. The JVM ends with the process, however that
    ends.
    """
    with _lock:
        session = session_of_process()
        if session is not None and is_running(session):
            return session
        if session is not None:
            logger.warning("The Spark session has died; a new one is started.")
        forget_session()
        return _build_session(options)


def is_needed() -> bool:
    """Whether `get_spark` would start a session, which takes seconds."""
    session = session_of_process()
    return session is None or not is_running(session)


def stop_session() -> None:
    """Stop this process's session and its JVM, if there is one."""
    with _lock:
        _stop()


def end_session(within_s: float) -> None:
    """Stop this process's session and wait until its JVM has ended by itself."""
    with _lock:
        if (session := session_of_process()) is not None:
            session.stop()
        process = getattr(gateway_of_process(), "proc", None)
        if process is not None:
            process.stdin.close()  # at which the JVM ends
            process.wait(within_s)
        forget_session()


def _stop() -> None:
    session = session_of_process()
    if session is not None and is_running(session):
        session.stop()
    forget_session()


def forget_session() -> None:
    """Drop every trace of a session, so that the next one gets a new JVM."""
    gateway = gateway_of_process()
    if gateway is not None:
        process = getattr(gateway, "proc", None)
        try:
            gateway.shutdown()
        except (Py4JError, OSError):
            logger.debug("The gateway to the JVM was closed already.")
        if process is not None:
            process.stdin.close()
            process.kill()
            process.wait()
    forget_context()


def _build_session(options: SparkOptions) -> SparkSession:
    options.folder.mkdir(parents=True, exist_ok=True)
    logging.getLogger("py4j").setLevel(logging.WARNING)
    # It writes the stack of the JVM for SQL that is refused; our errors say why.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    # Read by the launcher and by the workers that it starts, not by us.
    os.environ["JAVA_HOME"] = str(find_java_home(options.folder))
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if is_local(options.master):
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
        conf = _conf(options, driver_host=LOOPBACK)
        return _start(conf)
    # Executors may have their Python elsewhere, and this machine several addresses.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    reached_from = find_driver_host(options.master)
    driver_host = os.environ.get("SPARK_LOCAL_IP") or reached_from
    conf = _conf(options, driver_host=driver_host)
    try:
        session = _start(conf)
        within_s = options.executors_within_s
        check_executors(session, options.folder, within_s=within_s)
    except SparkClusterError:
        _stop()
        raise
    except Py4JError as error:
        _stop()
        reason = first_line(error)
        raise ApplicationEndedError(master=options.master, reason=reason) from error
    return session


def _start(conf: SparkConf) -> SparkSession:
    SparkContext(conf=conf, gateway=start_jvm(conf))
    return SparkSession.builder.getOrCreate()


def _conf(options: SparkOptions, *, driver_host: str | None) -> SparkConf:
    log4j = options.folder / "log4j2.properties"
    log4j.write_text(_LOG4J, encoding="utf-8")
    temporary = options.folder / "tmp"
    temporary.mkdir(exist_ok=True)
    archive = options.class_archive
    java_home = Path(os.environ["JAVA_HOME"])
    classes = writing_options(archive) if archive else reading_options(java_home)
    java_options = (
        f"{JAVA_OPTIONS} -Dlog4j2.configurationFile={log4j.as_uri()}"
        f" -Djava.io.tmpdir={temporary}{classes}"
    )
    conf = SparkConf()
    conf.setMaster(options.master).setAppName(APP_NAME)
    conf.set("spark.driver.memory", options.driver_memory)
    conf.set("spark.driver.extraJavaOptions", java_options)
    conf.set("spark.log.level", "ERROR")
    conf.set("spark.ui.enabled", "false")
    conf.set("spark.ui.showConsoleProgress", "false")
    conf.set("spark.sql.shuffle.partitions", str(SHUFFLE_PARTITIONS))
    conf.set("spark.sql.session.timeZone", "UTC")
    # SQL of requests and logs is checked before Spark sees it. This is a last barrier.
    conf.set("spark.sql.runSQLOnFiles", "false")
    conf.set("spark.sql.variable.substitute", "false")
    conf.set("spark.python.worker.reuse", "true")
    conf.set("spark.python.daemon.module", python_daemon.MODULE)
    conf.set("spark.local.dir", str(options.folder / "local"))
    conf.set("spark.sql.warehouse.dir", str(options.folder / "warehouse"))
    if driver_host:
        conf.set("spark.driver.bindAddress", driver_host)
        conf.set("spark.driver.host", driver_host)
    return conf


# === The JVM ===


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
