"""Types of the column `v`, whose structs have the fields x and y, and of `p`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

Value = Any


@dataclass(frozen=True)
class Shape:
    """A type, and values of it.

    Attributes:
        kind: Returns the type, given the names of the two fields.
        value: Returns the value of a number, given the same names.
        sql: The value of the number `{n}` as Spark writes it: fields in another order,
            of wider types and by names in another case.
        of_sql: Returns that value.
        x: The path of the field x.
    """

    kind: Callable[[str, str], pa.DataType]
    value: Callable[[int, str, str], Value]
    sql: str
    of_sql: Callable[[int], Value]
    x: str = "v.x"


def _fields(x: str, y: str, *, nullable: bool = True) -> pa.DataType:
    return pa.struct(
        [pa.field(x, pa.int32(), nullable=nullable), pa.field(y, pa.int32())]
    )


def _xy(n: int, x: str = "x", y: str = "y") -> Value:
    return {x: n, y: None if n % 5 == 0 else n * 10}


_XY = "named_struct('Y', {n} * 10, 'X', {n})"


def _new(n: int) -> Value:
    return {"x": n, "y": n * 10}


SHAPES = {
    "flat": Shape(
        kind=lambda _x, _y: pa.int32(),
        value=lambda n, _x, _y: n or None,
        sql="{n}",
        of_sql=lambda n: n,
        x="v",
    ),
    "struct": Shape(
        kind=_fields,
        value=lambda n, x, y: None if n % 2 else _xy(n, x, y),
        sql=_XY,
        of_sql=_new,
    ),
    "NOT NULL": Shape(
        kind=lambda x, y: _fields(x, y, nullable=False),
        value=_xy,
        sql=_XY,
        of_sql=_new,
    ),
    "struct in struct": Shape(
        kind=lambda x, y: pa.struct([("in", _fields(x, y)), ("n", pa.string())]),
        value=lambda n, x, y: [
            None,
            {"in": None, "n": "no"},
            {"in": _xy(n, x, y), "n": None},
        ][n % 3],
        sql=f"named_struct('n', concat('n', {{n}}), 'IN', {_XY})",
        of_sql=lambda n: {"in": _new(n), "n": f"n{n}"},
        x="v.in.x",
    ),
    "list": Shape(
        kind=lambda x, y: pa.list_(_fields(x, y)),
        value=lambda n, x, y: [None, [], [_xy(n, x, y), None]][n % 3],
        sql=f"array(NULL, {_XY})",
        of_sql=lambda n: [None, _new(n)],
        x="v.element.x",
    ),
    "map": Shape(
        kind=lambda x, y: pa.map_(pa.string(), _fields(x, y)),
        value=lambda n, x, y: [None, [], [("k", _xy(n, x, y)), ("n", None)]][n % 3],
        sql=f"map('q', {_XY}, 'n', NULL)",
        of_sql=lambda n: [("q", _new(n)), ("n", None)],
        x="v.value.x",
    ),
    "deep": Shape(
        kind=lambda x, y: pa.struct(
            [
                ("l", pa.list_(pa.map_(pa.string(), _fields(x, y)))),
                ("m", pa.map_(pa.string(), pa.list_(_fields(x, y)))),
            ]
        ),
        value=lambda n, x, y: (
            {"l": [None, [("k", _xy(n, x, y))]], "m": [("e", []), ("n", None)]}
            if n % 2
            else {"l": None, "m": [("k", [None, _xy(n, x, y)])]}
        ),
        sql=f"named_struct('m', map('k', array({_XY})), 'l', array(map('q', {_XY})))",
        of_sql=lambda n: {"l": [[("q", _new(n))]], "m": [("k", [_new(n)])]},
        x="v.l.element.value.x",
    ),
}
PARTITIONS: dict[str, tuple[pa.DataType, Sequence[Value]]] = {
    "string": (pa.string(), ["a/b=c d", None, "ä%20"]),
    "int": (pa.int32(), [0, None, -7]),
    "date": (pa.date32(), [date(2024, 2, 29), None, date(1969, 12, 31)]),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        [
            datetime(2024, 3, 10, 7, 30, tzinfo=UTC),
            None,
            datetime(1969, 1, 1, tzinfo=UTC),
        ],
    ),
    "decimal": (pa.decimal128(9, 2), [Decimal("1.50"), None, Decimal("-0.01")]),
    "boolean": (pa.bool_(), [True, None, False]),
}


def turned(kind: pa.DataType) -> pa.DataType:
    """Return a type that holds the same values and is spelled in another way.

    Its fields are in another order, their names have large letters, and numbers are
    wider.
    """
    if pa.types.is_struct(kind):
        fields = [(field.name.upper(), turned(field.type)) for field in kind]
        return pa.struct(fields[::-1])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, turned(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(turned(kind.value_type))
    return pa.int64() if kind == pa.int32() else kind


def turned_value(value: Value) -> Value:
    """Return a value of such a type."""
    match value:
        case dict():
            return {name.upper(): turned_value(part) for name, part in value.items()}
        case tuple():
            return (value[0], turned_value(value[1]))
        case list():
            return [turned_value(part) for part in value]
        case _:
            return value
