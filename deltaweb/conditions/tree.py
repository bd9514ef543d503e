"""A condition as it is written, before a schema gives it a meaning.

`sql` and `json` read this tree from their syntaxes, and pages from their addresses;
`widen` says what it means of files, and `dialects` write it as SQL.

    Column, Literal    what is compared; either may stand inside casts
    Unread             what is neither
    Compare            a < 5, 5 > a, a <=> 5, a IS NULL
    OneOf              a IN (1, 2)
    Like               a LIKE 'x%'
    Call               isnull(a)
    Not, And, Or       the connectives
"""

from dataclasses import dataclass, field
from typing import TypeAlias

from deltaweb.delta.protocol.schema import DataType
from deltaweb.delta.scan.operators import OPERATORS
from deltaweb.delta.values.time_zones.rules import ZoneRules


@dataclass(frozen=True, kw_only=True)
class Written:
    """A part of a condition."""

    source: object = field(default="it", compare=False)


@dataclass(frozen=True)
class Column(Written):
    """A column by its name.

    Attributes:
        names: The names from the top to the column, or one text with dots.
        casts: The types that it is cast to, the innermost first; None for one that
            has no meaning here.
        value_type: The type that a JSON hint says it has; empty for none.
    """

    names: str | tuple[str, ...]
    casts: tuple[DataType | None, ...] = ()
    value_type: str = ""


@dataclass(frozen=True)
class Literal(Written):
    """A value as it is written.

    Attributes:
        kind: number (whole or decimal), float, double, string, boolean, binary, date,
            timestamp, timestamp_ntz; null.
        text: How it is written, without quotes.
        other_text: What the same text is to clients that take a backslash as it is;
            empty when there is none.
        is_cut: Whether clients cut such a time to milliseconds.
        zone_is_unknown: Whether a time without a zone may be in any.
        zone: The one that it is in; UTC for None.
    """

    kind: str
    text: str = ""
    casts: tuple[DataType | None, ...] = ()
    value_type: str = ""
    other_text: str = ""
    is_cut: bool = False
    zone_is_unknown: bool = False
    zone: ZoneRules | None = None


@dataclass(frozen=True)
class Unread(Written):
    """Something else: a function, arithmetic, a query."""


Operand: TypeAlias = Column | Literal | Unread


@dataclass(frozen=True)
class Compare(Written):
    """Two operands beside an operator; `<=>` and `IS` are never unknown."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True)
class OneOf(Written):
    """An operand in a list, which is empty where the values are not written down."""

    operand: Operand
    values: tuple[Operand, ...]


@dataclass(frozen=True)
class Like(Written):
    """An operand beside a pattern; `escape` is None where none is written."""

    operand: Operand
    pattern: Operand
    escape: Operand | None = None
    ignore_case: bool = False


@dataclass(frozen=True)
class Call(Written):
    """A function by its name in lower case."""

    name: str
    arguments: tuple[Operand, ...]


@dataclass(frozen=True)
class Not(Written):
    """A denial."""

    part: "Node"


@dataclass(frozen=True)
class And(Written):
    """A chain of AND, however it is put into parentheses."""

    parts: tuple["Node", ...]


@dataclass(frozen=True)
class Or(Written):
    """A chain of OR, however it is put into parentheses."""

    parts: tuple["Node", ...]


Node: TypeAlias = Operand | Compare | OneOf | Like | Call | Not | And | Or


def compared(
    operator: str, left: Operand, right: Operand, *, source: object = "it"
) -> Compare:
    """A comparison, its column on the left if one side alone is a column."""
    if operator != "IS" and isinstance(right, Column) and not isinstance(left, Column):
        left, right, operator = right, left, OPERATORS[operator].swapped
    return Compare(operator, left, right, source=source)
