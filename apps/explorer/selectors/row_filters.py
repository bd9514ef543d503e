"""The conditions on rows: from the address to a chip and to SQL."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from apps.explorer.filter_errors import (
    FilterShapeError,
    FilterValueError,
    NotComparableError,
    NotTextError,
    UnknownColumnError,
)
from apps.explorer.forms import QueryError
from deltaweb.delta.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    short_type_text,
    type_text,
    unread_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATORS = {
    "eq": "=",
    "ne": "≠",
    "lt": "<",
    "le": "≤",
    "gt": ">",
    "ge": "≥",
    "contains": "contains",
    "null": "is null",
    "notnull": "is not null",
}
INTEGERS = {"byte", "short", "integer", "long"}
NUMBERS = INTEGERS | {"float", "double"}
MAX_LITERAL_DIGITS = 400
MAX_KIND_LENGTH = 80
_SQL_OPERATORS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SHAPE = re.compile(
    rf"(.+?):(?:{'|'.join(OPERATORS)})(?::|$)", re.DOTALL
)  # the column of a condition
_EXAMPLES = {
    "boolean": "true or false",
    "date": "a day such as 2026-11-21",
    "timestamp": "a time such as 2026-11-21 08:30",
    "timestamp_ntz": "a time such as 2026-11-21 08:30",
    "decimal": "a number such as 4.20",
}
_WITHOUT_VALUE = {"null": "IS NULL", "notnull": "IS NOT NULL"}
_COMPARED = NUMBERS | {"string", "boolean", "date", "timestamp", "timestamp_ntz"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """A condition on one column, as a chip shows it and as SQL says it."""

    raw: str
    column: str
    operator: str
    value: str
    sql: str

    @property
    def text(self) -> str:
        """The condition in words: `country = DE`."""
        return f"{self.column} {OPERATORS[self.operator]} {self.value}".strip()


def row_filter(schema: StructType, text: str, zone: tzinfo) -> RowFilter:
    """Read `column:operator:value`; a column's name may hold colons itself.

    Args:
        schema: The columns of the version.
        text: The condition as the address has it.
        zone: Where a timestamp without a zone is.

    Raises:
        QueryError: When the column, the operator or the value does not fit.
    """
    for field in sorted(schema.fields, key=lambda field: -len(field.name)):
        start = f"{field.name}:"
        operator, _, value = text.removeprefix(start).partition(":")
        if text.startswith(start) and operator in OPERATORS:
            sql = _sql(field, operator, value, zone)
            return RowFilter(
                raw=text,
                column=field.name,
                operator=operator,
                value="" if operator in _WITHOUT_VALUE else value,
                sql=sql,
            )
    raise _unknown(text, schema)


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


def _sql(field: StructField, operator: str, value: str, zone: tzinfo) -> str:
    unread = unread_type(field.data_type)
    if unread:
        expected = f"another column than {field.name!r}: {unread[:80]} is not read"
        raise QueryError(part="f", expected=expected)
    quoted = "`" + field.name.replace("`", "``") + "`"
    if operator in _WITHOUT_VALUE:
        return f"{quoted} {_WITHOUT_VALUE[operator]}"
    if not is_plain(field.data_type):
        kind = short_type_text(field.data_type, MAX_KIND_LENGTH)
        raise NotComparableError(column=field.name, kind=kind)
    if operator != "contains":
        literal = _literal(field, value, zone)
        return f"{quoted} {_SQL_OPERATORS[operator]} {literal}"
    if type_name(field.data_type) != "string":
        kind = short_type_text(field.data_type, MAX_KIND_LENGTH)
        raise NotTextError(column=field.name, kind=kind)
    return f"{quoted} LIKE {_text_literal('%' + _like_escaped(value) + '%')}"


def _literal(field: StructField, value: str, zone: tzinfo) -> str:
    """Return a value of the address as the SQL literal of a column's type."""
    data_type = field.data_type
    kind = "decimal" if isinstance(data_type, DecimalType) else type_name(data_type)
    literals: dict[str, Callable[[str], str]] = {
        "boolean": lambda text: {"true": "TRUE", "false": "FALSE"}[text.lower()],
        "date": lambda text: f"DATE '{date.fromisoformat(text).isoformat()}'",
        "timestamp": lambda text: f"TIMESTAMP '{_utc_text(text, zone)}'",
        "timestamp_ntz": lambda text: f"TIMESTAMP_NTZ '{_local_text(text)}'",
        "string": _text_literal,
        **dict.fromkeys(INTEGERS, lambda text: str(int(text))),
    }
    try:
        return literals.get(kind, _number_literal)(value)
    except (ValueError, KeyError, InvalidOperation, OverflowError):
        raise FilterValueError(
            column=field.name,
            value=value,
            kind=type_text(data_type),
            example=_EXAMPLES.get(kind, "a number such as 42"),
        ) from None


def _number_literal(text: str) -> str:
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > MAX_LITERAL_DIGITS:
        raise InvalidOperation
    return f"{number:f}"


def _utc_text(text: str, zone: tzinfo) -> str:
    moment = datetime.fromisoformat(text)
    aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    return aware.astimezone(UTC).isoformat(sep=" ").replace("+00:00", "Z")


def _local_text(text: str) -> str:
    return datetime.fromisoformat(text).replace(tzinfo=None).isoformat(sep=" ")


def _text_literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _like_escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
