"""Errors of the Delta core on their way from an executor to the driver.

Spark hands on the text of an error alone. An error of the Delta core travels in that
text whole, so that the driver raises the very one that the task met.

The text of an error is not to be trusted: SQL can raise one with any text. So an error
travels as JSON, its class by the name that `deltaweb.errors` knows it by.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException

from deltaweb import errors
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
    except AnalysisException:
        raise  # it shows a plan, with the texts of errors that nothing has raised
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
    facts = {name: _packed(value) for name, value in vars(error).items()}
    said = [type(error).__name__, [str(one) for one in error.args], facts]
    return base64.b64encode(json.dumps(said).encode()).decode("ascii")


def _decode(text: str) -> DeltaError | None:
    """Return the error of a text, which anyone may have written into an expression."""
    try:
        name, args, facts = json.loads(base64.b64decode(text))
        kind = getattr(errors, name)
        if not (isinstance(kind, type) and issubclass(kind, DeltaError)):
            return None
        error = kind.__new__(kind, *args)
        vars(error).update({key: _unpacked(value) for key, value in facts.items()})
    except (ValueError, TypeError, AttributeError, KeyError, ArithmeticError):
        return None
    error.args = tuple(args)
    return error


def _packed(value: object) -> object:
    """Return a fact as JSON has it; one of another type becomes its text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    for kind, (name, packed, _) in _KINDS.items():
        if isinstance(value, kind):
            return {name: packed(value)}
    return str(value)


def _unpacked(value: Any) -> Any:  # noqa: ANN401  # any JSON
    if not isinstance(value, dict):
        return value
    [(name, of)] = value.items()
    return _BY_NAME[name](of)


def _all_packed(values: Iterable[object]) -> list[object]:
    return [_packed(one) for one in values]


def _pairs(values: Mapping[object, object]) -> list[list[object]]:
    return [[_packed(key), _packed(one)] for key, one in values.items()]


_Pack = Callable[[Any], object]
_KINDS: Final[Mapping[type, tuple[str, _Pack, _Pack]]] = {
    str: ("text", str, str),
    Mapping: (
        "dict",
        _pairs,
        lambda of: {_unpacked(key): _unpacked(one) for key, one in of},
    ),
    tuple: ("tuple", _all_packed, lambda of: tuple(map(_unpacked, of))),
    AbstractSet: ("set", _all_packed, lambda of: frozenset(map(_unpacked, of))),
    list: ("list", _all_packed, lambda of: [*map(_unpacked, of)]),
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("date", date.isoformat, date.fromisoformat),
    Decimal: ("decimal", str, Decimal),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
}
"""How a fact of a type travels: its name, to JSON, and back."""
_BY_NAME: Final = {name: unpack for name, _, unpack in _KINDS.values()}
