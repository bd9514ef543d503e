"""Which files of a version hold rows that a condition is true for.

Files are left out by what the log says of them: a condition is read as clients' hints
are, so that none is left out that Spark would find a row in. The rows of what is left
are looked at, only the columns that the condition names.
"""

from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.conditions.hints import reach_of
from deltaweb.delta.errors import DataFileRowsError
from deltaweb.delta.log.file_actions import NUM_RECORDS, VECTOR
from deltaweb.delta.scan.predicate import Predicate
from deltaweb.delta.scan.pruning import files_for_predicate, files_where_true
from deltaweb.delta.scan.rows import ReadRows
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.partition_values import (
    partition_schema,
    type_partition_values,
)
from deltaweb.delta.values.statistics.record_counts import live_records
from deltaweb.delta.writing.transaction import EVERYTHING_READ, TableRead
from deltaweb.expressions.compiler import parse_expression
from deltaweb.expressions.condition import SQLCondition
from deltaweb.expressions.errors import ExpressionError, ExpressionValueError
from deltaweb.expressions.session.dependence import Dependence
from deltaweb.expressions.session.settings import OURS, SessionSettings

MAX_KEPT_BYTES: Final = 64 << 20
"""Of a file's rows before the first that matches, which are not read twice."""


class JudgedRows(NamedTuple):
    """Some rows, and where a condition is true for them."""

    rows: pa.RecordBatch
    holds: pa.BooleanArray


@dataclass(frozen=True, eq=False)
class Matches:
    """Files with rows that a condition is true for.

    Attributes:
        whole: Files of which every row matches, by their partition values; rows of
            `Snapshot.files`, with `NUM_RECORDS`.
        partly: Files that may hold such rows, and others.
        read: What of the version this depends on.
        condition: What rows are judged by; None where all of them match, and where
            another engine judges them.
    """

    whole: pa.Table
    partly: pa.Table
    read: TableRead
    condition: SQLCondition | None = None


def find_matches(
    snapshot: Snapshot,
    where: str | None,
    *,
    is_evaluated_here: bool = True,
    settings: SessionSettings = OURS,
) -> Matches:
    """Find the files that a condition is about, without opening one.

    Args:
        is_evaluated_here: Whether rows are looked at in process; if another engine
            does, no condition is refused.
        settings: Those by which the condition is evaluated. Here that is its zone;
            for another engine, files are chosen by nothing that depends on them.
    """
    files = snapshot.counted(snapshot.files)
    nothing = files.slice(0, 0)
    if where is None:
        return Matches(files, nothing, EVERYTHING_READ)
    try:
        parsed = parse_expression(where)
    except ExpressionError:
        if is_evaluated_here:
            raise
        return Matches(nothing, files, EVERYTHING_READ)
    condition, by_partition = None, None
    if is_evaluated_here:
        condition = SQLCondition(parsed, snapshot.schema, settings.own_zone)
        by_partition = _by_partition(snapshot, condition)
        predicate = condition.reach
    else:
        known = Dependence(snapshot.schema, settings).without(parsed)
        if known is None:
            return Matches(nothing, files, EVERYTHING_READ)
        independent, is_whole = known
        if is_whole:
            with suppress(ExpressionError, ExpressionValueError):  # Spark says so
                judged = SQLCondition(independent, snapshot.schema)
                by_partition = _by_partition(snapshot, judged)
        predicate = reach_of(independent, snapshot.schema)
    if by_partition is not None:
        whole = files.filter(by_partition)
        return Matches(whole, nothing, _read(predicate, whole), condition)
    if predicate is not None:
        files = files_within(snapshot, predicate)
    return Matches(nothing, files, _read(predicate, files), condition)


def files_within(snapshot: Snapshot, predicate: Predicate) -> pa.Table:
    """Return the files that may hold a row that a condition is true for.

    Returns:
        Rows of `Snapshot.files`, with `NUM_RECORDS`.
    """
    mask = files_for_predicate(predicate, _partitions(snapshot), snapshot.statistics)
    return snapshot.counted(snapshot.files).filter(pa.array(mask))


