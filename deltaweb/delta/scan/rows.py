"""The rows of a snapshot: which files are opened, and what is made of them.

Files are left out by partition values and statistics, row groups by their own
statistics; what is left is read batch by batch, given its partition values, filtered
and cut to the columns asked for. A limit ends all of that early.
"""

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import repeat
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DataFileRowsError, PredicateError
from deltaweb.delta.log.file_actions import NUM_RECORDS, VECTOR
from deltaweb.delta.protocol.column_path import ColumnPath, resolve_column
from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructType,
    arrow_schema,
    read_columns,
)
from deltaweb.delta.scan.column_ranges import partition_ranges, statistics_ranges
from deltaweb.delta.scan.data_file import MAX_BATCH_ROWS, DataFile, OpenFile
from deltaweb.delta.scan.live_rows import Fields, LiveRows
from deltaweb.delta.scan.predicate import (
    Expression,
    Predicate,
    predicate_columns,
    to_expression,
)
from deltaweb.delta.scan.pruning import (
    Ranges,
    ReadStatistics,
    UnopenedFiles,
    files_for_expression,
    files_for_predicate,
    judge,
)
from deltaweb.delta.scan.row_condition import Condition, RowCondition
from deltaweb.delta.values.data_values import TYPED_VARIANT
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)

DELETED_BY = "deleted_by"
FILES_AT_ONCE = 1_024
"""Partition values are typed for so many files at a time."""

CountFiles = Callable[[pa.Table], pa.Table]
"""Returns files with `NUM_RECORDS`, or as they are if finding it takes too long."""
ReadRows = Callable[[pa.Table], Iterator[pa.RecordBatch]]
"""Yields the live rows of files, in their order, by the table's schema."""


@dataclass(frozen=True, eq=False)
class RowSource:
    """What rows are read from.

    Attributes:
        files: path, partition_values (map<string, string>), a row a file; and
            deletion_vector, without which no row of any file is deleted. Of a file
            with a vector in `DELETED_BY` only live rows that it deletes are read. A
            file that has fewer rows than `NUM_RECORDS` says is not read.
        statistics: Reads typed statistics for skipping files; None for none.
        counted: Adds `NUM_RECORDS` to files; None if they have it, or need it not.
    """

    schema: StructType
    partition_columns: Sequence[str]
    files: pa.Table
    open_file: OpenFile
    statistics: ReadStatistics | None = None
    counted: CountFiles | None = None

    def with_typed_variants(self) -> Self:
        """Return a source whose columns of variants tell the types of their values."""
        fields = tuple(
            replace(column, data_type=TYPED_VARIANT)
            if column.data_type == PrimitiveType("variant")
            else column
            for column in self.schema.fields
        )
        return replace(self, schema=replace(self.schema, fields=fields))


@dataclass
class RowScan:
    """A reading of rows: iterate over it once for its batches.

    Attributes:
        files_scanned: Files opened so far; final when the iteration is over.
    """

    schema: pa.Schema
    files_total: int
    files_selected: int
    files_scanned: int = 0
    batches: Iterator[pa.RecordBatch] = field(default_factory=lambda: iter(()))

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches


def read_rows(
    source: RowSource,
    *,
    columns: Sequence[str] | None = None,
    predicate: Condition | None = None,
    limit: int | None = None,
) -> pa.Table:
    """Read rows into one table; arguments and errors are those of `iter_rows`."""
    scan = iter_rows(source, columns=columns, predicate=predicate, limit=limit)
    return pa.Table.from_batches(scan, scan.schema)


def iter_rows(
    source: RowSource,
    *,
    columns: Sequence[str] | None = None,
    predicate: Condition | None = None,
    limit: int | None = None,
) -> RowScan:
    """Read rows batch by batch.

    Args:
        columns: Names of the columns of the result, in its order; all for None. A
            dotted name reaches into structs.
        predicate: A condition, as a tree, as one of another language or as an Arrow
            expression over the logical names; rows for which it is true are in the
            result.

    Returns:
        The reading, which opens the first file when it is iterated over.
    """
    reader = _RowReader(source, _outputs(source.schema, columns), predicate)
    selected = reader.select(source)
    if limit is None and source.counted is not None:
        selected = source.counted(selected)
    scan = RowScan(reader.output_schema, source.files.num_rows, selected.num_rows)
    scan.batches = reader.read(selected, limit, scan)
    return scan


