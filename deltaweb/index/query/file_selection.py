"""The files that answer a query, ready to be listed batch by batch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.protocol.schema import StructType, leaf_fields
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.file_part import ROWS_SCHEMA, FilePart, Rows
from deltaweb.index.query.relative_paths import (
    find_outside,
    relative_paths,
    vector_paths,
)

ROWS_A_BATCH: Final = 4096  # some 4 MB of lines, with statistics of ten columns
LISTED_SCHEMA: Final = ROWS_SCHEMA.insert(
    1, pa.field("relative_path", pa.string())
).append(pa.field("relative_vector_path", pa.string()))
"""What `FileSelection.batches` yields."""


@dataclass(frozen=True, slots=True, eq=False)
class SelectedPart:
    """A part, and which of its files are selected."""

    part: FilePart
    mask: Mask

    @property
    def num_files(self) -> int:
        return int(np.count_nonzero(self.mask))

    def positions(self) -> Iterator[Rows]:
        rows = np.flatnonzero(self.mask)
        for first in range(0, len(rows), ROWS_A_BATCH):
            yield rows[first : first + ROWS_A_BATCH]


class FileSelection:
    """Files of one version of a table."""

    def __init__(
        self, parts: Sequence[SelectedPart], *, total_files: int, root: str
    ) -> None:
        self._parts = [chosen for chosen in parts if chosen.mask.any()]
        self._root = root
        self.total_files = total_files
        self.num_files = sum(chosen.num_files for chosen in self._parts)

    @cached_property
    def size_bytes(self) -> int:
        return sum(
            exact_sum(chosen.part.sizes.filter(pa.array(chosen.mask)))
            for chosen in self._parts
        )

    @cached_property
    def outside(self) -> str | None:
        """The path of a selected file that is not below the table's root, if any.

        Such a file must not be listed; `batches` would raise for it.
        """
        for chosen in self._parts:
            if chosen.part.is_inside(self._root, chosen.num_files):
                continue
            for rows in chosen.positions():
                paths = chosen.part.paths.take(pa.array(rows))
                found = find_outside(paths, self._root)
                chosen.part.release()
                if found is not None:
                    return found
        return None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the files in batches of at most `ROWS_A_BATCH` rows.

        Columns and errors are those of `part_batches`.
        """
        for _, batch in self.part_batches():
            yield batch

    def part_batches(
        self, *, as_kept: bool = False
    ) -> Iterator[tuple[FilePart, pa.RecordBatch]]:
        """Yield the files in batches, each beside the part that they are of.

        Args:
            as_kept: Whether fields of lines that are kept with an index may stand for
                partition_values and stats.

        Columns: path string (as in the log), relative_path string (decoded once,
        below the table's root), size int64, modification_time int64 (milliseconds
        since the epoch), partition_values map<string, string> (as in the log), stats
        string (JSON; null without), num_records int64 (null where it is unknown),
        deletion_vector (its descriptor, null without), relative_vector_path string
        (of the vector's file, as relative_path; null where it has none).
        """
        for part, _, batch in self._pieces(as_kept=as_kept):
            yield part, batch

    def typed_batches(
        self, schema: StructType
    ) -> Iterator[tuple[FilePart, pa.RecordBatch]]:
        """Yield the files as `part_batches` does, with what is known of some columns.

        Instead of the text there is a column `statistics`, a struct of the columns that
        `deltaweb.delta.values.statistics.columns` describes.
        """
        columns = [leaf.path for leaf in leaf_fields(schema)]
        read_part, known = None, pa.nulls(0)
        for part, positions, batch in self._pieces():
            if part is not read_part:
                read_part = part
                known = part.statistics(schema, columns).to_struct_array()
            typed = known.take(pa.array(positions))
            whole = batch.drop_columns(["stats"]).append_column("statistics", typed)
            yield part, whole

    def _pieces(
        self, *, as_kept: bool = False
    ) -> Iterator[tuple[FilePart, Rows, pa.RecordBatch]]:
        for chosen in self._parts:
            is_plain = chosen.part.has_plain_paths(chosen.num_files)
            rows = chosen.part.rows()
            pieces = map(rows.split, chosen.positions())
            for positions in chain.from_iterable(pieces):
                batch = rows.take(positions, as_kept=as_kept)
                paths = batch["path"]
                if not is_plain:
                    paths = relative_paths(paths, self._root)
                vectors = vector_paths(batch["path"], batch[VECTOR], self._root)
                whole = batch.add_column(1, "relative_path", paths).append_column(
                    "relative_vector_path", vectors
                )
                yield chosen.part, positions, whole
                chosen.part.release()  # what is mapped, and not copied, was read
