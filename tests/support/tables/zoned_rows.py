"""Rows with times that the clocks of some zone leave out, repeat, or had by the sun."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import pyarrow as pa

from tests.support.tables.typed_rows import ROWS as TYPED

ZONES: Final = ("America/New_York", "Asia/Kolkata", "UTC")

_INSTANTS: Final = (
    *("2024-03-10 02:00:00", "2024-03-10 06:59:59.999999", "2024-03-10 07:00:00"),
    *("2024-11-03 05:30:00", "2024-11-03 06:30:00", "1850-06-30 18:06:28"),
    *("2050-07-05 03:30:00", None, "2026-01-31 18:30:00", "9999-12-31 23:59:59"),
)
_CLOCKS: Final = (
    *("2024-03-10 02:30:00", "2024-03-10 03:10:00", "2024-03-10 01:59:59.999999"),
    *("2024-11-03 01:30:00", "2024-11-03 02:00:00", None, "1850-07-01 00:00:00"),
    *("2050-07-04 23:30:00", "2026-01-31 00:00:00", "0001-01-01 12:00:00"),
)


def _moments(texts: Sequence[str | None]) -> list[datetime | None]:
    return [None if text is None else datetime.fromisoformat(text) for text in texts]


def _times(texts: Sequence[str | None]) -> pa.Array:
    return pa.array(_moments(texts), pa.timestamp("us"))


ROWS: Final = (
    TYPED.set_column(
        TYPED.schema.get_field_index("day"),
        "day",
        _times(_CLOCKS).cast(pa.date32(), safe=False),
    )
    .set_column(
        TYPED.schema.get_field_index("t"),
        "t",
        _times(_INSTANTS).cast(pa.timestamp("us", "UTC")),
    )
    .set_column(TYPED.schema.get_field_index("w"), "w", _times(_CLOCKS))
)
"""The rows of `typed_rows`, with other days, instants (`t`) and clocks (`w`)."""
