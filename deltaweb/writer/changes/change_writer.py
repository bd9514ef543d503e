"""The files of one change of rows, by what the table asks for.

Where the table marks rows, a file with rows that go stays, with a vector that says
which; only new rows are written. Elsewhere its other rows are written again. Where the
table has a change data feed, the rows that change are written once more, as they were
and as they became.

Source: delta_protocol.md, "Writer Requirement for Deletion Vectors" and "Writer
Requirements for AddCDCFile".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.row_changes import CHANGE_TYPE
from deltaweb.delta.deletion_vectors.places import vector_paths
from deltaweb.delta.deletion_vectors.writing import VectorFileWriter
from deltaweb.delta.features.change_feed import writes_changes
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS, writes_vectors
from deltaweb.delta.features.registry import writer_features
from deltaweb.delta.log.file_actions import DELETION_VECTOR, VECTOR
from deltaweb.delta.protocol.actions import Metadata, Protocol
from deltaweb.delta.writing.commit import discard_files
from deltaweb.delta.writing.transaction import (
    ADDED_FILES,
    CHANGE_FILES,
    MARKED_FILES,
    NO_CHANGE_FILES,
)
from deltaweb.writer.changes.file_marks import FileMarks
from deltaweb.writer.changes.row_ids import (
    KeptRowIds,
    NextRowIds,
    Places,
    joined_places,
    places_of,
)
from deltaweb.writer.changes.wide_statistics import wide_statistics
from deltaweb.writer.table_write import TableWrite

DELETE: Final = "delete"
INSERT: Final = "insert"
BEFORE: Final = "update_preimage"
AFTER: Final = "update_postimage"

StatisticsTexts = Callable[[pa.Table], Mapping[str, str]]
"""Returns the statistics of files as JSON, by their paths, where there are some."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WrittenChanges:
    """What was written of a change.

    Attributes:
        added: The files to add, in the columns of `MARKED_FILES`: new ones, and those
            that stay with another vector.
        change_files: Files of the change data feed, in the columns of `CHANGE_FILES`.
        metrics: Of the vectors, by Spark's names.
    """

    added: pa.Table
    change_files: pa.Table
    metrics: dict[str, int]
    num_new_files: int

    @property
    def num_bytes(self) -> int:
        new = self.added.filter(self.added[VECTOR].is_null())
        return pc.sum(new["size"]).as_py() or 0

    @property
    def paths(self) -> list[str]:
        """The paths of all that was written: nobody else needs them."""
        new = self.added.filter(self.added[VECTOR].is_null())
        return [
            *new["path"].to_pylist(),
            *self.change_files["path"].to_pylist(),
            *vector_paths(self.added),
        ]


def all_changes(parts: Sequence[WrittenChanges]) -> WrittenChanges:
    metrics: dict[str, int] = {}
    for part in parts:
        for name, count in part.metrics.items():
            metrics[name] = metrics.get(name, 0) + count
    changes = [part.change_files for part in parts]
    nothing = MARKED_FILES.empty_table()
    return WrittenChanges(
        added=pa.concat_tables([nothing, *(part.added for part in parts)]),
        change_files=pa.concat_tables([NO_CHANGE_FILES, *changes]),
        metrics=metrics,
        num_new_files=sum(part.num_new_files for part in parts),
    )


def marks_deleted_rows(protocol: Protocol, metadata: Metadata) -> bool:
    """Return whether rows that go are marked, and their files stay."""
    is_known = DELETION_VECTORS in writer_features(protocol)
    return is_known and writes_vectors(metadata.configuration)


