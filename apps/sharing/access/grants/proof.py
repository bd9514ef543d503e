"""A proof of what recipients get: it is read, and rows that are outside are counted."""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from apps.sharing.access.grants.offered import RuledVersion
from apps.sharing.access.grants.prepared import path_of, store_of
from apps.sharing.models import PreparedFile, SharedTable
from deltaweb.delta.log.file_actions import PARTITION_VALUES, VECTOR
from deltaweb.delta.scan.rows import RowSource, iter_rows
from deltaweb.delta.values.whole import exact_sum
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.classification import ClassifiedPart
from deltaweb.index.query.shared_version import SharedVersion


def rows_outside(shared: SharedTable, ruled: RuledVersion) -> int:
    """Count rows that a recipient is handed out, and that a rule does not show.

    Every file is read as a recipient would read it, whatever was said of it: of those
    that are signed also the rows that a deletion vector deletes. All rows count of a
    rewritten file with a column that is hidden.

    Args:
        ruled: A version under the rule, all of it ready.
    """
    condition = ruled.bound.files.condition
    outside = signed_rows_outside(ruled.version, ruled.classified, condition)
    columns = {column.stored_name for column in ruled.bound.schema.fields}
    is_seen = condition is None or condition.names <= set(ruled.bound.schema.names)
    for file in ruled.files():
        if not file.num_rows:
            continue
        found = _columns_of(shared, file)
        if not found <= columns:
            outside += file.num_rows
        elif condition is not None and is_seen:
            outside += _not_true(_rewritten(shared, ruled, file), condition)
    return outside


def signed_rows_outside(
    version: SharedVersion,
    classified: Iterable[ClassifiedPart],
    condition: SQLCondition | None,
) -> int:
    """Count rows of files that are handed out as they are that a rule does not show.

    Args:
        condition: The condition; every row may be seen without one.
    """
    if condition is None:
        return 0
    return sum(_not_true(one, condition) for one in _signed(version, classified))


def num_signed_rows(classified: Iterable[ClassifiedPart]) -> int | None:
    """Count the rows of files that are handed out as they are, as the log says.

    Returns:
        None if the log does not say it of a file. Deleted rows do not count.
    """
    total = 0
    for one in classified:
        signed = pa.array(one.signed)
        numbers = one.part.num_records.filter(signed)
        if numbers.null_count:
            return None
        rows = exact_sum(numbers)
        vectors = one.part.block.files[VECTOR].filter(signed)
        if vectors.null_count < len(vectors):
            deleted = pc.struct_field(vectors, "cardinality")
            rows -= exact_sum(deleted.fill_null(0))
        total += max(0, rows)
    return total


def _signed(
    version: SharedVersion, classified: Iterable[ClassifiedPart]
) -> Iterator[RowSource]:
    for part in classified:
        files = part.part.block.files.filter(pa.array(part.signed))
        if files.num_rows:
            table = pa.Table.from_batches([files]).drop_columns([VECTOR])
            place = table.schema.get_field_index("partition_values")
            values = table.column(place).cast(PARTITION_VALUES)
            table = table.set_column(place, "partition_values", values)
            yield version.snapshot.row_source(table)


def _rewritten(
    shared: SharedTable, ruled: RuledVersion, file: PreparedFile
) -> RowSource:
    values = [list(file.partition_values.items())]
    files = pa.table(
        {
            "path": [path_of(file.key)],
            "partition_values": pa.array(values, PARTITION_VALUES),
        }
    )
    return RowSource(
        schema=ruled.bound.schema,
        partition_columns=ruled.bound.metadata.partition_columns,
        files=files,
        open_file=store_of(shared.id).open_data_file,
    )


def _not_true(source: RowSource, condition: SQLCondition) -> int:
    """Count the rows for which a condition is false or unknown."""
    names = sorted(condition.names) or source.schema.names[:1]
    return sum(
        batch.num_rows - condition.holds(batch).true_count
        for batch in iter_rows(source, columns=names)
    )


def _columns_of(shared: SharedTable, file: PreparedFile) -> set[str]:
    with store_of(shared.id).open_data_file(path_of(file.key)) as opened:
        return set(pq.ParquetFile(opened).schema_arrow.names)
