"""Rows as whole numbers: two rows get one number exactly when they are equal.

Equal means what grouping means in SQL: a null equals a null, NaN equals NaN, -0.0
equals 0.0, and the entries of a map have no order. All of it is done column by column
on Arrow and NumPy arrays, nested values included.
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.whole import as_lists, one_array

Codes: TypeAlias = npt.NDArray[np.int64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

CODE_BYTES: Final = 8
WORD_BYTES: Final = 8
MAX_CODE: Final = 1 << 62
NULL_HASH: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def row_codes(columns: Iterable[Codes], num_rows: int) -> Codes:
    """Return one dense code a row from the codes of its columns.

    Args:
        columns: Codes from `value_codes`, each as long as there are rows.
    """
    codes = np.zeros(num_rows, dtype=np.int64)
    size = 1
    for column in columns:
        width = int(column.max()) + 1 if num_rows else 1
        if size * width >= MAX_CODE:
            codes = _dense(codes)
            size = int(codes.max()) + 1
        codes = codes * width + column
        size *= width
    return _dense(codes)


def value_codes(values: pa.Array) -> Codes:
    """Return a code for each value: 0 for null, equal from 1 on for equal values."""
    kind = values.type
    if pa.types.is_null(kind):
        return np.zeros(len(values), dtype=np.int64)
    if pa.types.is_struct(kind):
        parts = [value_codes(part) for part in values.flatten()]
        return _or_null(row_codes(parts, len(values)) + 1, values)
    if pa.types.is_map(kind) or pa.types.is_list(kind):
        return _list_codes(values)
    if pa.types.is_floating(kind):
        values = _float_bits(values)
    indices = values.dictionary_encode().indices
    codes: Codes = pc.fill_null(indices, -1).to_numpy().astype(np.int64) + 1
    return codes


def row_hashes(rows: pa.Table, columns: Iterable[str], seed: int) -> Hashes:
    """Return a hash a row that equal rows share, for spreading rows.

    Rows that differ may share it as well: arrays and maps only add their lengths.

    Args:
        seed: Another seed spreads rows in another way; one above 0 also looks at
            every byte of a text, which takes longer.
    """
    hashes = np.full(rows.num_rows, seed + 1, dtype=np.uint64)
    for name in columns:
        values = one_array(rows[name])
        hashes = _mix(hashes ^ _value_hashes(values, is_thorough=seed > 0))
    return hashes


def dealt(rows: pa.Table, hashes: Hashes, count: int) -> Iterator[tuple[int, pa.Table]]:
    """Yield rows by the remainder of their hash, in their order; none is empty."""
    numbers = (hashes % np.uint64(count)).astype(np.int64)
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(count + 1))
    ordered = rows.combine_chunks().take(pa.array(order))
    for number in range(count):
        start, stop = int(ends[number]), int(ends[number + 1])
        if start < stop:
            yield number, ordered.slice(start, stop - start)


def _dense(codes: Codes) -> Codes:
    indices = pa.array(codes).dictionary_encode().indices
    dense: Codes = indices.to_numpy().astype(np.int64)
    return dense


def _or_null(codes: Codes, values: pa.Array) -> Codes:
    if values.null_count:
        codes[values.is_null().to_numpy(zero_copy_only=False)] = 0
    return codes


def _list_codes(values: pa.Array) -> Codes:
    """Code lists by the codes of their items, which become the bytes of a text."""
    is_map = pa.types.is_map(values.type)
    lists = as_lists(values)
    lengths = _lengths(lists)
    items = lists.flatten()  # without those that stand under a null
    if is_map:
        keys, entries = (value_codes(part) for part in items.flatten())
        owners = np.repeat(np.arange(len(values)), lengths)
        order = np.lexsort((keys, owners))
        codes = row_codes([keys, entries], len(keys))[order]
    else:
        codes = value_codes(items)
    offsets = np.concatenate([[0], np.cumsum(lengths)]) * CODE_BYTES
    texts = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(),
        len(values),
        [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(codes.tobytes())],
    )
    indices = texts.dictionary_encode().indices.to_numpy().astype(np.int64)
    return _or_null(indices + 1, values)


def _lengths(lists: pa.Array) -> npt.NDArray[np.int64]:
    filled = pc.fill_null(pc.list_value_length(lists), 0)
    lengths: npt.NDArray[np.int64] = filled.to_numpy().astype(np.int64)
    return lengths


def _float_bits(values: pa.Array) -> pa.Array:
    """Return floats as integers, one for each value that SQL tells apart."""
    numbers = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy() + 0.0
    numbers = np.where(np.isnan(numbers), np.nan, numbers)
    mask = values.is_null().to_numpy(zero_copy_only=False)
    return pa.array(numbers.view(np.int64), mask=mask)


def _value_hashes(values: pa.Array, *, is_thorough: bool) -> Hashes:
    kind = values.type
    count = len(values)
    if pa.types.is_null(kind) or not count:
        return np.full(count, NULL_HASH)
    if pa.types.is_floating(kind):
        values = _float_bits(values)
        kind = values.type
    if pa.types.is_struct(kind):
        hashes = np.ones(count, dtype=np.uint64)
        for part in values.flatten():
            hashes = _mix(hashes ^ _value_hashes(part, is_thorough=is_thorough))
    elif pa.types.is_map(kind) or pa.types.is_list(kind):
        hashes = _mix(_lengths(as_lists(values)).view(np.uint64))
    elif pa.types.is_decimal(kind):
        halves = np.frombuffer(values.buffers()[1], dtype=np.uint64).reshape(-1, 2)
        halves = halves[values.offset : values.offset + count]
        hashes = _mix(halves[:, 0] ^ _mix(halves[:, 1]))
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        hashes = _text_hashes(values) if is_thorough else _end_hashes(values)
    else:
        hashes = _mix(_integers(values).view(np.uint64))
    if values.null_count:
        hashes[values.is_null().to_numpy(zero_copy_only=False)] = NULL_HASH
    return hashes


def _integers(values: pa.Array) -> npt.NDArray[np.int64]:
    """Return values of a fixed width as whole numbers; a null is 0."""
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    elif pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    numbers: npt.NDArray[np.int64] = pc.fill_null(values.cast(pa.int64()), 0).to_numpy()
    return numbers


def _text_hashes(values: pa.Array) -> Hashes:
    """Hash every byte of a text, once for each distinct one."""
    encoded = values.dictionary_encode()
    parts = encoded.dictionary.cast(pa.binary()).to_pylist()
    hashed = np.array([*(zlib.crc32(part) for part in parts), 0], dtype=np.uint64)
    return _mix(hashed[pc.fill_null(encoded.indices, len(parts)).to_numpy()])


def _end_hashes(values: pa.Array) -> Hashes:
    """Hash length, beginning and end of a text, which most texts differ in."""
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32).astype(np.int64)
    ends = ends[values.offset : values.offset + len(values) + 1]
    starts, ends = ends[:-1], ends[1:]
    lengths = ends - starts
    content = np.zeros((0 if data is None else data.size) + WORD_BYTES, dtype=np.uint8)
    if data is not None:
        content[: data.size] = np.frombuffer(data, dtype=np.uint8)
    words = np.lib.stride_tricks.sliding_window_view(content, WORD_BYTES)
    first = words[starts].copy().view(np.uint64).ravel()
    last = words[np.maximum(ends - WORD_BYTES, starts)].copy().view(np.uint64).ravel()
    is_short = lengths < WORD_BYTES
    bits = (np.where(is_short, lengths, 0) * 8).astype(np.uint64)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    first = np.where(is_short, first & mask, first)
    last = np.where(is_short, first, last)
    return _mix(first ^ _mix(last ^ _mix(lengths.view(np.uint64))))


def _mix(hashes: Hashes) -> Hashes:
    first, second = _MIX
    hashes = (hashes ^ (hashes >> np.uint64(30))) * first
    hashes = (hashes ^ (hashes >> np.uint64(27))) * second
    return hashes ^ (hashes >> np.uint64(31))
