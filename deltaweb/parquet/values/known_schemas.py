"""The schemas of footers, of which files of one writer have the same at their start.

Parsing the schema of each of many small files takes as long as reading their rows.
"""

from functools import lru_cache
from threading import Lock
from typing import Final

from deltaweb.parquet.compact.layouts import Layout, NamedListOf
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.metadata import ELEMENT, elements_of
from deltaweb.parquet.schema import Node, build_schema

MAX_BYTES: Final = 64 << 10
MAX_KNOWN: Final = 8
_SCHEMA: Final = Layout(schema=(2, NamedListOf(ELEMENT, "name")), after=(3, "place"))


class KnownSchemas:
    """The last schemas, by the bytes of a footer up to the end of its schema."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: tuple[tuple[bytes, Node], ...] = ()
        self._sound: tuple[Node, ...] = ()

    def of(self, footer: bytes) -> Node:
        """Return the schema of a footer.

        Raises:
            ParquetError: If it has none, or one that cannot be read.
        """
        for start, root in self._known:
            if footer.startswith(start):
                return root
        raw = CompactReader(footer).read_struct(_SCHEMA)
        root = build_schema(elements_of(raw.get("schema", ())))
        end = raw.get("after", 0)
        if 0 < end <= MAX_BYTES:
            with self._lock:
                self._known = ((footer[:end], root), *self._known)[:MAX_KNOWN]
        return root

    def is_sound(self, root: Node) -> bool:
        """Whether it was noted that every column of a schema can be read."""
        return any(root is sound for sound in self._sound)

    def note_sound(self, root: Node) -> None:
        """Note that every column of a schema can be read."""
        with self._lock:
            self._sound = (root, *self._sound)[:MAX_KNOWN]


@lru_cache(maxsize=1)
def known_schemas() -> KnownSchemas:
    """Return the schemas that this process knows."""
    return KnownSchemas()
