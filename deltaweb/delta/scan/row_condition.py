"""A condition on rows in a language of its own, such as SQL."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

import pyarrow as pa

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import Expression, Predicate


class RowCondition(ABC):
    """Judges rows exactly, and says of files no more than what is sure."""

    @property
    @abstractmethod
    def names(self) -> Collection[str]:
        """The top-level columns that it looks at."""

    @property
    @abstractmethod
    def reach(self) -> Predicate | None:
        """What holds for every row that it is true for; None where nothing is known.

        Files and row groups are left out by it.
        """

    @property
    def parts(self) -> "Sequence[RowCondition]":
        """The conditions that are all true where it is true; itself alone if it is one.

        Each part leaves out files on its own.
        """
        return (self,)

    @abstractmethod
    def holds(self, rows: pa.RecordBatch) -> pa.BooleanArray:
        """Return where the condition is true: neither false nor unknown.

        Args:
            rows: With the columns that it looks at, and maybe others.

        Raises:
            DeltaError: If it has no value for a row.
        """


Condition: TypeAlias = Predicate | RowCondition | Expression
"""What rows are asked for by: a tree, a condition of another language, or Arrow's."""
ParseSQL: TypeAlias = Callable[[str, StructType], RowCondition]
"""Parses the SQL text of a condition over a schema."""


def understood(
    condition: Condition | str | None, schema: StructType, parse_sql: ParseSQL | None
) -> Condition | None:
    if not isinstance(condition, str):
        return condition
    if parse_sql is None:
        raise PredicateError(reason="SQL text is not understood here")
    return parse_sql(condition, schema)
