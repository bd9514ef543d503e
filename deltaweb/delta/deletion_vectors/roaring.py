"""Roaring bitmaps: sets of row positions, in containers of 65,536 rows each.

The bytes stay as they are; only where each container lies is worked out, all of them
at once. A container is expanded when rows of it are read, so a few bytes that claim
millions of rows never take more memory than the rows that are looked at.

Source: the format specification of RoaringBitmap; delta_protocol.md, "Deletion Vector
Format".
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from deltaweb.delta.deletion_vectors.errors import MalformedVectorError

PORTABLE: Final = 1681511377
NATIVE: Final = 1681511376
NATIVE_SWAPPED: Final = int.from_bytes(NATIVE.to_bytes(4, "big"), "little")
"""Native vectors of old writers have their outer numbers the other way round."""
MAX_BITMAPS: Final = 1_024  # of 2**32 rows each
ROWS: Final = 1 << 16  # that a container can hold
WITHOUT_RUNS: Final = 12_346
WITH_RUNS: Final = 12_347
OFFSETS_FROM: Final = 4  # containers, where there are runs
MAX_LISTED: Final = 4_096  # positions; more are bits
_BITMAP_BYTES: Final = ROWS // 8
_COUNT: Final = struct.Struct("<I")

Longs = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Octets = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass(frozen=True, slots=True, eq=False)
class Containers:
    """The containers of a bitmap, ascending; arrays have one value each.

    Attributes:
        keys: The first row of each by `ROWS`.
        has_runs: Whether it holds runs; else positions or bits, by its count.
    """

    data: Octets
    keys: Longs
    counts: Longs
    starts: Longs
    has_runs: Flags

    @property
    def cardinality(self) -> int:
        return int(self.counts.sum())

    def expand(self, at: int) -> Flags:
        """Return which of the `ROWS` rows of a container are marked."""
        count, start = int(self.counts[at]), int(self.starts[at])
        if self.has_runs[at]:
            marked = _expand_runs(self.data, start)
        elif count > MAX_LISTED:
            octets = self.data[start : start + _BITMAP_BYTES]
            marked = np.unpackbits(octets, bitorder="little").view(np.bool_)
        else:
            marked = np.zeros(ROWS, np.bool_)
            marked[_shorts(self.data, start, count)] = True
        if int(np.count_nonzero(marked)) != count:
            raise MalformedVectorError(
                reason="the number of rows in one of its containers is wrong"
            )
        return marked


def read_bitmap(data: bytes) -> Containers:
    """Find the containers of a serialized bitmap of 64-bit positions."""
    octets = np.frombuffer(data, np.uint8)
    try:
        found = [
            _containers(octets, data, first, end, key)
            for key, first, end in _bitmaps(data)
        ]
    except struct.error:
        raise MalformedVectorError(reason="it ends too early") from None
    return _joined(octets, [one for one in found if len(one.keys)])


def _bitmaps(data: bytes) -> Iterator[tuple[int, int, int | None]]:
    """Yield the key of each bitmap of 32-bit positions, its start, and its end.

    The end is None where only the bitmap itself tells it.
    """
    (magic,) = _COUNT.unpack_from(data)
    if magic == PORTABLE:
        (number,) = struct.unpack_from("<Q", data, 4)
        _check_number(number)
        return _portable(data, number)
    if magic in {NATIVE, NATIVE_SWAPPED}:
        order = "<" if magic == NATIVE else ">"
        (number,) = struct.unpack_from(f"{order}I", data, 4)
        _check_number(number)
        return _native(data, number, order)
    raise MalformedVectorError(reason=f"the number of its format, {magic}, is unknown")


def _check_number(number: int) -> None:
    if number > MAX_BITMAPS:
        raise MalformedVectorError(
            reason=f"it has {number:,} bitmaps; the limit is {MAX_BITMAPS:,}"
        )


def _portable(data: bytes, number: int) -> Iterator[tuple[int, int, int | None]]:
    at, last = 12, -1
    for _ in range(number):
        (key,) = _COUNT.unpack_from(data, at)
        if key <= last or key >> 31:
            raise MalformedVectorError(
                reason="the keys of its bitmaps are not in order"
            )
        yield key, at + 4, None
        at, last = _bitmap_end(data, at + 4), key
    _check_end(data, at)


def _native(
    data: bytes, number: int, order: str
) -> Iterator[tuple[int, int, int | None]]:
    at = 8
    for key in range(number):
        (size,) = struct.unpack_from(f"{order}I", data, at)
        yield key, at + 4, at + 4 + size
        at += 4 + size
    _check_end(data, at)


def _check_end(data: bytes, end: int) -> None:
    if end != len(data):
        raise MalformedVectorError(
            reason=f"it has {len(data):,} bytes, but its bitmaps end at byte {end:,}"
        )


def _header(data: bytes, at: int) -> tuple[int, int, bool]:
    """Return the count of containers, where their header begins, and if runs may be."""
    (cookie,) = _COUNT.unpack_from(data, at)
    if cookie & 0xFFFF == WITH_RUNS:
        return (cookie >> 16) + 1, at + 4, True
    if cookie != WITHOUT_RUNS:
        raise MalformedVectorError(
            reason=f"a bitmap begins with the unknown number {cookie}"
        )
    (number,) = _COUNT.unpack_from(data, at + 4)
    if number > ROWS:
        raise MalformedVectorError(
            reason=f"a bitmap has {number:,} containers; the limit is {ROWS:,}"
        )
    return number, at + 8, False


def _bitmap_end(data: bytes, first: int) -> int:
    octets = np.frombuffer(data, np.uint8)
    return _laid_out(octets, data, first)[1]


def _containers(
    octets: Octets, data: bytes, first: int, end: int | None, key: int
) -> Containers:
    found, actual = _laid_out(octets, data, first)
    if end is not None and actual != end:
        raise MalformedVectorError(reason="the size of a bitmap is wrong")
    keys = found.keys + (key << 16)
    return Containers(octets, keys, found.counts, found.starts, found.has_runs)


def _laid_out(octets: Octets, data: bytes, first: int) -> tuple[Containers, int]:
    """Find the containers of one bitmap of 32-bit positions, and its end."""
    number, at, may_have_runs = _header(data, first)
    has_runs = np.zeros(number, np.bool_)
    if may_have_runs:
        marks = _slice(octets, at, (number + 7) // 8)
        has_runs = np.unpackbits(marks, bitorder="little")[:number].view(np.bool_)
        at += len(marks)
    pairs = _slice(octets, at, 4 * number).view("<u2").astype(np.int64).reshape(-1, 2)
    keys, counts = pairs[:, 0], pairs[:, 1] + 1
    if (np.diff(keys) <= 0).any():
        raise MalformedVectorError(reason="its containers are not in order")
    at += 4 * number
    listed = np.where(counts <= MAX_LISTED, 2 * counts, _BITMAP_BYTES)
    if not may_have_runs or number >= OFFSETS_FROM:
        said = _slice(octets, at, 4 * number).view("<u4").astype(np.int64) + first
        at += 4 * number
        sizes = _sizes(octets, said, listed, has_runs)
        starts = at + np.cumsum(sizes) - sizes
        if (starts != said).any():
            raise MalformedVectorError(reason="the offsets of its containers are wrong")
    else:
        starts, sizes = _one_by_one(data, at, listed, has_runs)
    end = at + int(sizes.sum())
    if end > len(octets):
        raise MalformedVectorError(reason="it ends too early")
    return Containers(octets, keys, counts, starts, has_runs), end


def _sizes(octets: Octets, starts: Longs, listed: Longs, has_runs: Flags) -> Longs:
    places = starts[has_runs]
    if (places + 2 > len(octets)).any():
        raise MalformedVectorError(reason="it ends too early")
    runs = octets[places].astype(np.int64) + (octets[places + 1].astype(np.int64) << 8)
    sizes: Longs = listed.copy()
    sizes[has_runs] = 2 + 4 * runs
    return sizes


def _one_by_one(
    data: bytes, at: int, listed: Longs, has_runs: Flags
) -> tuple[Longs, Longs]:
    """Return where the few containers without a table of places begin, and sizes."""
    starts, sizes = [], []
    for size, is_run in zip(listed.tolist(), has_runs.tolist(), strict=True):
        starts.append(at)
        taken = 2 + 4 * struct.unpack_from("<H", data, at)[0] if is_run else size
        sizes.append(taken)
        at += taken
    return np.array(starts, np.int64), np.array(sizes, np.int64)


def _expand_runs(octets: Octets, start: int) -> Flags:
    (number,) = _shorts(octets, start, 1).tolist()
    pairs = _shorts(octets, start + 2, 2 * number).astype(np.int64).reshape(-1, 2)
    firsts, ends = pairs[:, 0], pairs.sum(axis=1) + 1
    if (ends > ROWS).any() or (firsts[1:] < ends[:-1]).any():
        raise MalformedVectorError(reason="its runs are not in order")
    steps = np.zeros(ROWS + 1, np.int8)
    steps[firsts] = 1
    steps[ends] -= 1  # a run may begin where one ends
    marked: Flags = np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)
    return marked


def _shorts(octets: Octets, start: int, number: int) -> np.ndarray[Any, Any]:
    return _slice(octets, start, 2 * number).view("<u2")


def _slice(octets: Octets, start: int, size: int) -> Octets:
    if start + size > len(octets):
        raise MalformedVectorError(reason="it ends too early")
    return octets[start : start + size]


def _joined(octets: Octets, found: Sequence[Containers]) -> Containers:
    nothing = np.empty(0, np.int64)
    return Containers(
        octets,
        np.concatenate([nothing, *(one.keys for one in found)]),
        np.concatenate([nothing, *(one.counts for one in found)]),
        np.concatenate([nothing, *(one.starts for one in found)]),
        np.concatenate([np.empty(0, np.bool_), *(one.has_runs for one in found)]),
    )
