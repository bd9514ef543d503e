"""Errors of the Delta core on their way from an executor to the driver.

Spark hands on the text of an error alone. An error of the Delta core travels in that
text whole, so that the driver raises the very one that the task met.
"""

import base64
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from deltaweb.delta.errors import DeltaError

MARK: Final = "deltaweb-task-fault:"
_MARKED: Final = re.compile(re.escape(MARK) + r"([A-Za-z0-9+/]+=*)\.", re.ASCII)


class TaskFaultError(Exception):
    """Carries an error of the Delta core out of a task."""

    def __init__(self, error: DeltaError) -> None:
        super().__init__(carried(error))


@contextmanager
def faults_are_carried() -> Iterator[None]:
    """In a task: raise errors of the Delta core so that the driver knows them."""
    try:
        yield
    except DeltaError as error:
        raise TaskFaultError(error) from None


@contextmanager
def faults_are_raised() -> Iterator[None]:
    """In the driver: raise the error of the Delta core that ended a job."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        fault = find_fault(str(error))
        if fault is None:
            raise
        raise fault from None


def carried(error: DeltaError) -> str:
    """Return the text in which an error travels to the driver."""
    return f"{error} {MARK}{_encode(error)}."


def find_fault(text: str) -> DeltaError | None:
    """Return the error that a text of Spark carries, None without one."""
    found = _MARKED.search(text)
    return None if found is None else _decode(found.group(1))


def _encode(error: DeltaError) -> str:
    return base64.b64encode(pickle.dumps(error)).decode("ascii")


def _decode(text: str) -> DeltaError:
    # The text is of a task that this driver sent: pickles are how Spark talks, too.
    error = pickle.loads(base64.b64decode(text))  # noqa: S301
    if not isinstance(error, DeltaError):
        raise TypeError(type(error))
    return error
