"""Some files of a table, and what a query asks of them, row for row.

A part is a block of a snapshot. It is shared between versions, so what was typed once
for a query is kept for the next one, as far as memory allows.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import ColumnNotFoundError, SchemaError
from deltaweb.delta.log.blocks import FileBlock
from deltaweb.delta.log.file_actions import DELETION_VECTOR, PARTITION_VALUES, VECTOR
from deltaweb.delta.protocol.column_path import ColumnPath, column_field
from deltaweb.delta.protocol.schema import DataType, StructField, StructType
from deltaweb.delta.scan.column_ranges import statistics_ranges
from deltaweb.delta.scan.skipping import ColumnRange
from deltaweb.delta.values.statistics.columns import read_statistics
from deltaweb.delta.values.whole import one_array
from deltaweb.environment.kept_values import KeptValues
from deltaweb.index.files.statistics_text import statistics_texts
from deltaweb.index.query.partition_match import TypedValues, type_values
from deltaweb.index.query.relative_paths import are_plain, find_outside

Rows: TypeAlias = npt.NDArray[np.int64]
TypedColumn: TypeAlias = tuple[ColumnPath, DataType]

KEPT_BYTES_A_FILE: Final = 64  # of statistics, and of partition values
BATCH_BYTES: Final = 8 << 20
FEW: Final = 16  # of so many files, one is few
ROWS_SCHEMA: Final = pa.schema(
    {
        "path": pa.string(),
        "size": pa.int64(),
        "modification_time": pa.int64(),
        "partition_values": PARTITION_VALUES,
        "stats": pa.string(),
        "num_records": pa.int64(),
        VECTOR: DELETION_VECTOR,
    }
)
"""What is read of the files that an answer lists."""
LINES_NAMES: Final = ("path", "size", "modification_time", "num_records")
"""The same where what lines say in every answer is kept."""


class FilePart:
    """The files of one block, live or not."""

    def __init__(self, block: FileBlock) -> None:
        self.block = block
        self._ranges: KeptValues[TypedColumn, ColumnRange | None]
        self._ranges = KeptValues(KEPT_BYTES_A_FILE * self.num_rows)
        self._typed: KeptValues[StructField, TypedValues]
        self._typed = KeptValues(KEPT_BYTES_A_FILE * self.num_rows)
        self._num_records: pa.Array | None = None
        self._has_plain_paths: bool | None = None
        self._is_inside: bool | None = None

    @property
    def num_rows(self) -> int:
        """Count of files, those that are no longer live included."""
        return int(self.block.files.num_rows)

    @property
    def sizes(self) -> pa.Array:
        return self.block.files["size"]

    @property
    def paths(self) -> pa.StringArray:
        return self.block.files["path"]

    @property
    def has_vectors(self) -> pa.BooleanArray | None:
        """Which files have deletion vectors; None where none has."""
        ids = self.block.files["dv_id"]
        return None if ids.null_count == len(ids) else ids.is_valid()

    @property
    def kept_columns(self) -> pa.RecordBatch | None:
        """What lines say in every answer, by columns; None where it is not kept."""
        return None

    def has_plain_paths(self, num_asked: int) -> bool:
        """Whether every path is known to be below the root as it is written.

        Args:
            num_asked: How many files it is asked for: for a few, the paths of all are
                not looked at.
        """
        if self._has_plain_paths is None:
            if num_asked * FEW < self.num_rows:
                return False
            self._has_plain_paths = are_plain(self.paths)
            self.release()
        return self._has_plain_paths

    def is_inside(self, root: str, num_asked: int) -> bool:
        """Whether every path is known to lead below the table's root."""
        if self.has_plain_paths(num_asked):
            return True
        if self._is_inside is None:
            if num_asked * FEW < self.num_rows:
                return False
            self._is_inside = find_outside(self.paths, root) is None
            self.release()
        return self._is_inside

    @property
    def num_records(self) -> pa.Array:
        if self._num_records is None:
            self._num_records = self.statistics(StructType(()), [])["num_records"]
        return self._num_records

    def partition(self, column: StructField) -> TypedValues:
        found = self._typed.find(column)
        if found is not None:
            return found[0]
        typed = self._type_partition(column)
        return self._typed.keep(column, typed, typed.values.nbytes)

    def ranges(
        self, schema: StructType, columns: Iterable[ColumnPath]
    ) -> dict[ColumnPath, ColumnRange]:
        """What statistics say of data columns; one without any is left out."""
        result: dict[ColumnPath, ColumnRange | None] = {}
        missing = {}
        for path in columns:
            key = (path, column_field(schema, path).data_type)
            found = self._ranges.find(key)
            if found is None:
                missing[path] = key
            else:
                result[path] = found[0]
        for path, known in self._load_ranges(schema, list(missing)).items():
            held_bytes = 0 if known is None else _held_bytes(known)
            result[path] = self._ranges.keep(missing[path], known, held_bytes)
        return {path: known for path, known in result.items() if known is not None}

    def rows(self) -> "PartRows":
        """Open what an answer lists of the files; what was read goes with it."""
        return PartRows(self)

    def release(self) -> None:
        """Give back memory that is read again when it is needed."""

    def statistics(
        self, schema: StructType, columns: list[ColumnPath]
    ) -> pa.RecordBatch:
        """Read typed statistics of columns of `schema`; an unknown one is left out."""
        raw = self.block.load_statistics()
        text = raw.json_text
        if text is None and raw.parsed is None:
            text = pa.chunked_array([pa.nulls(self.num_rows, pa.string())])
        table = read_statistics(text, raw.parsed, schema, columns)
        return _one_batch(table)

    def _type_partition(self, column: StructField) -> TypedValues:
        values = self.block.files["partition_values"].cast(PARTITION_VALUES)
        return type_values(values, column)

    def _load_ranges(
        self, schema: StructType, columns: list[ColumnPath]
    ) -> dict[ColumnPath, ColumnRange | None]:
        if not columns:
            return {}
        try:
            statistics = self.statistics(schema, columns)
        except (ColumnNotFoundError, SchemaError):
            return dict.fromkeys(columns)
        table = pa.Table.from_batches([statistics])
        ranges = statistics_ranges(table, columns)
        return {path: ranges.get(path) for path in columns}


