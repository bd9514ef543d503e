"""The rows that differ between two tables that fit in memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltaweb.delta.changes.row_codes import Codes, row_codes, value_codes

Indices: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BucketDiff:
    """Which rows of two tables differ, by their positions.

    Attributes:
        deleted: Rows of the first table alone.
        updated_before: Rows of the first table that changed under their key.
        updated_after: What became of them, row for row.
    """

    before: pa.Table
    after: pa.Table
    deleted: Indices
    inserted: Indices
    updated_before: Indices
    updated_after: Indices
    changed: dict[str, Mask]
    unmatched_keys: int = 0
    null_key_rows: int = 0


def diff_bucket(
    before: pa.Table,
    after: pa.Table,
    *,
    key: Sequence[str] = (),
    as_text: Sequence[str] = (),
) -> BucketDiff:
    """Compare two tables of one schema as multisets of rows.

    Args:
        as_text: Columns whose values are never equal, unless they are null.
    """
    num_rows = before.num_rows + after.num_rows
    codes = row_codes(_all_codes(before, after, as_text), num_rows)
    olds, news = codes[: before.num_rows], codes[before.num_rows :]
    size = int(codes.max()) + 1 if len(codes) else 0
    surplus = np.bincount(news, minlength=size) - np.bincount(olds, minlength=size)
    deleted, inserted = _surplus_rows(olds, -surplus), _surplus_rows(news, surplus)
    none = np.zeros(0, dtype=np.int64)
    if not key or not len(deleted) or not len(inserted):
        nulls = _null_key_count(before, deleted, key) + _null_key_count(
            after, inserted, key
        )
        return BucketDiff(
            before, after, deleted, inserted, none, none, {}, null_key_rows=nulls
        )
    return _match(before, after, deleted, inserted, key=key, as_text=as_text)


def _match(  # noqa: PLR0913 (two tables, and rows of each)
    before: pa.Table,
    after: pa.Table,
    deleted: Indices,
    inserted: Indices,
    *,
    key: Sequence[str],
    as_text: Sequence[str],
) -> BucketDiff:
    """Make an update of a deleted and an inserted row that are alone with a key."""
    olds = before.select(key).take(pa.array(deleted))
    news = after.select(key).take(pa.array(inserted))
    has_null = np.concatenate([_has_null(olds), _has_null(news)])
    codes = row_codes(_all_codes(olds, news, ()), len(has_null))
    codes = np.where(has_null, -1, codes)
    old_codes, new_codes = codes[: len(deleted)], codes[len(deleted) :]
    size = int(codes.max()) + 1
    old_counts = np.bincount(old_codes[old_codes >= 0], minlength=size)
    new_counts = np.bincount(new_codes[new_codes >= 0], minlength=size)
    is_pair = (old_counts == 1) & (new_counts == 1)
    is_unmatched = (old_counts > 0) & (new_counts > 0) & ~is_pair
    # A null key has code -1, which must not be read as the last one.
    is_pair = np.append(is_pair, [False])
    old_paired, new_paired = is_pair[old_codes], is_pair[new_codes]
    updated_before = deleted[old_paired][np.argsort(old_codes[old_paired])]
    updated_after = inserted[new_paired][np.argsort(new_codes[new_paired])]
    return BucketDiff(
        before=before,
        after=after,
        deleted=deleted[~old_paired],
        inserted=inserted[~new_paired],
        updated_before=updated_before,
        updated_after=updated_after,
        changed=changed_cells(
            before.take(pa.array(updated_before)),
            after.take(pa.array(updated_after)),
            as_text,
        ),
        unmatched_keys=int(is_unmatched.sum()),
        null_key_rows=int(has_null.sum()),
    )


def changed_cells(
    before: pa.Table, after: pa.Table, as_text: Sequence[str] = ()
) -> dict[str, Mask]:
    """Tell of each column which rows of two tables, row for row, differ in it."""
    count = before.num_rows
    return {
        name: codes[:count] != codes[count:]
        for name, codes in zip(
            before.column_names, _all_codes(before, after, as_text), strict=True
        )
    }


def _all_codes(
    before: pa.Table, after: pa.Table, as_text: Sequence[str]
) -> Iterator[Codes]:
    """Yield the codes of each column, of the first table's rows and the second's."""
    for name in before.column_names:
        chunks = [*before[name].chunks, *after[name].chunks]
        kind = before.schema.field(name).type
        codes = value_codes(pa.concat_arrays(chunks) if chunks else pa.array([], kind))
        if name in as_text:
            codes = codes * 2
            codes[before.num_rows :] += codes[before.num_rows :] > 0
        yield codes


def _surplus_rows(codes: Codes, surplus: Indices) -> Indices:
    """Return rows of each code, as many as `surplus` says; ascending."""
    candidates = np.flatnonzero(surplus[codes] > 0)
    if not len(candidates):
        return candidates.astype(np.int64)
    found = codes[candidates]
    order = np.argsort(found, kind="stable")
    ordered = found[order]
    starts = np.searchsorted(ordered, ordered, side="left")
    rank = np.arange(len(ordered)) - starts
    return np.sort(candidates[order[rank < surplus[ordered]]])


def _null_key_count(rows: pa.Table, chosen: Indices, key: Sequence[str]) -> int:
    if not key or not len(chosen):
        return 0
    return int(_has_null(rows.select(key).take(pa.array(chosen))).sum())


def _has_null(rows: pa.Table) -> Mask:
    found = np.zeros(rows.num_rows, dtype=np.bool_)
    for column in rows.columns:
        if column.null_count:
            found |= column.is_null().to_numpy()
    return found
