"""Deletion vectors as other writers make them: in every format and container."""

import struct
import zlib
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from deltaweb.delta.deletion_vectors.z85 import encode_z85

ROWS = 1 << 16


def bitmap_of(
    positions: Iterable[int], *, is_native: bool = False, runs: Iterable[int] = ()
) -> bytes:
    """Serialize a set of positions; containers whose keys are in `runs` hold runs."""
    with_runs = frozenset(runs)
    bitmaps = {
        key: _bitmap32([one & 0xFFFFFFFF for one in some], with_runs)
        for key, some in groupby(sorted(positions), lambda one: one >> 32)
    }
    if not is_native:
        parts = [struct.pack("<I", key) + data for key, data in bitmaps.items()]
        return struct.pack("<IQ", 1681511377, len(parts)) + b"".join(parts)
    number = max(bitmaps, default=-1) + 1
    every = [bitmaps.get(key) or _bitmap32([], with_runs) for key in range(number)]
    sized = [struct.pack("<I", len(data)) + data for data in every]
    return struct.pack("<II", 1681511376, number) + b"".join(sized)


def _bitmap32(positions: list[int], with_runs: frozenset[int]) -> bytes:
    groups = [
        (key, [one % ROWS for one in some])
        for key, some in groupby(positions, lambda one: one // ROWS)
    ]
    has_runs = [key in with_runs for key, _ in groups]
    bodies = [
        _runs(some) if is_run else _listed(some)
        for (_, some), is_run in zip(groups, has_runs, strict=True)
    ]
    header = b"".join(struct.pack("<HH", key, len(some) - 1) for key, some in groups)
    if any(has_runs):
        head = struct.pack("<I", 12347 | (len(groups) - 1) << 16)
        head += np.packbits(has_runs, bitorder="little").tobytes()
    else:
        head = struct.pack("<II", 12346, len(groups))
    head += header
    if not any(has_runs) or len(groups) >= 4:
        at = len(head) + 4 * len(groups)
        for body in bodies:
            head += struct.pack("<I", at)
            at += len(body)
    return head + b"".join(bodies)


def _listed(positions: list[int]) -> bytes:
    if len(positions) <= 4096:
        return np.array(positions, "<u2").tobytes()
    marks = np.zeros(ROWS, np.bool_)
    marks[positions] = True
    return np.packbits(marks, bitorder="little").tobytes()


def _runs(positions: list[int]) -> bytes:
    marks = np.zeros(ROWS + 2, np.int8)
    marks[np.array(positions) + 1] = 1
    steps = np.diff(marks)
    firsts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    pairs = np.stack([firsts, ends - firsts - 1], axis=1)
    return struct.pack("<H", len(firsts)) + pairs.astype("<u2").tobytes()


def inline_vector(positions: Iterable[int], **options: Any) -> dict[str, Any]:  # noqa: ANN401 # of bitmap_of
    """Return the log's fields of a vector that the log holds itself."""
    some = sorted(set(positions))
    data = bitmap_of(some, **options)
    filled = data + bytes(-len(data) % 4)
    return {
        "storageType": "i",
        "pathOrInlineDv": encode_z85(filled),
        "sizeInBytes": len(data),
        "cardinality": len(some),
    }


def vector_file(*bitmaps: bytes) -> tuple[bytes, list[int]]:
    """Return a file of vectors, and where each begins."""
    data, offsets = b"\1", []
    for bitmap in bitmaps:
        offsets.append(len(data))
        data += struct.pack(">I", len(bitmap)) + bitmap
        data += struct.pack(">I", zlib.crc32(bitmap))
    return data, offsets


def fields_of(vector: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as columns have them: those that are absent are None."""
    names = ("storageType", "pathOrInlineDv", "offset", "sizeInBytes", "cardinality")
    return {name: vector.get(name) for name in names}