class PartRows:
    """What an answer lists of the files of a part."""

    def __init__(self, part: FilePart) -> None:
        self._part = part
        files = part.block.files
        columns = [
            files["path"],
            files["size"],
            files["modification_time"],
            files["partition_values"].cast(PARTITION_VALUES),
            statistics_texts(
                part.block.load_statistics(), part.block.load_text, part.num_rows
            ),
            part.num_records,
        ]
        self._vectors = None if part.has_vectors is None else files[VECTOR]
        names = ROWS_SCHEMA.names[: len(columns)]
        self._rows = pa.RecordBatch.from_arrays(columns, names=names)
        lengths = pc.binary_length(self._rows["stats"]).fill_null(0)
        self._text_bytes = lengths.to_numpy().astype(np.int64)

    def split(self, rows: Rows) -> list[Rows]:
        """Cut a list of rows so that no piece has statistics beyond `BATCH_BYTES`.

        A row alone may be longer than that.
        """
        total = np.cumsum(self._text_bytes[rows])
        if not len(rows) or total[-1] <= BATCH_BYTES:
            return [rows]
        cuts = np.flatnonzero(np.diff(total // BATCH_BYTES)) + 1
        return np.split(rows, cuts)

    def take(self, rows: Rows, *, as_kept: bool = False) -> pa.RecordBatch:
        """Return some rows by `ROWS_SCHEMA`.

        Args:
            as_kept: Whether what is kept of lines stands for the columns that are not
                of `LINES_NAMES`.
        """
        wanted = pa.array(rows)
        kept = self._part.kept_columns if as_kept else None
        source = self._rows
        if kept is not None:
            source = source.select(LINES_NAMES)
            for name in kept.schema.names:
                source = source.append_column(name, kept[name])
        if kept is not None and len(rows) and (np.diff(rows) == 1).all():
            taken = source.slice(rows[0], len(rows))  # read once, so it is not copied
        else:
            taken = source.take(wanted)
        if self._vectors is None:
            vectors = pa.nulls(len(rows), DELETION_VECTOR)
        else:
            vectors = self._vectors.take(wanted)
        self._part.release()
        schema = taken.schema.append(ROWS_SCHEMA.field(VECTOR))
        return pa.RecordBatch.from_arrays([*taken.columns, vectors], schema=schema)


def _held_bytes(known: ColumnRange) -> int:
    bounds = int(known.low.nbytes) + int(known.high.nbytes)
    return bounds + known.all_null.nbytes + known.some_null.nbytes


def _one_batch(statistics: pa.Table) -> pa.RecordBatch:
    """Return statistics as one batch; a negative number of rows means unknown."""
    columns = {
        name: one_array(column)
        for name, column in zip(
            statistics.column_names, statistics.columns, strict=True
        )
    }
    records = columns["num_records"]
    columns["num_records"] = pc.if_else(
        pc.less(records, 0), pa.scalar(None, pa.int64()), records
    )
    arrays = list(columns.values())
    return pa.RecordBatch.from_arrays(arrays, schema=statistics.schema)
