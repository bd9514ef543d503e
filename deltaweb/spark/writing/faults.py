"""Errors of Spark that end a change of a table, as errors of ours."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException, PythonException
from pyspark.sql import SparkSession

from deltaweb.delta.errors import DeltaError
from deltaweb.spark.job import translated
from deltaweb.spark.task_faults import faults_are_raised
from deltaweb.words import cut

MAX_REASON: Final = 300
MAX_CAUSES: Final = 20
_CONDITION: Final = re.compile(r"^\[[A-Z0-9_.]+\] *")
_STATE: Final = re.compile(r"\.? *SQLSTATE: .*$")
_TOO_DEEP: Final = "java.lang.StackOverflowError"


class ChangeNotEvaluatedError(DeltaError, code="change-not-evaluated"):
    """Spark met an error in the SQL of a change, or in the rows that it reads."""

    reason: str
    message = "Spark cannot carry out the change: {reason}."
    hint = "Correct the SQL, or the rows that it applies to. Nothing was written."


@contextmanager
def spark_errors_are_ours(spark: SparkSession) -> Iterator[None]:
    """Raise what ends a change early as one of our errors."""
    try:
        with faults_are_raised():
            yield
    except (PySparkException, Py4JError) as error:
        known = translated(error, spark)
        if known is error:
            known = ChangeNotEvaluatedError(reason=_reason(error))
        raise known from error


def _reason(error: BaseException) -> str:
    """Return half a sentence of what Spark says at length."""
    match error:
        case Py4JJavaError():
            text = _root_cause(error.java_exception)
        case PythonException():  # its last line is the error of the task
            text = str(error).strip().rpartition("\n")[2]
        case _:
            text = str(error).strip()
    line = text.strip().partition("\n")[0]
    plain = _STATE.sub("", _CONDITION.sub("", line)).strip().rstrip(".")
    return cut(plain, MAX_REASON) or type(error).__name__


def _root_cause(thrown: Any) -> str:  # noqa: ANN401  # of the JVM
    """Return the message of the error of Java that caused others."""
    for _ in range(MAX_CAUSES):
        cause = thrown.getCause()
        if cause is None:
            break
        thrown = cause
    if thrown.getClass().getName() == _TOO_DEEP:
        return "the SQL is nested too deeply"
    return str(thrown.getMessage() or thrown.toString())