class ChangeWriter:
    """Writes what a change leaves; as a context it takes it back on an error.

    Args:
        texts: What the log says of the files whose rows change.

    Attributes:
        marks_rows: Whether rows that go are marked; else the others are written again.
        feeds_changes: Whether the rows that change are written once more.
        files: Where new rows go, and others that are written again.
    """

    def __init__(
        self,
        write: TableWrite,
        texts: StatisticsTexts,
        row_ids: KeptRowIds | None,
    ) -> None:
        self.marks_rows = marks_deleted_rows(write.base.protocol, write.metadata)
        self.feeds_changes = writes_changes(write.base.protocol, write.metadata)
        self.files = write.open_files(keeps_ids=True)
        self._row_ids = row_ids
        self._ids: NextRowIds | None = None
        self._feed = write.open_change_files() if self.feeds_changes else None
        self._store = write.store
        self._texts = texts
        self._vectors = VectorFileWriter(write.store)
        self._marks: FileMarks | None = None
        self._marked: list[tuple[pa.Table, int, dict[str, Any]]] = []
        self._num_emptied = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.files.discard()
            if self._feed is not None:
                self._feed.discard()
            discard_files(self._store, self._vectors.paths)

    def begin_file(self, file: pa.Table) -> None:
        """Begin a file whose rows change; all its live rows follow, in their order."""
        self._marks = FileMarks(self._store, file) if self.marks_rows else None
        self.begin_copies(file)

    def begin_copies(self, file: pa.Table) -> None:
        """Begin a file of which rows are written again; they follow by `copy`."""
        self._spell_as(file)
        if self._row_ids is not None:
            self._ids = NextRowIds(self._row_ids.of_files(file))

    def begin_new(self) -> None:
        """Begin rows that are of no file: their partitions get our texts."""
        self._spell_as(None)

    def _spell_as(self, file: pa.Table | None) -> None:
        self.files.spell_as(file)
        if self._feed is not None:
            self._feed.spell_as(file)

    def copy(self, rows: pa.RecordBatch, chosen: pa.BooleanArray) -> None:
        """Write those of the next rows of a file again that a mask chooses."""
        some = rows.filter(chosen)
        if self._ids is None:
            self.files.write(some)
            return
        ids = self._ids.take(rows.num_rows).take(places_of(chosen))
        self.files.write(ids.beside(some))

    def replace(
        self,
        holds: pa.BooleanArray,
        kept: pa.RecordBatch | pa.Table,
        new: pa.RecordBatch | pa.Table | None,
        *,
        changed: Places | None = None,
    ) -> None:
        """Take the next rows of the file.

        Args:
            kept: What is written where rows are written again: the others, and the
                new ones at their places.
            new: The new ones alone; None where rows only go.
            changed: Of which of the rows each new one is, where they come after the
                others; None where each has its place.
        """
        if self._marks is not None:
            self._marks.take(holds)
        rows = kept if self._marks is None else new
        if self._ids is None:
            if rows is not None:
                self.files.write(rows)
            return
        ids = self._ids.take(len(holds)).changed(holds)
        if rows is not None and rows.num_rows:
            places = self._places(holds, new, changed)
            self.files.write(ids.take(places).beside(rows))

    def _places(
        self,
        holds: pa.BooleanArray,
        new: pa.RecordBatch | pa.Table | None,
        changed: Places | None,
    ) -> Places:
        """Return of which rows those are that are written."""
        if self._marks is not None:
            return places_of(holds) if changed is None else changed
        if changed is not None:
            return joined_places([places_of(pc.invert(holds)), changed])
        return places_of(pc.invert(holds)) if new is None else np.arange(len(holds))

    def end_file(self, file: pa.Table) -> None:
        """End a file; where no row of it is left it goes as a whole."""
        marks = self._marks
        if marks is None:
            return
        if marks.are_all_deleted:
            self._num_emptied += marks.had_vector
            return
        self._marked.append((file, marks.num_rows, self._vectors.add(marks.marks)))

    def feed(self, kind: str, rows: pa.RecordBatch | pa.Table) -> None:
        """Write rows that change to the change data feed, if the table has one.

        Args:
            kind: What became of them: `DELETE`, `INSERT`, `BEFORE` or `AFTER`.
        """
        if self._feed is not None and rows.num_rows:
            kinds = pa.repeat(pa.scalar(kind, pa.string()), rows.num_rows)
            columns = [*rows.columns, kinds]
            names = [*rows.schema.names, CHANGE_TYPE]
            self._feed.write(pa.Table.from_arrays(columns, names))

    def finish(self, *, needs_feed: bool = True) -> WrittenChanges:
        """Write what waits.

        Args:
            needs_feed: Whether the change cannot be told by the files that come and
                go; else no change data is left.
        """
        new = self.files.finish()
        self._vectors.finish()
        change_files = NO_CHANGE_FILES
        if self._feed is not None and needs_feed:
            change_files = self._feed.finish().select(CHANGE_FILES.names)
        elif self._feed is not None:
            self._feed.discard()
        num_updated = sum(file[VECTOR][0].is_valid for file, _, _ in self._marked)
        marked = self._marked_files()
        return WrittenChanges(
            added=pa.concat_tables([_unmarked(new), marked]),
            change_files=change_files,
            metrics=self._metrics(num_updated),
            num_new_files=new.num_rows,
        )

    def _metrics(self, num_updated: int) -> dict[str, int]:
        return {
            "numDeletionVectorsAdded": len(self._marked),
            "numDeletionVectorsRemoved": num_updated + self._num_emptied,
            "numDeletionVectorsUpdated": num_updated,
        }

    def _marked_files(self) -> pa.Table:
        if not self._marked:
            return MARKED_FILES.empty_table()
        files = pa.concat_tables([file for file, _, _ in self._marked])
        texts = self._texts(files)
        stats = [
            wide_statistics(texts.get(file["path"][0].as_py()), num_rows)
            for file, num_rows, _ in self._marked
        ]
        vectors = [vector for _, _, vector in self._marked]
        return pa.table(
            {
                **{name: files[name] for name in ADDED_FILES.names if name != "stats"},
                "stats": pa.array(stats, pa.string()),
                VECTOR: pa.array(vectors, DELETION_VECTOR),
            },
            schema=MARKED_FILES,
        )


def _unmarked(files: pa.Table) -> pa.Table:
    nothing = pa.nulls(files.num_rows, DELETION_VECTOR)
    return files.append_column(MARKED_FILES.field(VECTOR), nothing)
