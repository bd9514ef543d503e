"""Deletion vectors as they are written: a set of rows to bytes, and these to a file.

Of each 65,536 rows the smallest of three forms is kept: positions, bits, or runs.

Source: delta_protocol.md, "Deletion Vector Format" and "Deletion Vector File Storage
Format"; the format specification of RoaringBitmap.
"""

import struct
import zlib
from typing import Any, Final
from uuid import uuid4

import numpy as np

from deltaweb.delta.deletion_vectors.descriptor import RELATIVE
from deltaweb.delta.deletion_vectors.reading import FILE_VERSION, MAX_BYTES
from deltaweb.delta.deletion_vectors.roaring import (
    MAX_LISTED,
    OFFSETS_FROM,
    PORTABLE,
    ROWS,
    WITH_RUNS,
    WITHOUT_RUNS,
    Flags,
    Longs,
)
from deltaweb.delta.deletion_vectors.z85 import encode_z85
from deltaweb.delta.log.store import DataStore

MAX_ROWS: Final = 1 << 32
FILE_BYTES: Final = 8 << 20
"""Vectors of about so many bytes go to one file."""
_BITS_BYTES: Final = ROWS // 8


def write_bitmap(marks: Flags) -> bytes:
    """Serialize the set of rows that are marked, in the portable format.

    Args:
        marks: A mark for each row of a file, from the first one on.
    """
    containers = [
        (start // ROWS, positions)
        for start in range(0, len(marks), ROWS)
        if len(positions := np.flatnonzero(marks[start : start + ROWS]))
    ]
    if not containers:
        return struct.pack("<IQ", PORTABLE, 0)
    return struct.pack("<IQI", PORTABLE, 1, 0) + _bitmap(containers)


def _bitmap(containers: list[tuple[int, Longs]]) -> bytes:
    bodies, are_runs = [], []
    for _, positions in containers:
        firsts = np.flatnonzero(np.diff(positions, prepend=-2) != 1)
        listed = min(2 * len(positions), _BITS_BYTES)
        is_run = 2 + 4 * len(firsts) < listed
        are_runs.append(is_run)
        bodies.append(_runs(positions, firsts) if is_run else _listed(positions))
    has_runs = any(are_runs)
    if has_runs:
        head = struct.pack("<I", WITH_RUNS | (len(containers) - 1) << 16)
        head += np.packbits(are_runs, bitorder="little").tobytes()
    else:
        head = struct.pack("<II", WITHOUT_RUNS, len(containers))
    pairs = [(key, len(positions) - 1) for key, positions in containers]
    head += np.array(pairs, "<u2").tobytes()
    if not has_runs or len(containers) >= OFFSETS_FROM:
        sizes = np.array([0, *(len(body) for body in bodies[:-1])])
        starts = len(head) + 4 * len(bodies) + np.cumsum(sizes)
        head += starts.astype("<u4").tobytes()
    return head + b"".join(bodies)


def _listed(positions: Longs) -> bytes:
    if len(positions) <= MAX_LISTED:
        return positions.astype("<u2").tobytes()
    marks = np.zeros(ROWS, np.bool_)
    marks[positions] = True
    return np.packbits(marks, bitorder="little").tobytes()


def _runs(positions: Longs, firsts: Longs) -> bytes:
    lengths = np.diff(firsts, append=len(positions))
    pairs = np.stack([positions[firsts], lengths - 1], axis=1)
    return struct.pack("<H", len(firsts)) + pairs.astype("<u2").tobytes()


class VectorFileWriter:
    """Writes vectors, many to a file; none is there before `finish`."""

    def __init__(self, store: DataStore) -> None:
        self.paths: list[str] = []
        self._store = store
        self._begin()

    def add(self, marks: Flags) -> dict[str, Any]:
        """Take a vector in, and return its descriptor.

        Args:
            marks: A mark for each row of the data file, deleted ones too.
        """
        data = write_bitmap(marks)
        if len(marks) > MAX_ROWS or len(data) > MAX_BYTES:
            message = (
                f"a deletion vector of {len(marks):,} rows is too large to be written"
            )
            raise ValueError(message)
        if self._data and len(self._data) + len(data) > FILE_BYTES:
            self._put()
        if not self._data:
            self._data.append(FILE_VERSION)
        offset = len(self._data)
        self._data += struct.pack(">I", len(data)) + data
        self._data += struct.pack(">I", zlib.crc32(data))
        return {
            "storageType": RELATIVE,
            "pathOrInlineDv": encode_z85(self._name.bytes),
            "offset": offset,
            "sizeInBytes": len(data),
            "cardinality": int(np.count_nonzero(marks)),
        }

    def finish(self) -> None:
        if self._data:
            self._put()

    def _begin(self) -> None:
        self._name = uuid4()
        self._data = bytearray()

    def _put(self) -> None:
        path = f"deletion_vector_{self._name}.bin"
        self.paths.append(path)
        self._store.put_data_file(path, bytes(self._data))
        self._begin()
