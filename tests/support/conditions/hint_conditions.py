"""Conditions as a client means them, and as clients spell them.

A condition is a tree of this module's own; its truth over a row is plain Python with
three values, and shares nothing with the code under test. Clients differ in what a
float literal and NaN mean, so truth takes a client.
"""

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]
Value: TypeAlias = str | int | float | bool | date | datetime | Decimal


@dataclass(frozen=True)
class Client:
    """What clients do not agree about.

    Attributes:
        compares_singles: Whether a literal beside a float is rounded to a float.
        nan_is_largest: Whether NaN equals itself and is larger than any number.
    """

    compares_singles: bool
    nan_is_largest: bool


CLIENTS = [
    Client(compares_singles=singles, nan_is_largest=nans)
    for singles in (False, True)
    for nans in (False, True)
]


@dataclass(frozen=True)
class Compare:
    column: str
    operator: str
    value: Value


@dataclass(frozen=True)
class OneOf:
    column: str
    values: tuple[Value, ...]
    has_null: bool = False


@dataclass(frozen=True)
class Same:
    column: str
    value: Value


@dataclass(frozen=True)
class Null:
    column: str


@dataclass(frozen=True)
class IsTrue:
    column: str


@dataclass(frozen=True)
class Starts:
    column: str
    prefix: str


@dataclass(frozen=True)
class Deny:
    part: "Condition"


@dataclass(frozen=True)
class Join:
    operator: str
    parts: tuple["Condition", ...]


Condition: TypeAlias = Compare | OneOf | Same | Null | IsTrue | Starts | Deny | Join


# === Truth ===


