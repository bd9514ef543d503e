"""The conditions on rows: from the address to a chip, and to a tree."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from apps.explorer.rows.filter_errors import (
    FilterShapeError,
    FilterValueError,
    NotComparableError,
    NotTextError,
    UnknownColumnError,
)
from apps.pages.request.parameters import QueryError
from deltaweb import expressions
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
    type_text,
    unread_type,
)
from deltaweb.delta.scan.operators import NULL_TESTS, OF_ADDRESSES
from deltaweb.delta.scan.variant_parts import SchemaWithParts, VariantPart, variant_part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OPERATORS = {
    **{name: one.shown for name, one in OF_ADDRESSES.items()},
    "contains": "contains",
    **NULL_TESTS,
}
INTEGERS = {"byte", "short", "integer", "long"}
NUMBERS = INTEGERS | {"float", "double"}
MAX_LITERAL_DIGITS = 400
MAX_KIND_LENGTH = 80
_SHAPE = re.compile(
    rf"(.+?):(?:{'|'.join(OPERATORS)})(?::|$)", re.DOTALL
)  # the column of a condition
_SQL = re.compile(r"[=<>()\s]")  # no name alone, and no slip of a name
_OPERATOR = re.compile(rf":({'|'.join(OPERATORS)})(?::|$)")
_EXAMPLES = {
    "boolean": "true or false",
    "date": "a day such as 2026-11-21",
    "timestamp": "a time such as 2026-11-21 08:30",
    "timestamp_ntz": "a time such as 2026-11-21 08:30",
    "decimal": "a number such as 4.20",
}
_COMPARED = NUMBERS | {"string", "boolean", "date", "timestamp", "timestamp_ntz"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLFilter:
    """A condition in SQL.

    Attributes:
        raw: As the address has it.
    """

    raw: str
    parts: tuple[VariantPart, ...] = ()

    @property
    def text(self) -> str:
        """The condition as a chip shows it."""
        return " ".join(self.raw.split())

    @property
    def sql(self) -> str:
        """The same, so that what follows is in no comment of it."""
        return f"{self.raw}\n" if "--" in self.raw else self.raw


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """A condition on one column, as a chip shows it and as a tree.

    Attributes:
        operator: A key of `OPERATORS`.
        value: What it is compared with, as text; "" for a null.
        literal: The same as the column's type has it; None for a null.
    """

    raw: str
    column: str
    operator: str
    value: str
    literal: tree.Literal | None
    part: VariantPart | None = None

    @property
    def text(self) -> str:
        """The condition in words: `country = DE`."""
        return f"{self.column} {OPERATORS[self.operator]} {self.value}".strip()

    @property
    def node(self) -> tree.Node:
        """The condition as a tree."""
        column = tree.Column(self.column)
        if self.literal is None:
            test = tree.Compare("IS", column, tree.Literal("null"))
            return test if self.operator == "null" else tree.Not(test)
        if self.operator not in OF_ADDRESSES:
            return tree.Call(self.operator, (column, self.literal))
        return tree.Compare(OF_ADDRESSES[self.operator].sign, column, self.literal)

    @property
    def sql(self) -> str:
        """The condition in the SQL that `deltaweb table rows --where` takes."""
        return SPARK.condition(self.node)


def is_sql(schema: StructType, text: str) -> bool:
    """Tell whether a condition of an address is in SQL, as it has no other shape."""
    is_shaped = _SHAPE.match(text) or any(
        text.startswith(f"{name}:") for name in schema.names
    )
    return not is_shaped and _SQL.search(text) is not None


def sql_filter(schema: StructType, text: str, zone: tzinfo) -> SQLFilter:
    """Read a condition in SQL.

    Args:
        schema: The columns of the version; parts of its variants are some, too.
        zone: Where a timestamp without a zone is.
    """
    schema = SchemaWithParts.of(schema)
    try:
        names = expressions.condition.SQLCondition(text, schema, str(zone)).names
    except DeltaError as error:
        raise _not_read(error, "f") from None
    fields = map(schema.find, sorted(names))
    parts = tuple(field for field in fields if isinstance(field, VariantPart))
    return SQLFilter(raw=text, parts=parts)


def row_filter(schema: StructType, text: str, zone: tzinfo) -> RowFilter:
    """Read `column:operator:value`; a column's name may hold colons itself.

    Args:
        schema: The columns of the version; parts of its variants are some, too.
        zone: Where a timestamp without a zone is.
    """
    field, operator, value = _split(schema, text)
    return RowFilter(
        raw=text,
        column=field.name,
        operator=operator,
        value="" if operator in NULL_TESTS else value,
        literal=_literal(field, operator, value, zone),
        part=field if isinstance(field, VariantPart) else None,
    )


def find_part(schema: StructType, name: str, parameter: str) -> VariantPart | None:
    """Return the part of a variant that a name asks for; None for any other name.

    Args:
        name: As the address has it: `payload:$.user.id::bigint`.
    """
    try:
        return variant_part(schema, name)
    except DeltaError as error:
        raise _not_read(error, parameter) from None


def _not_read(error: DeltaError, parameter: str) -> QueryError:
    return QueryError(part=parameter, message=error.message, hint=error.hint)


def _split(schema: StructType, text: str) -> tuple[StructField, str, str]:
    """Return the column, the operator and the value of a condition."""
    for field in sorted(schema.fields, key=lambda field: -len(field.name)):
        start = f"{field.name}:"
        operator, _, value = text.removeprefix(start).partition(":")
        if text.startswith(start) and operator in OPERATORS:
            return field, operator, value
    problem: QueryError | None = None
    for end in _OPERATOR.finditer(text):
        try:
            part = find_part(schema, text[: end.start()], "f")
        except QueryError as error:  # a name in a path may look like an operator
            problem = problem or error
            continue
        if part is not None:
            return part, end[1], text[end.end() :]
    raise problem or _unknown(text, schema)


def _unknown(text: str, schema: StructType) -> QueryError:
    """Return why a condition cannot be read: its column, or its shape."""
    asked = _SHAPE.match(text)
    if asked is None:
        return FilterShapeError(text=text, operators=OPERATORS)
    return UnknownColumnError(part="f", name=asked[1], names=schema.names)


def is_plain(data_type: DataType) -> bool:
    """Whether values of a type can be compared with a value of the address."""
    return isinstance(data_type, DecimalType) or type_name(data_type) in _COMPARED


def type_name(data_type: DataType) -> str:
    """Return the name of a primitive type; nothing for any other."""
    return data_type.name if isinstance(data_type, PrimitiveType) else ""


def _kind(data_type: DataType) -> str:
    return "decimal" if isinstance(data_type, DecimalType) else type_name(data_type)


def _literal(
    field: StructField, operator: str, value: str, zone: tzinfo
) -> tree.Literal | None:
    """Read the value of a condition as its column's type."""
    unread = unread_type(field.data_type)
    if unread:
        expected = f"another column than {field.name!r}: {unread[:80]} is not read"
        raise QueryError(part="f", expected=expected)
    if operator in NULL_TESTS:
        return None
    kind = _kind(field.data_type)
    shown = short_type_text(field.data_type, MAX_KIND_LENGTH)
    if not is_plain(field.data_type):
        raise NotComparableError(column=field.name, kind=shown)
    if operator == "contains" and kind != "string":
        raise NotTextError(column=field.name, kind=shown)
    try:
        text = _TEXTS.get(kind, _number)(value, zone)
    except (ValueError, KeyError, InvalidOperation, OverflowError):
        raise FilterValueError(
            column=field.name,
            value=value,
            kind=type_text(field.data_type),
            example=_EXAMPLES.get(kind, "a number such as 42"),
        ) from None
    is_exact = kind == "decimal" or kind in INTEGERS
    return tree.Literal("number" if is_exact else kind, text, value_type=kind)


def _number(text: str, _zone: tzinfo) -> str:
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > MAX_LITERAL_DIGITS:
        raise InvalidOperation
    return f"{number:f}"


def _instant(text: str, zone: tzinfo) -> str:
    moment = datetime.fromisoformat(text)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return aware.astimezone(UTC).isoformat(sep=" ").replace("+00:00", "Z")


def _local_time(text: str, _zone: tzinfo) -> str:
    return datetime.fromisoformat(text).replace(tzinfo=None).isoformat(sep=" ")


_TEXTS: "Mapping[str, Callable[[str, tzinfo], str]]" = {
    **dict.fromkeys(INTEGERS, lambda text, _: str(int(text))),
    **dict.fromkeys(
        ("float", "double"), lambda text, zone: repr(float(_number(text, zone)))
    ),
    "boolean": lambda text, _: {"true": "true", "false": "false"}[text.lower()],
    "date": lambda text, _: date.fromisoformat(text).isoformat(),
    "timestamp": _instant,
    "timestamp_ntz": _local_time,
    "string": lambda text, _: text,
}
"""How a value is written in a condition, by the type of its column."""
