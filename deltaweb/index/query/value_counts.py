"""How many rows of a version match a condition, and have each partition value.

Partition values are typed and exact, so the rows of a file all match a condition over
partition columns alone, or none of them does. For other columns the statistics of files
leave more files than match: a count is then the most that there can be.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.protocol.schema import StructField, StructType
from deltaweb.delta.scan.pruning import judge
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.values.statistics.record_counts import live_records
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.funnel import facts_of
from deltaweb.index.query.partition_match import rows_where_true
from deltaweb.index.query.questions import Question, QuestionPart
from deltaweb.index.query.shared_version import LivePart

VALUE: Final = "value"
ROWS: Final = "rows"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingFiles:
    """The files that may hold rows for which a condition is true.

    Attributes:
        parts: These files, as marks of the rows of parts.
        is_exact: Whether the condition is true for every row of them.
    """

    parts: Sequence[LivePart]
    is_exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCounts:
    """The values of a partition column.

    Attributes:
        values: `value`, by the type of the column, and `rows`; the most rows first,
            and the smaller value first among equals. `rows` is null for a value if a
            file with it does not say how many rows it has.
        is_exact: Whether the counts are those of the rows that match. Otherwise each is
            the most that there can be.
    """

    values: pa.Table
    is_exact: bool


def matching_files(
    question: Question | None, parts: Iterable[LivePart]
) -> MatchingFiles:
    """Return the files that may hold rows for which a condition is true.

    Args:
        question: The condition; None for every row.
        parts: The files of the version, with marks of the live ones.
    """
    if question is None:
        return MatchingFiles(parts=[*parts], is_exact=True)
    found, is_exact = [], True
    for part, live in parts:
        facts = facts_of(part, question.named_schema, question.partition_columns)
        left = live.copy()
        for judged in judge(question.parts, facts, among=live):
            left &= judged.by_partitions & judged.by_statistics
        for asked in question.parts:
            known = _where_true(part, question, asked)
            is_exact = is_exact and known is not None
            if known is not None:
                left &= known
        found.append((part, left))
        part.release()
    return MatchingFiles(parts=found, is_exact=is_exact)


def count_rows(files: MatchingFiles) -> int | None:
    """Return the number of rows of these files; None if a file does not say it."""
    total = 0
    for part, mask in files.parts:
        records = _records(part)
        if not mask.all():
            records = records.filter(pa.array(mask))
        if records.null_count:
            return None
        total += exact_sum(records)
    return total


def count_values(files: MatchingFiles, column: StructField) -> ValueCounts:
    """Return the values of a partition column in these files, with their rows.

    Raises:
        KeyError: A value of the column is not of its type.
    """
    pieces = [_counted(part, mask, column) for part, mask in files.parts if mask.any()]
    if not pieces:
        empty = pa.table({VALUE: pa.nulls(0), ROWS: pa.nulls(0, pa.int64())})
        return ValueCounts(values=empty, is_exact=files.is_exact)
    sums = (
        pa.concat_tables(pieces)
        .group_by(VALUE, use_threads=False)
        .aggregate([(ROWS, "sum"), ("unknown", "sum")])
    )
    known = pc.equal(sums["unknown_sum"], 0)
    values = pa.table(
        {VALUE: sums[VALUE], ROWS: pc.if_else(known, sums["rows_sum"], None)}
    )
    order = [(ROWS, "descending"), (VALUE, "ascending")]
    return ValueCounts(values=values.sort_by(order), is_exact=files.is_exact)


def _counted(part: FilePart, mask: Mask, column: StructField) -> pa.Table:
    typed = part.partition(column)
    if typed.bad is not None and (typed.bad & mask).any():
        raise KeyError(column.name)
    values, records = typed.values, _records(part)
    if not mask.all():
        chosen = pa.array(mask)
        values, records = values.filter(chosen), records.filter(chosen)
    encoded = values.dictionary_encode(null_encoding="encode")
    codes = encoded.indices.to_numpy()
    counts = pc.fill_null(records, 0).to_numpy()
    length = len(encoded.dictionary)
    unknown = records.is_null().to_numpy(zero_copy_only=False)
    sums = np.zeros(length, np.int64)
    np.add.at(sums, codes, counts)
    return pa.table(
        {
            VALUE: encoded.dictionary,
            ROWS: sums,
            "unknown": np.bincount(codes[unknown], minlength=length),
        }
    )


def _records(part: FilePart) -> pa.Array:
    records = part.num_records
    if part.has_vectors is not None:
        records = live_records(records, part.block.files[VECTOR])
    return records


def _where_true(part: FilePart, question: Question, asked: QuestionPart) -> Mask | None:
    """Mark the files for whose rows a part of a condition is true.

    Returns:
        None if partition values alone do not decide it.
    """
    fields = _fields(question.schema, asked)
    if asked.condition is None or not question.partition_columns.issuperset(
        asked.names
    ):
        return None
    typed = {field.name: part.partition(field) for field in fields}
    if any(one.bad is not None for one in typed.values()):
        return None
    values = {name: one.values for name, one in typed.items()}
    return rows_where_true(asked.condition, values, part.num_rows)


def _fields(schema: StructType, asked: QuestionPart) -> list[StructField]:
    found = (schema.find(name) for name in sorted(asked.names))
    return [field for field in found if field is not None]
