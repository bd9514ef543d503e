"""Files of an index, and what a query asks of them: columns of the mapping.

What the index does not hold is had from the text of the statistics, as it is for
files of the log, so that both answer alike.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import StructField, StructType, arrow_type
from deltaweb.delta.scan.column_ranges import leaf_of, statistics_range
from deltaweb.delta.scan.skipping import ColumnRange
from deltaweb.delta.values.statistics.shape import statistics_shape
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.indexed_block import IndexedBlock
from deltaweb.index.query.partition_match import TIMESTAMP, TypedValues
from deltaweb.sharing.wire.lines import KEPT_SCHEMA

PARTITION = "partition"
TYPED = ("min", "max", "null_count")


class IndexedPart(FilePart):
    """The files of one block of an index, live or not."""

    def __init__(self, block: IndexedBlock) -> None:
        super().__init__(block)
        self._indexed = block

    @property
    def index(self) -> str:
        return self._indexed.index

    @property
    def first_row(self) -> int:
        return self._indexed.first_row

    @property
    def num_records(self) -> pa.Array:
        return self._indexed.rows["num_records"]

    @property
    def kept_columns(self) -> pa.RecordBatch | None:
        """What is kept of lines, by `KEPT_SCHEMA` as far as an older index has it."""
        rows = self._indexed.rows
        kept = [field for field in KEPT_SCHEMA if field in rows.schema]
        return rows.select([field.name for field in kept]) if kept else None

    def ranges(
        self, schema: StructType, columns: Iterable[ColumnPath]
    ) -> dict[ColumnPath, ColumnRange]:
        """What statistics say of data columns; one without any is left out."""
        found = {}
        others: list[ColumnPath] = []
        rows = self._indexed.rows
        for path in columns:
            if not self.has_typed(schema, path):
                others.append(path)
                continue
            low, high, null_count = (leaf_of(rows[one], path) for one in TYPED)
            if null_count is not None:
                records = self.num_records
                found[path] = statistics_range(path, low, high, null_count, records)
        if others:
            found |= super().ranges(schema, others)
            self.release()
        return found

    def statistics(
        self, schema: StructType, columns: list[ColumnPath]
    ) -> pa.RecordBatch:
        """Read typed statistics of columns of `schema`; an unknown one is left out."""
        if columns and all(self.has_typed(schema, path) for path in columns):
            return self._mapped(schema, columns)
        return super().statistics(schema, columns)

    def release(self) -> None:
        """Give back the memory of the mapping."""
        self._indexed.mapped.release()

    def _type_partition(self, column: StructField) -> TypedValues:
        typed = self._indexed.rows[PARTITION]
        position = typed.type.get_field_index(column.name)
        is_usable = (
            column.data_type != TIMESTAMP  # whose text alone says its zone, or does not
            and self._indexed.has_typed_partitions
            and position >= 0
            and typed.type.field(position).type == arrow_type(column.data_type)
        )
        if is_usable:
            has_nulls = (
                typed.null_count
            )  # of the struct; without one its field is used as it is
            return TypedValues(
                pc.struct_field(typed, [position])
                if has_nulls
                else typed.field(position)
            )
        return super()._type_partition(column)

    def _mapped(
        self, schema: StructType, columns: Sequence[ColumnPath]
    ) -> pa.RecordBatch:
        """Return the statistics of some columns: nothing else of them is touched."""
        wanted = _wanted(schema, tuple(columns))
        held = [self._indexed.rows[name] for name in TYPED]
        arrays = [
            _narrowed(one, wanted.field(name).type)
            for one, name in zip(held, TYPED, strict=True)
        ]
        return pa.RecordBatch.from_arrays([self.num_records, *arrays], schema=wanted)

    def has_typed(self, schema: StructType, path: ColumnPath) -> bool:
        """Whether the index has typed statistics of a column."""
        wanted = _wanted(schema, (path,))
        held = self._indexed.rows.schema
        return all(
            _holds(held.field(name).type, wanted.field(name).type) for name in TYPED
        )


@lru_cache(maxsize=64)
def _wanted(schema: StructType, columns: tuple[ColumnPath, ...]) -> pa.Schema:
    """Return the schema of statistics of columns: the same for all parts of a table."""
    return statistics_shape(schema, columns).arrow


def _narrowed(held: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return a struct with the fields of another one alone, which it has."""
    if held.type == wanted:
        return held
    fields = [*wanted]
    if not fields:
        return pa.StructArray.from_buffers(wanted, len(held), [None])
    values = []
    for field in fields:
        place = held.type.get_field_index(field.name)
        part = pc.struct_field(held, [place]) if held.null_count else held.field(place)
        values.append(_narrowed(part, field.type))
    return pa.StructArray.from_arrays(values, fields=fields)


def _holds(held: pa.DataType, wanted: pa.DataType) -> bool:
    """Tell whether a struct has all the fields of another, by their types."""
    if not pa.types.is_struct(wanted):
        return bool(held == wanted)
    if not pa.types.is_struct(held):
        return False
    return all(
        held.get_field_index(field.name) >= 0
        and _holds(held.field(field.name).type, field.type)
        for field in wanted
    )