def single(number: float) -> float:
    """The number as four bytes hold it."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return rounded


def value_at(row: Row, column: str) -> Any:  # noqa: ANN401 # any value of a row
    value: Any = row
    for name in column.split("."):
        value = None if value is None else value[name]
    return value


def truth(  # noqa: C901, PLR0911 # a kind each
    condition: Condition, row: Row, client: Client
) -> bool | None:
    """Whether the condition is true, false or unknown for the row."""
    match condition:
        case Deny(part):
            inner = truth(part, row, client)
            return None if inner is None else not inner
        case Join(operator, parts):
            answers = {truth(part, row, client) for part in parts}
            decisive = operator == "or"
            if decisive in answers:
                return decisive
            return None if None in answers else not decisive
        case Null(column):
            return value_at(row, column) is None
        case Same(column, value):
            return compared(value_at(row, column), "=", value, column, client) is True
        case OneOf(column, values, has_null):
            found = [
                compared(value_at(row, column), "=", value, column, client)
                for value in values
            ]
            if True in found:
                return True
            return None if has_null or None in found else False
        case Starts(column, prefix):
            text = value_at(row, column)
            return None if text is None else text.startswith(prefix)
        case IsTrue(column):
            flag: bool | None = value_at(row, column)
            return flag
        case Compare(column, operator, value):
            return compared(value_at(row, column), operator, value, column, client)


def compared(
    left: Any,  # noqa: ANN401 # any value of a row
    operator: str,
    right: Any,  # noqa: ANN401 # any literal
    column: str,
    client: Client,
) -> bool | None:
    if left is None:
        return None
    if column == "f" and client.compares_singles:
        right = single(right)
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    if isinstance(left, float) and client.nan_is_largest:
        left = (math.isnan(left), 0.0 if math.isnan(left) else left)
        right = (math.isnan(right), 0.0 if math.isnan(right) else right)
    is_equal = left == right
    answers = {
        "=": is_equal,
        "!=": not is_equal,
        "<": left < right,
        "<=": left < right or is_equal,
        ">": left > right,
        ">=": left > right or is_equal,
    }
    return bool(answers[operator])


# === SQL ===

SWAPPED = {"=": "=", "!=": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
SPACED = "%Y-%m-%d %H:%M:%S.%f"
SQL_TYPES = {
    "i": "BIGINT",
    "n": "INT",
    "f": "FLOAT",
    "x": "DOUBLE",
    "m": "DECIMAL(20,2)",
    "c": "DECIMAL(10,2)",
    "s": "STRING",
    "t": "TIMESTAMP",
    "z": "TIMESTAMP_NTZ",
    "d": "DATE",
    "b": "BOOLEAN",
    "ps": "STRING",
    "pi": "INT",
    "pd": "DATE",
    "pt": "TIMESTAMP",
    "px": "DOUBLE",
    "pm": "DECIMAL(10,2)",
    "pb": "BOOLEAN",
}


class Speller:
    """Spells conditions as SQL, each time in another way.

    Attributes:
        choose: Picks one of some spellings.
        zone: The zone of the client's session, in which it writes times.
    """

    def __init__(self, choose: Any, zone: tzinfo = UTC) -> None:  # noqa: ANN401 # hypothesis has no type for it
        self.choose = choose
        self.zone = zone

    def sql(self, condition: Condition) -> str:
        """The condition as SQL."""
        text = self._sql(condition)
        return str(self.choose([text, f"({text})"]))

    def _sql(self, condition: Condition) -> str:  # noqa: C901, PLR0911 # a kind each
        match condition:
            case Deny(Null(column)) if self.choose([True, False]):
                return f"{self.column(column)} IS NOT NULL"
            case Deny(OneOf() as inner) if self.choose([True, False]):
                return self._one_of(inner, "NOT IN")
            case Deny(part):
                return f"NOT ({self.sql(part)})"
            case Join(operator, parts):
                return f" {operator.upper()} ".join(
                    f"({self.sql(part)})" for part in parts
                )
            case Null(column):
                return f"{self.column(column)} IS NULL"
            case Same(column, bool(value)) if self.choose([True, False]):
                return f"{self.column(column)} IS {str(value).upper()}"
            case Same(column, value):
                return f"{self.column(column)} <=> {self.literal(column, value)}"
            case OneOf():
                return self._one_of(condition, "IN")
            case IsTrue(column):
                name = self.column(column)
                return str(self.choose([name, f"{name} = TRUE", f"'true' = {name}"]))
            case Starts(column, prefix):
                return f"{self.column(column)} LIKE '{prefix}%'"
            case Compare(column, operator, value):
                name, literal = self.column(column), self.literal(column, value)
                if self.choose([True, False]):
                    return f"{literal} {SWAPPED[operator]} {name}"
                return f"{name} {operator} {literal}"

    def _one_of(self, condition: OneOf, word: str) -> str:
        column = condition.column
        values = [self.listed(column, value) for value in condition.values]
        if condition.has_null:
            values.append("NULL")
        return f"{self.column(column)} {word} ({', '.join(values)})"

    def column(self, column: str) -> str:
        """The name of a column."""
        quoted = ".".join(f"`{name}`" for name in column.split("."))
        names = [column, column.upper(), quoted]
        if column in SQL_TYPES:
            names.append(f"CAST({column} AS {SQL_TYPES[column]})")
        if column.startswith("p"):
            names.append(f"CAST(partitionValues.{column} AS {SQL_TYPES[column]})")
        return str(self.choose(names))

    def literal(self, column: str, value: Value) -> str:
        """A value beside a column."""
        return str(self.choose(self.literals(column, value)))

    def listed(self, column: str, value: Value) -> str:
        """A value in a list, where a text may mean something else."""
        is_typed = isinstance(value, float | Decimal | datetime)
        found = self.literals(column, value)
        return str(self.choose([t for t in found if t[0] != "'" or not is_typed]))

    def literals(  # noqa: C901, PLR0911 # a kind each
        self, column: str, value: Value
    ) -> Sequence[str]:
        """The ways to write a value beside a column."""
        match value:
            case bool():
                return [str(value).upper(), f"'{str(value).lower()}'"]
            case int():
                return [str(value), f"{value}L", f"'{value}'", f"CAST({value} AS LONG)"]
            case float() if math.isfinite(value):
                kind = "FLOAT" if column == "f" else "DOUBLE"
                text = repr(value)
                return [f"{text}D", f"CAST('{text}' AS {kind})", f"'{text}'", text]
            case float():
                name = {"inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), "NaN")
                return [f"'{name}'", f"CAST('{name}' AS DOUBLE)", f"double('{name}')"]
            case Decimal():
                return [f"{value}", f"{value}BD", f"CAST('{value}' AS DECIMAL(20,2))"]
            case str():
                doubled = value.replace("'", "''")
                escaped = value.replace("\\", "\\\\").replace("'", "\\'")
                if "\\'" in value:
                    return [f"'{escaped}'"]  # doubled, it would read as two texts
                return [f"'{doubled}'", f"'{escaped}'"]
            case datetime():
                text = f"{value:{SPACED}}"
                if column == "z":
                    return [f"TIMESTAMP_NTZ '{text}'", f"'{text}'"]
                iso = text.replace(" ", "T") + "Z"
                text = f"{value.astimezone(self.zone):{SPACED}}"
                times = [f"TIMESTAMP '{text}'", f"CAST('{text}' AS TIMESTAMP)"]
                return [*times, f"'{iso}'"]
            case date():
                return [f"DATE '{value}'", f"'{value}'", f"CAST('{value}' AS DATE)"]


# === JSON ===

JSON_TYPES = {
    "i": "long",
    "n": "int",
    "f": "float",
    "x": "double",
    "s": "string",
    "t": "timestamp",
    "d": "date",
    "b": "bool",
    "st.x": "int",
    "st.t": "timestamp",
    "ps": "string",
    "pi": "int",
    "pd": "date",
    "pt": "timestamp",
    "px": "double",
    "pb": "bool",
}
JSON_OPERATORS = {
    "=": "equal",
    "<": "lessThan",
    "<=": "lessThanOrEqual",
    ">": "greaterThan",
    ">=": "greaterThanOrEqual",
}


def json_hint(condition: Condition, *, swap: bool = False) -> str:
    """The condition as the text of a JSON hint, its times cut to milliseconds."""
    return json.dumps(_node(condition, swap=swap))


def _node(condition: Condition, *, swap: bool) -> dict[str, Any]:  # noqa: PLR0911 # a kind each
    match condition:
        case Deny(part):
            return {"op": "not", "children": [_node(part, swap=swap)]}
        case Join(operator, parts):
            children = [_node(part, swap=swap) for part in parts]
            return {"op": operator, "children": children}
        case Null(column):
            return {"op": "isNull", "children": [_column(column)]}
        case IsTrue(column):
            return _column(column)
        case OneOf(column, values):
            equals = tuple(Compare(column, "=", value) for value in values)
            return _node(Join("or", equals), swap=swap)
        case Compare(column, "!=", value):
            return _node(Deny(Compare(column, "=", value)), swap=swap)
        case Compare(column, operator, value):
            leaves = [_column(column), _literal(column, value)]
            if swap:
                leaves.reverse()
                operator = SWAPPED[operator]
            return {"op": JSON_OPERATORS[operator], "children": leaves}
        case _:
            message = f"JSON has no {condition}"
            raise TypeError(message)


def _column(column: str) -> dict[str, str]:
    return {"op": "column", "name": column, "valueType": JSON_TYPES[column]}


def _literal(column: str, value: Value) -> dict[str, str]:
    match value:
        case bool():
            text = str(value).lower()
        case datetime():
            cut = value - timedelta(microseconds=value.microsecond % 1000)
            text = cut.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case float() if not math.isfinite(value):
            text = {"inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), "NaN")
        case _:
            text = str(value)
    return {"op": "literal", "value": text, "valueType": JSON_TYPES[column]}


def without_null(condition: Condition) -> Condition:
    """The condition with lists that hold values alone."""
    match condition:
        case OneOf():
            return replace(condition, has_null=False)
        case Deny(part):
            return Deny(without_null(part))
        case Join(operator, parts):
            return Join(operator, tuple(without_null(part) for part in parts))
        case _:
            return condition
