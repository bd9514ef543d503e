"""A Parquet file that is nothing but a footer: many columns in many row groups.

Source: parquet.thrift; Thrift's compact protocol.
"""

from pathlib import Path
from typing import Final

CHUNK_BYTES: Final = 100
ROWS: Final = 1_000  # of a row group


def write_wide_footer(path: Path, *, columns: int, groups: int) -> int:
    """Write the file; return the bytes of its footer, some 85 a column chunk."""
    names = [f"c{number}".encode() for number in range(columns)]
    root = b"\x48" + _text(b"root") + b"\x15" + _signed(columns) + b"\x00"
    leaves = (b"\x15\x04\x25\x02\x18" + _text(name) + b"\x00" for name in names)
    schema = root + b"".join(leaves)
    size = _signed(columns * CHUNK_BYTES)
    after = b"\x16" + size + b"\x16" + _signed(ROWS) + b"\x00"
    num_bytes = 0
    with path.open("wb") as file:
        file.write(b"PAR1")
        num_bytes += file.write(b"\x15\x02\x19" + _list(columns + 1) + schema)
        num_bytes += file.write(b"\x16" + _signed(groups * ROWS))
        num_bytes += file.write(b"\x19" + _list(groups))
        for group in range(groups):
            chunks = b"".join(_chunk(name, group) for name in names)
            num_bytes += file.write(b"\x19" + _list(columns) + chunks + after)
        orders = b"\x1c\x00\x00" * columns
        num_bytes += file.write(b"\x39" + _list(columns) + orders + b"\x00")
        file.write(num_bytes.to_bytes(4, "little") + b"PAR1")
    return num_bytes


def _chunk(name: bytes, group: int) -> bytes:
    """Return a column chunk as Arrow's writer makes it, with a page index."""
    size = _signed(CHUNK_BYTES)
    low, high = (
        n.to_bytes(8, "little") for n in (group * ROWS, (group + 1) * ROWS - 1)
    )
    metadata = (
        (b"\x15\x04\x19\x35\x00\x06\x10\x19\x18" + _text(name))
        + (b"\x15\x02\x16" + _signed(ROWS) + b"\x16" + size + b"\x16" + size)
        + (b"\x26\x08" + b"\x3c" + b"\x36\x00\x28" + _text(high) + b"\x18" + _text(low))
        + (b"\x11\x11\x00" + b"\x19\x2c")
        + (b"\x15\x04\x15\x00\x15\x02\x00" + b"\x15\x00\x15\x10\x15\x02\x00\x00")
    )
    index = b"\x16\x00\x15\x14\x16\x00\x15\x28"
    return b"\x26\x00\x1c" + metadata + index + b"\x00"


def _list(size: int) -> bytes:
    small = 15
    if size < small:
        return bytes([size << 4 | 0x0C])
    return b"\xfc" + _varint(size)


def _text(text: bytes) -> bytes:
    return _varint(len(text)) + text


def _signed(value: int) -> bytes:
    return _varint(value << 1)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
