"""The conditions of an address on rows: `column:operator:value`, as SQL.

Only the columns that the recipient sees are known here, so a hidden column and a
missing one get the same answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Final

from apps.pages.request.parameters import QueryError
from deltaweb.conditions import tree
from deltaweb.conditions.dialects import SPARK
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    short_type_text,
)
from deltaweb.delta.scan.operators import NULL_TESTS, OF_ADDRESSES
from deltaweb.expressions.condition import SQLCondition

MAX_CONDITIONS: Final = 20
MAX_LENGTH: Final = 2_000
MAX_DIGITS: Final = 400
CONTAINS: Final = "contains"
OPERATORS: Final[Mapping[str, str]] = {
    **{name: one.shown for name, one in OF_ADDRESSES.items()},
    CONTAINS: "contains",
    **NULL_TESTS,
}
_INTEGERS: Final = frozenset({"byte", "short", "integer", "long"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition on one column.

    Attributes:
        raw: As the address has it.
        text: As people read it.
        sql: As a SQL condition.
    """

    raw: str
    text: str
    sql: str


def parse_conditions(schema: StructType, texts: Sequence[str]) -> list[Condition]:
    """Read the conditions of an address.

    Raises:
        QueryError: If one names no column that is seen, or has no value of its type.
    """
    wanted = list(dict.fromkeys(text for text in texts if text))
    if len(wanted) > MAX_CONDITIONS:
        raise QueryError(part="f", expected=f"at most {MAX_CONDITIONS} conditions")
    return [_condition(schema, text) for text in wanted]


def sql_of(conditions: Sequence[Condition]) -> str:
    """Return conditions as one in SQL; "" for none."""
    return " AND ".join(f"({one.sql})" for one in conditions)


def compiled(sql: str, schema: StructType) -> SQLCondition | None:
    """Return a condition that `sql_of` made, for rows of a schema."""
    return SQLCondition(sql, schema) if sql else None


def comparable(schema: StructType) -> list[str]:
    """Return the names of the columns that conditions may name."""
    return [one.name for one in schema.fields if _kind(one.data_type) in _TEXTS]


def _condition(schema: StructType, text: str) -> Condition:
    if len(text) > MAX_LENGTH:
        raise QueryError(part="f", expected=f"at most {MAX_LENGTH} characters")
    field, operator, value = _split(schema, text)
    column = tree.Column(field.name)
    if operator in NULL_TESTS:
        test = tree.Compare("IS", column, tree.Literal("null"))
        node: tree.Node = test if operator == "null" else tree.Not(test)
        value = ""
    else:
        literal = _literal(field, operator, value)
        if operator == CONTAINS:
            node = tree.Call(CONTAINS, (column, literal))
        else:
            node = tree.Compare(OF_ADDRESSES[operator].sign, column, literal)
    sql = SPARK.condition(node)
    try:
        SQLCondition(sql, schema)
    except DeltaError as error:
        raise QueryError(part="f", message=error.message, hint=error.hint) from None
    shown = f"{field.name} {OPERATORS[operator]} {value}".strip()
    return Condition(raw=text, text=shown, sql=sql)


def _split(schema: StructType, text: str) -> tuple[StructField, str, str]:
    """Return the column, the operator and the value of a condition."""
    for field in sorted(schema.fields, key=lambda field: -len(field.name)):
        operator, _, value = text.removeprefix(f"{field.name}:").partition(":")
        if text.startswith(f"{field.name}:") and operator in OPERATORS:
            return field, operator, value
    raise QueryError(
        part="f",
        message=f"There is no column for the condition {text[:80]!r}.",
        hint="Write column:operator:value, with a column of the list.",
    )


def _literal(field: StructField, operator: str, value: str) -> tree.Literal:
    kind = _kind(field.data_type)
    shown = short_type_text(field.data_type, 80)
    if kind not in _TEXTS or (operator == CONTAINS and kind != "string"):
        raise QueryError(
            part="f",
            message=f"{field.name} has the type {shown}, which has no such comparison.",
            hint="Choose another column or operator.",
        )
    try:
        text = _TEXTS[kind](value)
    except (ValueError, KeyError, InvalidOperation, OverflowError):
        raise QueryError(
            part="f",
            message=f"{value[:80]!r} is not a value of {field.name}, of type {shown}.",
            hint="Write a value such as "
            f"{_EXAMPLES.get(kind, '42' if kind in _INTEGERS else '4.2')}.",
        ) from None
    is_exact = kind == "decimal" or kind in _INTEGERS
    return tree.Literal("number" if is_exact else kind, text, value_type=kind)


def _kind(data_type: DataType) -> str:
    if isinstance(data_type, DecimalType):
        return "decimal"
    return data_type.name if isinstance(data_type, PrimitiveType) else ""


def _number(text: str) -> str:
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > MAX_DIGITS:
        raise InvalidOperation
    return f"{number:f}"


def _instant(text: str) -> str:
    moment = datetime.fromisoformat(text)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(sep=" ").replace("+00:00", "Z")


_EXAMPLES: Final = {
    "boolean": "true",
    "date": "2026-11-21",
    "timestamp": "2026-11-21 08:30",
    "timestamp_ntz": "2026-11-21 08:30",
}
_TEXTS: Final[Mapping[str, Callable[[str], str]]] = {
    **dict.fromkeys(_INTEGERS, lambda text: str(int(text))),
    **dict.fromkeys(("float", "double"), lambda text: repr(float(_number(text)))),
    "decimal": _number,
    "boolean": lambda text: {"true": "true", "false": "false"}[text.lower()],
    "date": lambda text: date.fromisoformat(text).isoformat(),
    "timestamp": _instant,
    "timestamp_ntz": lambda text: (
        datetime.fromisoformat(text).replace(tzinfo=None).isoformat(sep=" ")
    ),
    "string": lambda text: text,
}
"""How a value is written in a condition, by the type of its column."""
