"""The files of a version, each with the reason for which it is read or skipped."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.protocol.column_path import ColumnPath, column_field
from deltaweb.delta.protocol.schema import arrow_type, leaf_fields
from deltaweb.delta.scan.predicate import compared_columns
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
from deltaweb.index.query.questions import Question

EXPLAINED: Final = pa.schema(
    {
        "path": pa.string(),  # as in the log
        "size": pa.int64(),
        "num_records": pa.int64(),  # deleted ones too; null if unknown
        "reason": pa.int16(),  # a place of the reasons
        "why": pa.string(),
    }
)
"""A row a file."""
LOW: Final = "low"
HIGH: Final = "high"
MAX_BOUND_COLUMNS: Final = 4
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
        reasons: Places of its reasons whose files are listed; None for every file.
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


def bound_columns(question: Question) -> list[ColumnPath]:
    """Return the data columns whose statistics skip files, as the condition has them.

    The first `MAX_BOUND_COLUMNS` are enough for a page.
    """
    leaves = {leaf.path for leaf in leaf_fields(question.named_schema)}
    reached = [part.reached for part in question.parts if part.obstacle is None]
    found = dict.fromkeys(
        path
        for one in reached
        if one is not None
        for path in sorted(compared_columns(one))
        if path in leaves and path[0] not in question.partition_columns
    )
    return [*found][:MAX_BOUND_COLUMNS]


def file_bounds(explanation: Explanation, parts: Iterable[FilePart]) -> pa.Table:
    """Return the bounds of the files in the columns of a condition.

    Args:
        parts: Those that were explained.

    Returns:
        A row a file, in the order of the version: `reason`, and the structs `LOW` and
        `HIGH` with a field a column, by its name with dots; null is unknown.
    """
    question = explanation.question
    types = {
        ".".join(path): arrow_type(column_field(question.named_schema, path).data_type)
        for path in bound_columns(question)
    }
    ends = pa.struct(types)
    schema = pa.schema({"reason": pa.int16(), LOW: ends, HIGH: ends})
    batches = [
        _bounds_of_part(question, part, codes, schema)
        for part, codes in zip(parts, explanation.codes, strict=True)
    ]
    return pa.Table.from_batches(batches, schema)


def _bounds_of_part(
    question: Question, part: FilePart, codes: Codes, schema: pa.Schema
) -> pa.RecordBatch:
    facts = facts_of(part, question.named_schema, question.partition_columns)
    paths = bound_columns(question)
    known = facts.statistics_ranges(paths) if paths else {}
    structs = []
    for name in (LOW, HIGH):
        fields = [*schema.field(name).type]
        values = [
            _typed(getattr(known.get(path), name, None), field.type, len(codes))
            for path, field in zip(paths, fields, strict=True)
        ]
        structs.append(
            pa.StructArray.from_arrays(values, fields=fields)
            if fields
            else pa.array([{}] * len(codes), schema.field(name).type)
        )
    batch = pa.RecordBatch.from_arrays([pa.array(codes), *structs], schema=schema)
    live = codes != NOT_LIVE
    return batch if live.all() else batch.filter(pa.array(live))


def _typed(bounds: pa.Array | None, kind: pa.DataType, num_files: int) -> pa.Array:
    """Return bounds by the type of their column; null if they are not."""
    if bounds is None or bounds.type != kind:
        return pa.nulls(num_files, kind)
    return bounds


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
    reason = explanation.funnel.reasons[code]
    if reason.part is None:
        parts = [part for part in question.parts if part.obstacle is None]
    elif reason.step is None:
        return pa.repeat(reason.why, len(rows))
    else:
        parts = [question.parts[reason.part]]
    columns = sorted({path for part in parts for path in part.columns})
    if reason.step == STATISTICS:
        columns = [path for path in columns if path[0] not in facts.partition_columns]
    texts = [text for path in columns if (text := _text(facts, path, rows)) is not None]
    if not texts:
        return pa.repeat(reason.why, len(rows))
    values = pc.binary_join_element_wise(*texts, ", ")
    if reason.step is None:
        return values
    said = f" so {parts[0].text} is not true"
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