def row_reader(source: RowSource) -> ReadRows:
    """Return what reads all rows of files, for those who read file after file.

    What is asked of every file is worked out once.

    Args:
        source: What to read from; whatever its files are, others may be read.
    """
    reader = _RowReader(source, _outputs(source.schema, None), None)

    def read(files: pa.Table) -> Iterator[pa.RecordBatch]:
        count = files.num_rows
        return reader.read(files, None, RowScan(reader.output_schema, count, count))

    return read


def _outputs(schema: StructType, columns: Sequence[str] | None) -> list[ColumnPath]:
    if columns is None:
        return [(name,) for name in schema.names]
    return list(dict.fromkeys(resolve_column(schema, name) for name in columns))


class _RowReader:
    def __init__(
        self,
        source: RowSource,
        outputs: Sequence[ColumnPath],
        predicate: Condition | None,
    ) -> None:
        self.open_file = source.open_file
        self.outputs = outputs
        self.predicate = predicate
        self.condition: RowCondition | None = None
        self.expression: Expression | None = None
        self.tree: Predicate | None = None
        schema = source.schema
        tops = {path[0] for path in outputs}
        if isinstance(predicate, pc.Expression):
            tops |= _needed_columns(predicate, schema, tops)
            self.expression = predicate
        elif isinstance(predicate, RowCondition):
            tops |= set(predicate.names)
            self.condition = predicate
            self.tree = predicate.reach
        elif predicate is not None:
            self.tree = predicate
            tops |= {path[0] for path in predicate_columns(predicate)}
            self.expression = to_expression(predicate)
        partitions = partition_schema(schema, source.partition_columns)
        self.read_schema = schema.select(tuple(tops))
        self.arrow_schema = arrow_schema(self.read_schema)
        self.partitions = partitions.select(self.read_schema.names)
        self.data_schema = StructType(
            tuple(
                column
                for column in self.read_schema.fields
                if column.name not in partitions.names
            )
        )
        self.is_whole = outputs == [(name,) for name in self.arrow_schema.names]
        empty = self.filtered(pa.RecordBatch.from_pylist([], self.arrow_schema))
        self.output_schema = self.projected(empty).schema

    def filtered(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.condition is not None:
            return batch.filter(self.condition.holds(batch))
        if self.expression is None:
            return batch
        try:
            return batch.filter(self.expression)
        except (pa.ArrowException, TypeError) as error:
            reason = str(error).partition("\n")[0]
            raise PredicateError(reason=reason) from error

    def projected(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self.is_whole:
            return batch
        if not self.outputs:
            return batch.select([])  # which keeps its number of rows
        fields, columns = [], []
        for path in self.outputs:
            stored = batch.schema.field(path[0])
            column = batch.column(batch.schema.get_field_index(path[0]))
            for name in path[1:]:
                position = column.type.get_field_index(name)
                stored = pa.field(".".join(path), column.type.field(position).type)
                column = pc.struct_field(column, [position])
            fields.append(stored)
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))

    def select(self, source: RowSource) -> pa.Table:
        files = source.files
        if self.predicate is None or not files.num_rows:
            return files
        partitions = self.partition_values(files)
        if isinstance(self.predicate, pc.Expression):
            mask = files_for_expression(self.predicate, partitions, self.arrow_schema)
            return files.filter(pa.array(mask))
        if self.condition is not None:
            facts = _facts_of(partitions, source.statistics)
            judged = judge(self.condition.parts, facts)
            if all(one.is_exact for one in judged):
                self.condition = None  # every row of the files left is in the result
            masks = (one.by_statistics for one in judged)
            return files.filter(pa.array(reduce(operator.and_, masks)))
        if self.tree is not None:
            mask = files_for_predicate(self.tree, partitions, source.statistics)
            return files.filter(pa.array(mask))
        return files

    def partition_values(self, files: pa.Table) -> pa.StructArray:
        values = files.column("partition_values")
        typed = type_partition_values(values, self.partitions, files.column("path"))
        return typed.chunk(0)

    def read(
        self, files: pa.Table, limit: int | None, scan: RowScan
    ) -> Iterator[pa.RecordBatch]:
        """Read the files in order, as long as rows are wanted."""
        remaining = limit
        for start in range(0, files.num_rows, FILES_AT_ONCE):
            some = files.slice(start, FILES_AT_ONCE)
            partitions = self.partition_values(some)
            for path, values, num_records, *vectors in zip(
                some.column("path").to_pylist(),
                partitions,
                _known(some, NUM_RECORDS),
                _known(some, VECTOR),
                _known(some, DELETED_BY),
                strict=True,
            ):
                if remaining == 0:
                    return
                scan.files_scanned += 1
                for batch in self.file_batches(
                    path, values, vectors, num_records, remaining
                ):
                    yield batch
                    if remaining is not None:
                        remaining -= batch.num_rows

    def file_batches(
        self,
        path: str,
        partition: pa.StructScalar,
        vectors: Sequence[Fields | None],
        num_records: int | None,
        limit: int | None,
    ) -> Iterator[pa.RecordBatch]:
        """Read one file, at most `limit` of its live rows."""
        vector, deleted_by = vectors
        remaining = limit
        with DataFile(path, self.open_file) as file:
            if num_records is not None and file.metadata.num_rows < num_records:
                reason = (
                    f"it has {file.metadata.num_rows:,} rows, but the log says"
                    f" {num_records:,}"
                )
                raise DataFileRowsError(path=path, reason=reason)
            live = LiveRows.of(file, vector, self.open_file, deleted_by)
            for row_group in file.row_groups(self.data_schema, self.tree):
                for num_rows, columns in file.batches(
                    self.data_schema, row_group, self.max_rows(limit), live.wanted
                ):
                    rows = self.projected(
                        self.filtered(self.whole(num_rows, columns, partition))
                    )
                    if remaining is not None:
                        rows = rows.slice(0, remaining)
                        remaining -= rows.num_rows
                    if rows.num_rows:
                        yield rows
                    if remaining == 0:
                        return

    def max_rows(self, limit: int | None) -> int:
        if limit is None or self.predicate is not None:
            return MAX_BATCH_ROWS
        return min(limit, MAX_BATCH_ROWS)

    def whole(
        self, num_rows: int, found: dict[str, pa.Array], partition: pa.StructScalar
    ) -> pa.RecordBatch:
        """Some rows with their partition columns, in the order of the schema."""
        if not self.arrow_schema.names:
            rows = pa.repeat(pa.scalar({}, pa.struct([])), num_rows)
            return pa.RecordBatch.from_struct_array(rows)
        columns = [
            found[name] if name in found else pa.repeat(partition[name], num_rows)
            for name in self.arrow_schema.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.arrow_schema)


