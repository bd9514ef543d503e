"""The history of commits that a log has lost, from the index before."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from deltaweb.index.build.base_index import BaseIndex
from deltaweb.index.folder.file_index import COMMITS


@dataclass(frozen=True, slots=True)
class ArchivedHistory:
    """What an older index holds of commits that the log has lost since.

    Attributes:
        base: The older index of the same log; None without one.
        first: The oldest version that the log still has.
    """

    base: BaseIndex | None
    first: int

    def commits(self, newer: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of commits, then those of the log."""
        if self.base is not None:
            yield from self.base.rows_before(COMMITS, self.first)
        yield from newer

    def changes(self, name: str, newer: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of metadata or protocols, then those of the log.

        The log may say what is in force at a version whose commit it has lost.
        """
        first = min([self.first, *newer["version"].to_pylist()[:1]])
        if self.base is not None:
            yield from self.base.rows_before(name, first)
        yield newer

    def events(self) -> list[dict[str, Any]]:
        """What the timeline marks."""
        return [] if self.base is None else self.base.events_before(self.first)
