"""How many rows the files of an answer hold, counted while they are listed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.file_part import FilePart
from deltaweb.sharing.parameters import MAX_LONG

_CARDINALITY: Final = "cardinality"


class ListedFiles(Protocol):
    """Files that are listed: of `FileSelection`, what matters here."""

    def part_batches(
        self, *, as_kept: bool = False
    ) -> Iterator[tuple[FilePart | None, pa.RecordBatch]]:
        """Yield them as `FileSelection` does, each beside the part that they are of."""


@dataclass(slots=True)
class RowCount:
    """Rows of the files that were listed so far, without the deleted ones.

    Attributes:
        total: Their count; None once a file does not say.
    """

    total: int | None = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the rows of more files, by their columns num_records and vector."""
        numbers, vectors = batch["num_records"], batch[VECTOR]
        if self.total is None or numbers.null_count:
            self.total = None
            return
        rows = exact_sum(numbers)
        if vectors.null_count < len(vectors):
            rows -= exact_sum(pc.struct_field(vectors, _CARDINALITY).fill_null(0))
        # Counts are what a log claims.
        self.total = min(MAX_LONG, self.total + max(0, rows))


@dataclass(frozen=True, slots=True)
class CountedFiles:
    """Files whose rows are counted as they are listed."""

    files: ListedFiles
    rows: RowCount

    def part_batches(
        self, *, as_kept: bool = False
    ) -> Iterator[tuple[FilePart | None, pa.RecordBatch]]:
        """Yield them as `FileSelection` does, each beside the part that they are of."""
        for part, batch in self.files.part_batches(as_kept=as_kept):
            self.rows.add(batch)
            yield part, batch
