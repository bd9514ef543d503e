"""The files of a version, each with the reason for which it is read or skipped."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.scan.pruning import UnopenedFiles
from deltaweb.delta.scan.skipping import ColumnRange
from deltaweb.index.query.file_part import FilePart, Rows
from deltaweb.index.query.funnel import (
    NOT_LIVE,
    STATISTICS,
    Codes,
    Explanation,
    facts_of,
)

EXPLAINED: Final = pa.schema(
    {
        "path": pa.string(),  # as in the log
        "size": pa.int64(),
        "num_records": pa.int64(),  # deleted ones too; null if unknown
        "reason": pa.int16(),  # a row of the reasons
        "why": pa.string(),
    }
)
"""A row a file."""
FILES_AT_ONCE: Final = 4_096
MAX_TEXT: Final = 60
"""Characters of a value that are shown."""


def explained_files(
    explanation: Explanation,
    parts: Iterable[FilePart],
    *,
    reasons: Sequence[int] | None = None,
    first: int = 0,
    limit: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield files with their reasons, in the order of the version.

    Args:
        parts: Those that were explained.
        reasons: Rows of its reasons whose files are listed; None for every file.
        first: How many of these files to leave out.
        limit: How many files to yield at most; None for all.

    Returns:
        Batches by `EXPLAINED`.
    """
    for part, codes in zip(parts, explanation.codes, strict=True):
        if limit == 0:
            return
        rows = _rows(codes, reasons)
        skipped = min(first, len(rows))
        first -= skipped
        rows = rows[skipped:] if limit is None else rows[skipped : skipped + limit]
        limit = None if limit is None else limit - len(rows)
        for start in range(0, len(rows), FILES_AT_ONCE):
            some = rows[start : start + FILES_AT_ONCE]
            yield _batch(explanation, part, codes, some)
        part.release()


def _rows(codes: Codes, reasons: Sequence[int] | None) -> Rows:
    wanted = codes != NOT_LIVE if reasons is None else np.isin(codes, reasons)
    return np.flatnonzero(wanted)


def _batch(
    explanation: Explanation,
    part: FilePart,
    codes: Codes,
    rows: Rows,
) -> pa.RecordBatch:
    question = explanation.question
    taken, places = codes[rows], pa.array(rows)
    facts = facts_of(part, question.named_schema, question.partition_columns)
    why = np.full(len(rows), None, object)
    for code in np.unique(taken).tolist():
        chosen = taken == code
        texts = _reasons(explanation, facts, code, pa.array(rows[chosen]))
        why[chosen] = texts.to_numpy(zero_copy_only=False)
    columns = [
        part.paths.take(places),
        part.sizes.take(places),
        part.num_records.take(places),
        pa.array(taken),
        pa.array(why, pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=EXPLAINED)


def _reasons(
    explanation: Explanation, facts: UnopenedFiles, code: int, rows: pa.Array
) -> pa.Array:
    """Say why some files of one reason are read or skipped, with their values."""
    question = explanation.question
    reason = explanation.reasons.slice(code, 1).to_pylist()[0]
    if reason["part"] is None:
        parts = [part for part in question.parts if part.obstacle is None]
    elif reason["step"] is None:
        return pa.repeat(reason["why"], len(rows))
    else:
        parts = [question.parts[reason["part"]]]
    columns = sorted({path for part in parts for path in part.columns})
    if reason["step"] == STATISTICS:
        columns = [path for path in columns if path[0] not in facts.partition_columns]
    texts = [text for path in columns if (text := _text(facts, path, rows)) is not None]
    if not texts:
        return pa.repeat(reason["why"], len(rows))
    values = pc.binary_join_element_wise(*texts, ", ")
    if reason["step"] is None:
        return values
    said = f" so {question.parts[reason['part']].text} is not true"
    return pc.binary_join_element_wise(values, said, ",")


def _text(facts: UnopenedFiles, path: ColumnPath, rows: pa.Array) -> pa.Array | None:
    """Say what is known of a column in some files; None if nothing is of any."""
    ranges = facts.partition_ranges([path]) or facts.statistics_ranges([path])
    known = ranges.get(path)
    return None if known is None else range_texts(".".join(path), known, rows)


def range_texts(name: str, known: ColumnRange, rows: pa.Array) -> pa.Array:
    """Say between which values a column is in some files, in words."""
    low, high = (_shown(bound.take(rows)) for bound in (known.low, known.high))
    all_null = pa.array(known.all_null).take(rows)
    one = pc.binary_join_element_wise(name, low, " = ")
    between = pc.binary_join_element_wise(
        pc.binary_join_element_wise(name, low, " from "), high, " to "
    )
    is_one = pc.fill_null(pc.equal(low, high), fill_value=False)
    found = pc.if_else(is_one, one, between)
    found = pc.if_else(all_null, f"{name} is NULL", found)
    return pc.fill_null(found, f"{name} unknown")


def _shown(values: pa.Array) -> pa.Array:
    """Return values as texts, long ones by their beginnings."""
    if pa.types.is_null(values.type) or pa.types.is_binary(values.type):
        return pa.nulls(len(values), pa.string())
    texts = values.cast(pa.string())
    is_long = pc.greater(pc.utf8_length(texts), MAX_TEXT)
    if not pc.any(is_long).as_py():
        return texts
    begun = pc.utf8_slice_codeunits(texts, 0, MAX_TEXT)
    return pc.if_else(is_long, pc.binary_join_element_wise(begun, "…", ""), texts)
