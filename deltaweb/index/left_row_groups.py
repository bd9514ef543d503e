"""The row groups that readers read of the files that a condition leaves.

A reader opens each of these files, and skips row groups by the statistics of the
footer (`delta.scan.row_groups`). A file of one row group is read whole.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.data_file import DataFile, OpenFile
from deltaweb.delta.scan.live_rows import LiveRows
from deltaweb.delta.scan.predicate import And, Predicate
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.funnel import READ, Amount, Explanation
from deltaweb.index.query.questions import Question

MAX_FOOTERS: Final = 10_000
"""Files whose footers are read; a condition that leaves more is refused."""
AT_ONCE: Final = 8
LEFT_GROUPS: Final = pa.schema(
    {
        "path": pa.string(),  # as in the log
        "row_groups": pa.int64(),
        "row_groups_left": pa.int64(),
        "bytes_left": pa.int64(),
        "rows_left": pa.int64(),  # live ones
    }
)
"""A row a file that the statistics leave."""


class TooManyFootersError(DeltaError, code="too-many-footers"):
    """A condition leaves more files than footers are read of."""

    num_files: int
    limit: int
    message = (
        "The condition leaves {num_files:,} files, and row groups are counted in at"
        " most {limit:,}."
    )
    hint = "Narrow the condition."


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftRowGroups:
    """The row groups that may hold a matching row.

    Attributes:
        amount: The files that have one, and the bytes and live rows of these groups.
        num_groups: Their count.
        num_all_groups: The row groups of all files that the statistics leave.
    """

    amount: Amount
    num_groups: int
    num_all_groups: int


def left_row_groups(
    found: Explanation,
    parts: Iterable[FilePart],
    open_file: OpenFile,
    on_file: Callable[[int, int], None] | None = None,
) -> pa.Table:
    """Read the footers of the files that a condition leaves.

    Args:
        parts: Those that were explained.
        on_file: Called with the number of files that are done, and of all; what it
            raises ends the work.

    Returns:
        `LEFT_GROUPS`, in the order of the version.

    Raises:
        TooManyFootersError: If more than `MAX_FOOTERS` files are left.
        DataFileError: If a file is missing or damaged, as a reader would.
    """
    total = found.funnel.after_statistics.num_files
    if total > MAX_FOOTERS:
        raise TooManyFootersError(num_files=total, limit=MAX_FOOTERS)
    predicate, schema = _reach(found.question), _data_schema(found.question)
    rows = []
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="footers") as pool:
        of_file = partial(_of_file, schema, predicate, open_file)
        try:
            for row in pool.map(of_file, _left(found, parts)):
                rows.append(row)
                if on_file is not None:
                    on_file(len(rows), total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    columns = zip(*rows, strict=True) if rows else [[]] * len(LEFT_GROUPS)
    return pa.table([[*column] for column in columns], schema=LEFT_GROUPS)


def added_up(groups: pa.Table) -> LeftRowGroups:
    """Add up the row groups of files, by `LEFT_GROUPS`."""
    sums = {
        name: pc.sum(groups[name], min_count=0).as_py()
        for name in LEFT_GROUPS.names[1:]
    }
    return LeftRowGroups(
        amount=Amount(
            num_files=pc.sum(pc.greater(groups["row_groups_left"], 0)).as_py() or 0,
            size_bytes=sums["bytes_left"],
            num_records=sums["rows_left"],
        ),
        num_groups=sums["row_groups_left"],
        num_all_groups=sums["row_groups"],
    )


class _LeftFile(NamedTuple):
    path: str
    size_bytes: int
    vector: Mapping[str, Any] | None


def _left(found: Explanation, parts: Iterable[FilePart]) -> Iterator[_LeftFile]:
    """Yield the files that a reader opens."""
    reasons = found.funnel.reasons_of(READ)
    for part, codes in zip(parts, found.codes, strict=True):
        rows = pa.array(np.flatnonzero(np.isin(codes, reasons)))
        columns = [part.paths.take(rows), part.sizes.take(rows)]
        if part.has_vectors is None:
            vectors: Sequence[Any] = [None] * len(rows)
        else:
            vectors = part.block.files[VECTOR].take(rows).to_pylist()
        part.release()
        lists = (column.to_pylist() for column in columns)
        yield from map(_LeftFile, *lists, vectors)


def _of_file(
    schema: StructType,
    predicate: Predicate | None,
    open_file: OpenFile,
    left: _LeftFile,
) -> tuple[str, int, int, int, int]:
    """Return a row of `LEFT_GROUPS`."""
    with DataFile(left.path, open_file) as file:
        groups = file.row_groups(schema, predicate)
        num_all, first = file.metadata.num_row_groups, file.first_rows
        size_bytes = left.size_bytes
        if len(groups) < num_all:
            sizes = file.row_group_bytes()
            size_bytes = sum(sizes[group] for group in groups)
        live, num_rows = LiveRows.of(file, left.vector, open_file), 0
        for group in groups:
            count = first[group + 1] - first[group]
            wanted = live.wanted(first[group], count)
            num_rows += count if wanted is None else wanted.true_count
    return left.path, num_all, len(groups), size_bytes, num_rows


def _reach(question: Question) -> Predicate | None:
    """Return what a reader compares with the statistics of row groups."""
    reached = tuple(part.reached for part in question.parts if part.reached)
    return And(reached) if reached else None


def _data_schema(question: Question) -> StructType:
    """Return the named columns that data files have."""
    return StructType(
        tuple(
            column
            for column in question.named_schema.fields
            if column.name not in question.partition_columns
        )
    )
