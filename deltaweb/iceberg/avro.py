"""Columns of values as Avro, a row a value, and files of such rows.

Rows are made for whole columns at once: numbers by numpy, and rows by Arrow, which
joins what the columns hold of each of them.

Source: Avro 1.12 specification, "Binary Encoding" and "Object Container Files".
"""

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.whole import joined_bytes

Encoded: TypeAlias = pa.BinaryArray
"""Encoded values, an entry a row."""
Longs: TypeAlias = npt.NDArray[np.int64]

MAGIC: Final = b"Obj\x01"
NULL_BRANCH: Final = b"\x00"
VALUE_BRANCH: Final = b"\x02"
END_OF_BLOCKS: Final = b"\x00"
BITS_A_BYTE: Final = 7
HIGH_BIT: Final = 1 << BITS_A_BYTE
MAX_BYTES: Final = 10  # of a long
COMPRESSION: Final = 1  # of 9: more takes longer than it saves to send


def encoded_long(value: int) -> bytes:
    rest, encoded = (value << 1) ^ (value >> 63), bytearray()
    while rest >= HIGH_BIT:
        encoded.append(rest & (HIGH_BIT - 1) | HIGH_BIT)
        rest >>= BITS_A_BYTE
    encoded.append(rest)
    return bytes(encoded)


def encoded_bytes(value: bytes) -> bytes:
    """Encode bytes, or a text in UTF-8, with their length."""
    return encoded_long(len(value)) + value


def encoded_longs(values: Longs) -> Encoded:
    """Encode whole numbers: zigzag, and seven bits a byte."""
    signed = np.asarray(values, np.int64)
    zigzag = ((signed << 1) ^ (signed >> 63)).view(np.uint64)
    lengths = np.ones(len(zigzag), np.int32)
    for number in range(1, MAX_BYTES):
        lengths += zigzag >= np.uint64(1 << (BITS_A_BYTE * number))
    most = int(lengths.max(initial=1))
    grid = np.empty((len(zigzag), most), np.uint8)
    for number in range(most):
        bits = (zigzag >> np.uint64(BITS_A_BYTE * number)) & np.uint64(0x7F)
        continues = (lengths > number + 1).astype(np.uint8) << 7
        grid[:, number] = bits.astype(np.uint8) | continues
    data = grid[np.arange(most, dtype=np.int32) < lengths[:, None]]
    return of_lengths(lengths, data.tobytes())


def encoded_texts(values: pa.Array) -> Encoded:
    """Encode texts or bytes with their lengths; null stays null."""
    lengths = pc.binary_length(values).fill_null(0).to_numpy().astype(np.int64)
    return joined([encoded_longs(lengths), values.cast(pa.binary())], len(values))


def fixed_width(values: npt.NDArray[Any]) -> pa.BinaryArray:
    """Return numbers as their bytes, a row a number."""
    width = values.dtype.itemsize
    lengths = np.full(len(values), width, np.int32)
    return of_lengths(lengths, np.ascontiguousarray(values).tobytes())


def optional(values: Encoded) -> Encoded:
    """Encode a union of null and a value: what is null in `values` is null."""
    present = joined([VALUE_BRANCH, values], len(values))
    return pc.fill_null(present, NULL_BRANCH)


def where_valid(encoded: Encoded, values: pa.Array) -> Encoded:
    """Return what is encoded, null where `values` is."""
    if not values.null_count:
        return encoded
    return pc.if_else(values.is_valid(), encoded, pa.scalar(None, pa.binary()))


def encoded_map(entries: Sequence[tuple[int, Encoded]], num_rows: int) -> Encoded:
    """Encode a map from whole numbers as an optional array of pairs.

    Args:
        entries: Keys, and the encoded values of each; a row that is null in one has
            no entry for it.
    """
    counts = np.zeros(num_rows, np.int64)
    pairs: list[Encoded | bytes] = []
    for key, values in entries:
        if not values.null_count:
            counts += 1
            pairs += [encoded_long(key), values]
        elif values.null_count < num_rows:
            counts += values.is_valid().to_numpy(zero_copy_only=False)
            pair = joined([encoded_long(key), values], num_rows)
            pairs.append(pc.fill_null(pair, b""))
    some = joined(
        [VALUE_BRANCH, encoded_longs(counts), *pairs, END_OF_BLOCKS], num_rows
    )
    return pc.if_else(pa.array(counts > 0), some, pa.scalar(NULL_BRANCH, pa.binary()))


def joined(parts: Sequence[Encoded | bytes], num_rows: int) -> Encoded:
    """Join the parts of each row; a row with a part that is null is null."""
    scalars = [
        pa.scalar(part, pa.binary()) if isinstance(part, bytes) else part
        for part in parts
    ]
    if all(isinstance(part, bytes) for part in parts):
        return pa.repeat(pa.scalar(b"".join(parts), pa.binary()), num_rows)
    return pc.binary_join_element_wise(*scalars, pa.scalar(b"", pa.binary()))


def container(
    rows: Encoded, schema: Mapping[str, Any], metadata: Mapping[str, str]
) -> bytes:
    """Write a file of rows, all in one compressed block.

    Equal rows give equal bytes, wherever they are made.

    Args:
        rows: The encoded rows; none is null.
        metadata: Further values of the header.
    """
    header = {
        **{name: value.encode() for name, value in metadata.items()},
        "avro.schema": json.dumps(schema, separators=(",", ":")).encode(),
        "avro.codec": b"deflate",
    }
    pairs = [
        encoded_bytes(name.encode()) + encoded_bytes(value)
        for name, value in header.items()
    ]
    head = encoded_long(len(pairs)) + b"".join(pairs) + END_OF_BLOCKS
    packed = _deflated(joined_bytes(rows))
    marker = hashlib.sha256(head + packed).digest()[:16]
    written = MAGIC + head + marker
    if len(rows):
        written += encoded_long(len(rows)) + encoded_bytes(packed) + marker
    return written


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def of_lengths(lengths: npt.NDArray[np.int32], data: bytes) -> pa.BinaryArray:
    """Return bytes cut into rows of some lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.BinaryArray.from_buffers(pa.binary(), len(lengths), buffers)
