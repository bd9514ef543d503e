"""What we use of PySpark that is private, or said nowhere: all of it, with the reasons.

`tests/spark/test_pyspark_internals.py` fails when any of it changes.

- A context whose JVM has died is never let go of: `getOrCreate` hands it out again and
  again. So its traces are taken away, and what is asked of it is asked of the JVM.
- `DataFrame.mapInArrow` asks for pandas, which it then does not use; an installation of
  ours has none. So the JVM's method is called.
- Which columns a condition is about, and whether an expression is a function of the
  row, only Spark's analyzer knows, and no public method tells it.
- Only Spark's own parser knows how Spark reads a text. What it reads is looked at
  before the analyzer sees it, which already opens the files that a query names.
- Two modules are public by their names alone: `pyspark.java_gateway`, by which the JVM
  is started with another stderr (`session`), and `pyspark.daemon`, which a daemon of
  ours begins (`python_daemon`).
"""

from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import Column, DataFrame, SparkSession


def session_of_process() -> SparkSession | None:
    """Return this process's session, also where its JVM has died."""
    return SparkSession._instantiatedSession  # noqa: SLF001 (as the module says)


def is_running(session: SparkSession) -> bool:
    """Whether the session's JVM answers and its context runs."""
    try:
        return not session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001 (as above)
    except (Py4JError, OSError, AttributeError):
        return False


def gateway_of_process() -> Any:  # noqa: ANN401 (py4j has no types)
    """Return the gateway to this process's JVM; None where none was started."""
    return SparkContext._gateway  # noqa: SLF001 (as above)


def forget_context() -> None:
    """Drop every trace of a context, so that the next one gets a new JVM."""
    SparkContext._gateway = None  # noqa: SLF001 (as above)
    SparkContext._jvm = None  # noqa: SLF001 (as above)
    SparkContext._active_spark_context = None  # noqa: SLF001 (as above)
    SparkSession._instantiatedSession = None  # noqa: SLF001 (as above)


def mapped_rows(frame: DataFrame, made: Column) -> DataFrame:
    """Return the rows that a function of Arrow batches makes of a frame's."""
    rows = frame._jdf.mapInArrow(made._jc, False, None)  # noqa: SLF001, FBT003 (as above; the JVM's signature)
    return DataFrame(rows, frame.sparkSession)


def analyzed_plan(frame: DataFrame) -> Any:  # noqa: ANN401 (py4j has no types)
    """Return what Spark's analyzer makes of a frame: an object of the JVM."""
    return frame._jdf.queryExecution().analyzed()  # noqa: SLF001 (as above)


def has_parser(session: SparkSession) -> bool:
    """Whether the parser of a session can be called: not that of Spark Connect."""
    return hasattr(session, "_jsparkSession")


def parsed_expression(session: SparkSession, sql: str) -> Any:  # noqa: ANN401 (as above)
    """Return what Spark's parser makes of a text; the analyzer does not see it.

    Raises:
        ParseException: If the text is not an expression.
    """
    state = session._jsparkSession.sessionState()  # noqa: SLF001 (as the module says)
    return state.sqlParser().parseExpression(sql)


def has_pattern(node: Any, pattern: str) -> bool:  # noqa: ANN401 (as above)
    """Whether a tree of Catalyst has a node of a kind: a name of `TreePattern`."""
    jvm = SparkContext._jvm  # noqa: SLF001 (as the module says)
    patterns = getattr(jvm, "org.apache.spark.sql.catalyst.trees.TreePattern")
    return bool(node.containsPattern(patterns.withName(pattern)))


def kind_of(node: Any) -> str:  # noqa: ANN401 (as above)
    """Return the class of a node of Catalyst, without its package."""
    return str(node.getClass().getSimpleName())


def children_of(node: Any) -> Iterator[Any]:  # noqa: ANN401 (as above)
    yield from items_of(node.children())


def items_of(sequence: Any) -> Iterator[Any]:  # noqa: ANN401 (as above)
    """Yield what a sequence of Scala holds."""
    for place in range(sequence.size()):
        yield sequence.apply(place)
