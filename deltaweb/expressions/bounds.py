"""What an expression may make, in bytes: asked before it is made.

A text of some letters can become one of many gigabytes by a few nested calls. So
whatever makes more than it is given says how much that will be, by the lengths of what
it is given. Where rows make too much together they are evaluated in halves; where one
row does, or all of them take too much work, the expression is refused by name.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.expressions.errors import ExpressionTooLargeError

MADE_BYTES: Final = 256 << 20
"""What is made of some rows at a time, in all steps together: all that memory holds."""
MADE_IN_ALL_BYTES: Final = 4 << 30
"""What is made of a batch in all of its parts, which takes some seconds."""
SHORT_TEXT: Final = 64
"""Bytes of a literal that is not counted, however many rows it is repeated for."""

T = TypeVar("T")


class MakesTooMuchError(Exception):
    """A step of an expression would make more than it may.

    Attributes:
        num_bytes: What it, and those before it, would have made.
        is_final: Whether fewer rows at a time do not help.
    """

    def __init__(self, function: str, num_bytes: int, *, is_final: bool) -> None:
        super().__init__(f"{function} would make {num_bytes:,} bytes")
        self.function = function
        self.num_bytes = num_bytes
        self.is_final = is_final


@dataclass
class _Account:
    """What the steps of an evaluation have made."""

    of_part: int = 0
    of_all: int = 0


_account: ContextVar[_Account | None] = ContextVar("made", default=None)


def check_made(function: str, num_bytes: int, *, is_passing: bool = False) -> None:
    """Refuse what a step is about to make if that is too much.

    Args:
        is_passing: Whether it is gone after the next step, which counts what it keeps.
    """
    account = _account.get() or _Account()
    if is_passing:
        account = replace(account)
    account.of_part += num_bytes
    account.of_all += num_bytes
    if account.of_all > MADE_IN_ALL_BYTES:
        raise MakesTooMuchError(function, account.of_all, is_final=True)
    if account.of_part > MADE_BYTES:
        raise MakesTooMuchError(function, account.of_part, is_final=False)


def text_bytes(values: pa.Array) -> int:
    """Return the bytes of all texts of an array; none of what is no text."""
    kind = values.type
    if not (pa.types.is_string(kind) or pa.types.is_binary(kind)):
        return 0
    return pc.sum(pc.binary_length(values)).as_py() or 0


def in_parts(
    sql: str, rows: pa.RecordBatch, evaluate: Callable[[pa.RecordBatch], T]
) -> Iterator[T]:
    """Yield what is made of rows: of all at once, or of ever smaller parts in order."""
    account = _Account()
    waiting = [rows]
    while waiting:
        part = waiting.pop()
        account.of_part = 0
        mark = _account.set(account)
        try:
            found = evaluate(part)
        except MakesTooMuchError as error:
            half = part.num_rows // 2
            if error.is_final or not half:
                raise ExpressionTooLargeError(
                    sql=sql,
                    function=error.function,
                    num_bytes=error.num_bytes,
                    num_rows=rows.num_rows if error.is_final else part.num_rows,
                    most_bytes=MADE_IN_ALL_BYTES if error.is_final else MADE_BYTES,
                    is_final=True,
                ) from None
            waiting += [part.slice(half), part.slice(0, half)]
            continue
        finally:
            _account.reset(mark)
        yield found
