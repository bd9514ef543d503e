"""A data file as clients of Iceberg get it: its footer has the ids of the columns.

The bytes before the footer stay where they are, so every offset in the footer stays
valid. Zeros between them and the new footer fill it up to a size that is known without
reading the file: manifests of 100,000 files are made without reading one footer. A
footer that is not rewritten is served behind as many zeros.

Source: the Parquet format, "File format"; Iceberg specification, "Parquet" (field ids).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from deltaweb.iceberg.schema import ELEMENT, KEY, VALUE, FieldIds, StoredPath
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.field_ids import (
    ID_BYTES,
    MAX_REWRITTEN_BYTES,
    TYPE_BYTES,
    Ids,
    with_field_ids,
)
from deltaweb.parquet.nesting import Part, parts_of
from deltaweb.parquet.schema import Node
from deltaweb.parquet.tail import (
    ENCRYPTED_MAGIC,
    MAGIC,
    TAIL_BYTES,
    RangeSource,
)

SPARE_COLUMNS: Final = 16
"""Columns that a file may have and no version of the table, for which there is room."""
Piece: TypeAlias = bytes | range
"""Bytes, or the places of bytes in the stored file."""


@dataclass(frozen=True, slots=True)
class ServedForm:
    """The form of the data files of a table, which is a part of their names.

    Attributes:
        room: The count of bytes by which a served file is larger than the stored one.
        ids: The digest of the ids in its footer. A table that is created again in the
            same place may have other ids at the same version.
    """

    room: int
    ids: str

    @property
    def text(self) -> str:
        return f"{self.room}-{self.ids}"

    @classmethod
    def of(cls, text: str) -> "ServedForm":
        """Return the form that a text names."""
        room, _, ids = text.partition("-")
        return cls(int(room), ids)

    @classmethod
    def with_ids(cls, ids: FieldIds) -> "ServedForm":
        """Return the form of files that have some field ids."""
        return cls(room_bytes(ids), ids.digest)


@dataclass(frozen=True, slots=True)
class Seam:
    """Bytes that replace a part of a stored file, from `start` up to `end`."""

    start: int
    end: int
    data: bytes

    def size_bytes(self, stored_bytes: int) -> int:
        """Return the size of the served file."""
        return stored_bytes + len(self.data) - (self.end - self.start)

    def pieces(self, first: int, length: int) -> list[Piece]:
        """Return a part of the served file."""
        last, behind = first + length, self.start + len(self.data)
        shift = self.end - behind
        pieces: list[Piece] = [
            range(first, min(last, self.start)),
            self.data[max(first - self.start, 0) : max(last - self.start, 0)],
            range(max(first, behind) + shift, last + shift),
        ]
        return [piece for piece in pieces if len(piece)]


def room_bytes(ids: FieldIds) -> int:
    """Return how much larger every served file of a table is than the stored one."""
    return ID_BYTES * (len(ids) + SPARE_COLUMNS) + TYPE_BYTES * ids.num_lists


def seam_of(source: RangeSource, ids: FieldIds, room: int) -> Seam | None:
    """Return where the served file differs from the stored one.

    Args:
        room: The count of bytes that the served file has more.

    Returns:
        None if the end of the file is not that of a Parquet file.
    """
    size = source.size()
    tail = source.read_at(TAIL_BYTES, max(size - TAIL_BYTES, 0))
    length = int.from_bytes(tail[:4], "little")
    start = size - TAIL_BYTES - length
    if tail[4:] not in {MAGIC, ENCRYPTED_MAGIC} or start < len(MAGIC):
        return None
    as_stored = Seam(start, start, bytes(room))
    if tail[4:] == ENCRYPTED_MAGIC or length > MAX_REWRITTEN_BYTES:
        return as_stored
    footer = bytes(source.read_at(length, start))
    try:
        made = with_field_ids(footer, lambda root: ids_of_file(root, ids))
    except ParquetError:
        return as_stored
    gap = -1 if made is None else room + length - len(made)
    if made is None or gap < 0:
        return as_stored
    end = len(made).to_bytes(4, "little") + MAGIC
    return Seam(start, size, bytes(gap) + made + end)


def ids_of_file(root: Node, ids: FieldIds) -> Ids:
    """Return the ids of the elements of a file's schema, by their positions.

    A column that is in no version of the table gets an id that no column has, because
    some readers refuse a file with a column without one.
    """
    positions = {id(node): at for at, node in enumerate(root.walk())}
    found: dict[int, int | None] = {}
    strange: list[int] = []
    taken: set[int] = set()
    for node, path in _columns(root, ids):
        if path in ids and ids[path] not in taken:
            found[positions[id(node)]] = ids[path]
            taken.add(ids[path])
        else:
            strange.append(positions[id(node)])
    for position, made in zip(strange, ids.unused(), strict=False):
        found[position] = made
        taken.add(made)
    for position, node in enumerate(root.walk()):
        if position not in found and node.element.field_id in taken:
            found[position] = None
    return found


def _columns(root: Node, ids: FieldIds) -> Iterator[tuple[Node, StoredPath]]:
    """Yield the columns of a file and what nests in them, with their stored paths."""
    stack: list[tuple[Part, StoredPath]] = [(Part(root), ())]
    while stack:
        whole, path = stack.pop()
        parts = parts_of(whole)
        if whole.node is root:
            parts = tuple(map(Part, root.children or ()))
        match whole.node.kind if path else None:
            case "LIST":
                names = [ELEMENT] * len(parts)
            case "MAP":
                names = [KEY, VALUE][: len(parts)]
            case _:
                names = [part.node.name for part in parts]
        exact, inside = set(names), []
        for name, part in zip(names, parts, strict=True):
            own = ids.mapped(path, part.node.element.field_id) or (*path, name)
            known = ids.find(own)
            if known is not None and known[-1] not in exact:
                own = known  # in another case, and no other column is exactly so
            yield part.node, own
            inside.append((part, own))
        stack.extend(reversed(inside))
