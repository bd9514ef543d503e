"""Column chunks without their empty data pages, which pyarrow takes for their end.

A data page may have no values; writers flush such pages, pyarrow's own included. Other
readers pass over them. pyarrow ends the column there, so that a reading has fewer rows.

Source: parquet.thrift, "PageHeader", "DataPageHeader", "DataPageHeaderV2".
"""

import io
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Final

import pyarrow as pa

from deltaweb.parquet.compact.layouts import Layout
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.tail import RangeSource
from deltaweb.parquet.values.dictionaries import StoredChunk

_VALUES: Final = Layout(num_values=(1, "int"))
_PAGE: Final = Layout(compressed=(3, "int"), data=(5, _VALUES), data_v2=(8, _VALUES))


def without_empty_pages(
    source: RangeSource, chunks: Iterable[StoredChunk]
) -> pa.NativeFile | None:
    """Return the same file, but with the empty data pages of some chunks left out.

    The pages after an empty one move forward, and the chunk ends with zeros. So the
    footer stays valid: a reader stops at the last value that the footer counts.

    Args:
        chunks: Those that are left out of; they are held in memory.

    Returns:
        The file; None if none of the chunks has an empty page.
    """
    changed = {}
    for chunk in chunks:
        if 0 < chunk.stored_bytes <= source.size() - max(0, chunk.first_page):
            stored = bytes(source.read_at(chunk.stored_bytes, chunk.first_page))
            filled = _filled_pages(stored)
            if filled is not None:
                changed[chunk.first_page] = filled.ljust(len(stored), b"\0")
    return pa.PythonFile(_ChangedFile(source, changed), "r") if changed else None


def _filled_pages(stored: bytes) -> bytes | None:
    """Return the pages of a chunk that have values; None if all of them have."""
    kept: list[bytes] = []
    start, has_empty = 0, False
    while start < len(stored):
        reader = CompactReader(stored, start)
        try:
            page = reader.read_struct(_PAGE)
            end = reader.position + page["compressed"]
        except (ParquetError, LookupError):
            break
        if end <= start:
            break
        values = page.get("data", page.get("data_v2"))
        if values is not None and values.get("num_values") == 0:
            has_empty = True
        else:
            kept.append(stored[start:end])
        start = end
    kept.append(stored[start:])
    return b"".join(kept) if has_empty else None


class _ChangedFile(io.RawIOBase):
    """A file of which some ranges have other bytes.

    Args:
        changed: The bytes of each range, by where it starts; ranges are apart.
    """

    def __init__(self, source: RangeSource, changed: Mapping[int, bytes]) -> None:
        self._source = source
        self._size = source.size()
        self._changed = changed
        self._starts = sorted(changed)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Read bytes; fewer only at the end of the file."""
        end = self._size if size < 0 else min(self._size, self._at + size)
        parts = []
        while self._at < end:
            part = self._part(end)
            if not part:
                break
            parts.append(part)
            self._at += len(part)
        return b"".join(parts)

    def _part(self, end: int) -> bytes:
        """Return the next bytes up to an end, of one range or of what is between."""
        place = bisect_right(self._starts, self._at) - 1
        if place >= 0:
            start = self._starts[place]
            data = self._changed[start]
            if self._at < start + len(data):
                return data[self._at - start : end - start]
        if place + 1 < len(self._starts):
            end = min(end, self._starts[place + 1])
        return bytes(self._source.read_at(end - self._at, self._at))
