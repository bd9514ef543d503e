"""Conditions on a table of any schema, with values that its rows have."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

from deltaweb.delta.protocol.schema import StructType

MAX_COLUMNS = 6
MAX_TEXT = 40


def conditions_of(schema: StructType, rows: pa.Table) -> Iterator[str]:
    """Yield conditions on the first columns that have literals, and on two of them."""
    parts: list[str] = []
    for field in schema.fields[:MAX_COLUMNS]:
        name = f"`{field.name.replace('`', '``')}`"
        yield f"{name} IS NULL"
        value = next((v for v in _values(rows, field.name) if v is not None), None)
        literal = _literal(value)
        if literal:
            parts.append(f"{name} <= {literal}")
            yield f"{name} = {literal}"
            yield f"{name} > {literal}"
            yield f"NOT {name} = {literal} OR {name} IS NULL"
            yield f"CAST({name} AS STRING) = 'x'"
    yield " AND ".join(parts or ["TRUE"])
    yield " OR ".join(parts or ["FALSE"])


def _values(rows: pa.Table, name: str) -> list[object]:
    kind = rows.schema.field(name).type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind):
        return []
    try:
        values: list[object] = rows[name].to_pylist()
    except (ValueError, OverflowError):  # a time that Python does not have
        return []
    return values


def _literal(value: object) -> str:
    """Return a value in SQL; "" for one that has no simple literal."""
    match value:
        case bool():
            return str(value).lower()
        case int() | Decimal():
            return str(value)
        case str() if len(value) <= MAX_TEXT and value.isalnum() and value.isascii():
            return f"'{value}'"
        case datetime():
            said = value.replace(tzinfo=None).isoformat(sep=" ")
            return f"TIMESTAMP{'' if value.tzinfo else '_NTZ'} '{said}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return ""