def _read(predicate: Predicate | None, files: pa.Table) -> TableRead:
    if predicate is None:
        return EVERYTHING_READ
    return TableRead(predicate=predicate, files=files)


def _partitions(snapshot: Snapshot) -> pa.StructArray:
    columns = partition_schema(snapshot.schema, snapshot.metadata.partition_columns)
    files = snapshot.files
    typed = type_partition_values(files["partition_values"], columns, files["path"])
    return typed.chunk(0)


def _by_partition(
    snapshot: Snapshot, condition: SQLCondition
) -> pa.BooleanArray | None:
    """Return the files that match by their partition values; None for other columns."""
    if not condition.names <= set(snapshot.metadata.partition_columns):
        return None
    return files_where_true(condition, _partitions(snapshot))


def rows_with_matches(
    read_rows: ReadRows, file: pa.Table, condition: SQLCondition | None
) -> Iterator[JudgedRows] | None:
    """Return the rows of a file, each batch with where a condition is true.

    A file is read once: what comes before its first match is kept, unless that is
    much; then it is read again from its beginning. Without a condition every row
    matches.

    Returns:
        All of its rows; None if the condition is true for none of them.
    """
    judged = judged_rows(read_rows, file, condition)
    kept: list[JudgedRows] = []
    kept_bytes = 0
    for one in judged:
        if one.holds.true_count:
            if kept_bytes > MAX_KEPT_BYTES:
                judged.close()
                return judged_rows(read_rows, file, condition)
            return chain(kept, [one], judged)
        kept_bytes += one.rows.nbytes
        kept = [*kept, one] if kept_bytes <= MAX_KEPT_BYTES else []
    return None


def judged_rows(
    read_rows: ReadRows, file: pa.Table, condition: SQLCondition | None
) -> Generator[JudgedRows, None, None]:
    """Yield the rows of a file, and where a condition is true: everywhere for None."""
    for rows in read_rows(file):
        if condition is None:
            holds = pa.array(np.ones(rows.num_rows, np.bool_))
        else:
            holds = condition.holds(rows)
        yield JudgedRows(rows, holds)


def each_file(*files: pa.Table) -> Iterator[pa.Table]:
    """Yield files that are to be opened, one at a time."""
    for some in files:
        for position in range(some.num_rows):
            yield some.slice(position, 1)


def row_counts(snapshot: Snapshot, files: pa.Table) -> pa.ChunkedArray:
    """Return the rows of each file, by reading it where the log does not say."""
    if not files.num_rows:
        return pa.chunked_array([], pa.int64())
    numbers = live_records(snapshot.counted(files)[NUM_RECORDS], files[VECTOR])
    if not numbers.null_count:
        return numbers
    counts = [
        sum(rows.num_rows for rows in snapshot.file_rows(file))
        if count is None
        else count
        for file, count in zip(each_file(files), numbers.to_pylist(), strict=True)
    ]
    return pa.chunked_array([pa.array(counts, pa.int64())])


def check_all_read(files: pa.Table, num_read: int) -> None:
    """Check that no fewer rows were read than the log says that files have.

    Args:
        files: Rows of `Snapshot.files`, with `NUM_RECORDS` if that is known.
        num_read: The live rows that were read of them.

    Raises:
        DataFileRowsError: If there were fewer: then no file of them may go.
    """
    if NUM_RECORDS not in files.column_names:
        return
    live = live_records(files[NUM_RECORDS], files[VECTOR])
    wanted = pc.sum(live, skip_nulls=False).as_py()
    if wanted is not None and num_read < wanted:
        more = f", with {files.num_rows - 1:,} others," if files.num_rows > 1 else ""
        reason = f"{num_read:,} rows of it{more} were read, and the log says {wanted:,}"
        raise DataFileRowsError(path=files["path"][0].as_py(), reason=reason)


def count_rows(snapshot: Snapshot, files: pa.Table) -> int:
    """Return how many rows files hold together."""
    return pc.sum(row_counts(snapshot, files)).as_py() or 0
