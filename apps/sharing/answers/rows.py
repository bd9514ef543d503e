"""The rows of a version as a recipient is offered it: of the files that it would get.

Rows are read from files that `classify` judged, so a row or a column that a rule hides
is not there to be compared, sorted or counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from apps.sharing.access.grants.prepared import store_of
from apps.sharing.answers.vacuumed import check_files
from apps.sharing.models import SharedTable
from deltaweb.delta.log.file_actions import VECTOR, files_of_block
from deltaweb.delta.protocol.schema import StructType, read_columns
from deltaweb.delta.scan.rows import RowSource, iter_rows
from deltaweb.delta.values.whole import exact_sum
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.file_selection import FileSelection, SelectedPart
from deltaweb.index.query.restricted_version import PreparedPart
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.errors import FileOutsideTableError

_COLUMNS = ["path", "size", VECTOR, "partition_values"]


@dataclass(slots=True)
class OfferedRows:
    """Rows that are read file after file; iterate over it once.

    Attributes:
        schema: Of the batches.
        size_bytes: Of the files that were opened so far.
        num_files: How many they are.
    """

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    size_bytes: int = 0
    num_files: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches


def readable_columns(schema: StructType) -> tuple[str, ...]:
    """Return the names of the columns whose values are read here."""
    return tuple(field.name for field in read_columns(schema).fields)


def offered_rows(
    shared: SharedTable,
    opened: SharedVersion,
    *,
    columns: Sequence[str],
    condition: SQLCondition | None = None,
) -> OfferedRows:
    """Return the rows of a version that a condition is true for.

    Args:
        opened: The version as it is offered under a rule.
        columns: Names of the columns that are read.
        condition: A condition over the schema of `opened`; every row for None.

    Raises:
        DeltaError: If the version may not be read, or a file of it does not read.
    """
    if opened.refusal is not None:
        raise opened.refusal
    reach = None if condition is None else condition.reach
    chosen = [
        SelectedPart(part, opened.matching(part, live, [reach] if reach else []))
        for part, live in opened.live_parts()
    ]
    _check(shared, opened, opened.selection(chosen))
    empty = _source(shared, opened, None)
    schema = iter_rows(empty, columns=columns).schema
    rows = OfferedRows(schema, iter(()))
    rows.batches = _read(rows, (shared, opened), chosen, columns, condition)
    return rows


def selected_bytes(opened: SharedVersion, condition: SQLCondition | None) -> int:
    """Return the size of the files that a reading of all rows would open."""
    reach = None if condition is None else condition.reach
    return opened.select(predicates=[reach] if reach else []).size_bytes


def _check(
    shared: SharedTable, opened: SharedVersion, selection: FileSelection
) -> None:
    if selection.outside is not None:
        raise FileOutsideTableError(table=shared.full_name, path=selection.outside)
    check_files(shared.table, opened.version, selection)


def _read(
    rows: OfferedRows,
    offered: tuple[SharedTable, SharedVersion],
    chosen: Sequence[SelectedPart],
    columns: Sequence[str],
    condition: SQLCondition | None,
) -> Iterator[pa.RecordBatch]:
    for one in chosen:
        if not one.mask.any():
            continue
        files = one.part.block.files.filter(pa.array(one.mask))
        table = pa.Table.from_batches([files_of_block(files)]).select(_COLUMNS)
        for place in range(table.num_rows):  # so that a reading that stops says where
            some = table.slice(place, 1)
            rows.num_files += 1
            rows.size_bytes += exact_sum(some["size"].combine_chunks())
            source = _source(*offered, some, is_prepared=_is_prepared(one))
            yield from iter_rows(source, columns=columns, predicate=condition)


def _is_prepared(one: SelectedPart) -> bool:
    return isinstance(one.part, PreparedPart)


def _source(
    shared: SharedTable,
    opened: SharedVersion,
    files: pa.Table | None,
    *,
    is_prepared: bool = False,
) -> RowSource:
    """Return what rows of some files are read from; of none for None."""
    none = pa.table({"path": pa.array([], pa.string())})
    of_table = opened.snapshot.row_source(none if files is None else files)
    return RowSource(
        schema=opened.schema,
        partition_columns=opened.metadata.partition_columns,
        files=of_table.files,
        open_file=(
            store_of(shared.id).open_data_file if is_prepared else of_table.open_file
        ),
    )