def _facts_of(
    partitions: pa.StructArray, statistics: ReadStatistics | None
) -> UnopenedFiles:
    names = [column.name for column in partitions.type]

    def values(wanted: Collection[str]) -> pa.StructArray:
        columns = {name: partitions.field(name) for name in names if name in wanted}
        if not columns:
            return pa.array([{}] * len(partitions), pa.struct([]))
        return pa.StructArray.from_arrays([*columns.values()], names=[*columns])

    def ranges(paths: list[ColumnPath]) -> Ranges:
        return {} if statistics is None else statistics_ranges(statistics(paths), paths)

    return UnopenedFiles(
        num_files=len(partitions),
        partition_columns=names,
        partitions=values,
        partition_ranges=lambda _: partition_ranges(partitions),
        statistics_ranges=ranges,
    )


def _needed_columns(
    expression: Expression, schema: StructType, known: set[str]
) -> set[str]:
    """The columns that an Arrow expression cannot be bound without."""
    readable = read_columns(schema)
    whole = arrow_schema(readable)
    needed = set(known)
    for column in readable.fields:
        if column.name in needed:
            continue
        without = whole.remove(whole.get_field_index(column.name))
        try:
            without.empty_table().filter(expression)
        except (pa.ArrowException, TypeError):
            needed.add(column.name)
    return needed


def _known(files: pa.Table, column: str) -> Iterable[Any]:
    """Return the values of a column; None for each file without it."""
    if column not in files.column_names:
        return repeat(None, files.num_rows)
    values = files.column(column)
    if values.null_count == files.num_rows:
        return repeat(None, files.num_rows)
    found: list[Any] = values.to_pylist()
    return found
