"""Where a data file holds a column of the table's schema.

Found by its id where the table maps columns by id; else by the name that it is stored
under, exactly or else ignoring case.

Source: delta_protocol.md, "Reader Requirements for Column Mapping".
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Final

import pyarrow as pa

from deltaweb.delta.protocol.schema import StructField

FIELD_ID: Final = b"PARQUET:field_id"


class MismatchError(Exception):
    """A column of a file does not fit the schema.

    Attributes:
        column: The logical path of the column, joined by dots.
    """

    def __init__(self, *, column: str, reason: str) -> None:
        super().__init__(f"{column}: {reason}")
        self.column = column
        self.reason = reason


class StoredColumns:
    """The columns of a file, or of a struct in it, by what they are found by.

    Args:
        fields: As pyarrow gives them; `FIELD_ID` of their metadata has their ids.
    """

    def __init__(self, fields: Sequence[pa.Field]) -> None:
        self._fields = fields

    def find(self, column: StructField, path: str) -> int | None:
        """Return the position of a column; None where the file lacks it.

        Args:
            path: Its logical path, joined by dots, for the error.
        """
        if column.field_id is not None:
            return self._only(self._by_id.get(column.field_id, ()), path)
        return self.named(column.stored_name, path)

    def named(self, name: str, path: str) -> int | None:
        """Return the position of the column of a name, exactly or else ignoring case.

        Args:
            path: As in `find`.
        """
        exact = self._by_name.get(name)
        return self._only(exact or self._by_lower_name.get(name.lower(), ()), path)

    @property
    def has_ids(self) -> bool:
        return bool(self._by_id)

    def _only(self, positions: Sequence[int], path: str) -> int | None:
        if len(positions) > 1:
            names = ", ".join(self._fields[position].name for position in positions)
            reason = f"the file has several columns of that name: {names}"
            raise MismatchError(column=path, reason=reason)
        return positions[0] if positions else None

    @cached_property
    def _by_name(self) -> Mapping[Hashable, Sequence[int]]:
        return _positions([field.name for field in self._fields])

    @cached_property
    def _by_lower_name(self) -> Mapping[Hashable, Sequence[int]]:
        return _positions([field.name.lower() for field in self._fields])

    @cached_property
    def _by_id(self) -> Mapping[Hashable, Sequence[int]]:
        found = _positions([_field_id(field) for field in self._fields])
        return {key: places for key, places in found.items() if key is not None}


def _positions(keys: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for position, key in enumerate(keys):
        found.setdefault(key, []).append(position)
    return found


def _field_id(field: pa.Field) -> int | None:
    text = (field.metadata or {}).get(FIELD_ID, b"")
    try:
        return int(text)
    except ValueError:
        return None
