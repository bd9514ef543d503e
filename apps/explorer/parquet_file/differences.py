"""How the columns of a file differ from those of its table, on its page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import pyarrow as pa

from apps.pages.page_json import OnPage
from deltaweb.delta.protocol.schema import StructField, StructType
from deltaweb.index.file_survey import surveyed_columns
from deltaweb.parquet.inspection.differences import (
    LEGACY,
    MISSING,
    PARTITION,
    UNKNOWN,
    WIDENED,
    ColumnDifference,
    column_differences,
    columns_of_rows,
)

MAX_DIFFERENCES: Final = 100
MAX_NAME_LENGTH: Final = 200
_NOTES: Final = {
    PARTITION: "its value is in the log",
    MISSING: "its rows read NULL",
    UNKNOWN: "the table has no such column, and readers ignore it",
    WIDENED: "readers widen its values",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A column that is another in the file than in the table.

    Attributes:
        column: The dotted path in the table, or in the file if the table does not have
            the column.
        kind: `missing` in the file, `unknown` to the table, `partition`, or `type`.
        note: What the difference means for readers.
        relation: How the two are, in the word of a survey of all files.
    """

    column: str
    kind: str
    table_type: str | None
    file_type: str | None
    note: str
    relation: OnPage[str]


class StoredColumns:
    """The columns of a struct of a table, found as files have them."""

    def __init__(self, struct: StructType) -> None:
        self.fields = struct.fields
        self._by_name = {one.stored_name.lower(): one for one in struct.fields}
        self._by_id = {one.field_id: one for one in struct.fields if one.field_id}

    def find(self, name: str, field_id: int | None) -> StructField | None:
        """Return the column of a name in files; by its id where files are so read."""
        if self._by_id:
            return None if field_id is None else self._by_id.get(field_id)
        return self._by_name.get(name.lower())


def differences(
    nodes: pa.Table, table: StructType | None, partitions: Sequence[str]
) -> list[Difference]:
    """Return how the columns of a file differ from the table's, at every depth.

    Columns that are stored in an old way, and else the same, are told of as such.

    Args:
        nodes: `NODE_SCHEMA`.
        table: The table's columns; None if unknown.
    """
    if table is None:
        return []
    return list(islice(_differences(nodes, table, partitions), MAX_DIFFERENCES))


def _differences(
    nodes: pa.Table, table: StructType, partitions: Sequence[str]
) -> Iterator[Difference]:
    columns = surveyed_columns(table, partitions)
    for one in column_differences(columns, columns_of_rows(nodes)):
        if one.relation != LEGACY:
            yield _difference(one)


def _difference(one: ColumnDifference) -> Difference:
    is_type = one.of_table is not None and one.of_file is not None
    reason = "" if one.of_file is None else one.of_file.reason
    other = reason or "readers convert its values, or refuse them"
    return Difference(
        column=".".join(one.path)[:MAX_NAME_LENGTH],
        kind="type" if is_type else one.relation,
        table_type=None if one.of_table is None else one.of_table.type_word,
        file_type=None
        if one.of_file is None
        else one.of_file.word or one.of_file.stored,
        note=_NOTES.get(one.relation, other),
        relation=one.relation,
    )
