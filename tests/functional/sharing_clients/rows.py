"""Rows of two readers, made comparable."""

import datetime as dt
import decimal
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

Rows = list[str]
# Of many rows nearly all cells are of these, and `match` asks for their kin first.
_PLAIN = frozenset([type(None), bool, str])
_NUMBERS = frozenset([int, float, decimal.Decimal])


def of_frame(frame: pd.DataFrame) -> Rows:
    """The rows of a pandas frame, sorted; its columns by name."""
    columns = (frame[name] for name in frame.columns)
    return _sorted(
        dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)
    )


def of_table(table: pa.Table) -> Rows:
    """The rows of an Arrow table, sorted; its columns by name."""
    return _sorted(table.to_pylist())


def of_rows(rows: Iterable[Mapping[str, Any]]) -> Rows:
    """Rows as mappings, sorted."""
    return _sorted(rows)


def _sorted(rows: Any) -> Rows:  # noqa: ANN401 (rows of any reader)
    return sorted(json.dumps(_plain(row), sort_keys=True) for row in rows)


def _plain(value: Any) -> Any:  # noqa: ANN401 (a cell of any reader)
    """A cell as JSON; what pandas cannot tell apart becomes one."""
    if type(value) in _PLAIN:
        return value
    if type(value) in _NUMBERS:
        return _number(float(value))
    match value:
        case Mapping():
            return {str(key): _plain(part) for key, part in value.items()}
        case np.ndarray() | list() | tuple():
            return _list(value)
    return _single(value)


def _single(value: Any) -> Any:  # noqa: ANN401 (as above)
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    match value:
        case bool() | np.bool_():
            return bool(value)
        case int() | float() | np.integer() | np.floating() | decimal.Decimal():
            return _number(float(value))
        case bytes():
            return value.hex()
        case dt.date():  # a datetime, and a Timestamp of pandas, are dates, too
            return _moment(value)
    return value


def _list(values: Iterable[Any]) -> Any:  # noqa: ANN401 (a list, or a map's pairs)
    values = list(values)
    plain = [_plain(value) for value in values]
    pairs = all(isinstance(v, tuple) and len(v) == 2 for v in values)
    if plain and pairs:
        return {str(key): part for key, part in plain}
    return plain


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _moment(value: dt.date) -> str:
    if not isinstance(value, dt.datetime):
        return value.isoformat()
    aware = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    return aware.astimezone(dt.UTC).isoformat()
