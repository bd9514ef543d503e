"""Changed rows as they are found, bucket by bucket: counted, sampled, handed on."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.changes.bucket_diff import BucketDiff, Indices
from deltaweb.delta.changes.common_type import CommonSchema
from deltaweb.delta.changes.row_changes import (
    ChangeType,
    RowChanges,
    RowDiffRequest,
    RowSample,
    WriteChanges,
    change_schema,
)
from deltaweb.delta.protocol.schema import arrow_schema

WRITE_ROWS: Final = 65_536


class Tally:
    """What was found so far."""

    def __init__(
        self, columns: CommonSchema, key: tuple[str, ...], request: RowDiffRequest
    ) -> None:
        self.num_files_read = 0
        self.num_rows_read = 0
        self.schema = change_schema(columns)
        self._columns = columns
        self._key = key
        self._request = request
        self._counts = dict.fromkeys(ChangeType, 0)
        self._changed_cells = dict.fromkeys(columns.schema.names, 0)
        self._unmatched_keys = 0
        self._null_key_rows = 0
        self._samples: dict[ChangeType, list[pa.Table]] = {k: [] for k in ChangeType}
        self._changed: list[tuple[str, ...]] = []

    def note_files(self, opened: int, *, total: int, before: int = 0) -> None:
        """Take down how many files were opened, besides those `before`."""
        self.num_files_read = before + opened
        if self._request.on_progress is not None:
            self._request.on_progress(self.num_files_read, total)

    # === Buckets ===

    def take(self, found: BucketDiff) -> None:
        self._unmatched_keys += found.unmatched_keys
        self._null_key_rows += found.null_key_rows
        room = self._room(ChangeType.UPDATE_BEFORE)
        parts = (
            (ChangeType.DELETE, found.before, found.deleted),
            (ChangeType.INSERT, found.after, found.inserted),
            (ChangeType.UPDATE_BEFORE, found.before, found.updated_before),
            (ChangeType.UPDATE_AFTER, found.after, found.updated_after),
        )
        for kind, rows, chosen in parts:
            self._sample(kind, rows, chosen)
            self._counts[kind] += len(chosen)
        for row in range(min(room, len(found.updated_before))):
            self._changed.append(
                tuple(name for name, cells in found.changed.items() if cells[row])
            )
        for name, cells in found.changed.items():
            self._changed_cells[name] += int(cells.sum())
        if self._request.write is not None:
            self._write(found, self._request.write)

    def _room(self, kind: ChangeType) -> int:
        held: int = sum(rows.num_rows for rows in self._samples[kind])
        return max(self._request.sample_rows - held, 0)

    def _sample(self, kind: ChangeType, rows: pa.Table, chosen: Indices) -> None:
        room = self._room(kind)
        if room and len(chosen):
            self._samples[kind].append(rows.take(pa.array(chosen[:room])))

    def _write(self, found: BucketDiff, write: WriteChanges) -> None:
        for kind, rows, chosen in (
            (ChangeType.DELETE, found.before, found.deleted),
            (ChangeType.INSERT, found.after, found.inserted),
        ):
            for start in range(0, len(chosen), WRITE_ROWS):
                part = chosen[start : start + WRITE_ROWS]
                write(self._changes(rows.take(pa.array(part)), [kind] * len(part)))
        pair = [ChangeType.UPDATE_BEFORE, ChangeType.UPDATE_AFTER]
        for start in range(0, len(found.updated_before), WRITE_ROWS):
            stop = start + WRITE_ROWS
            olds = found.before.take(pa.array(found.updated_before[start:stop]))
            news = found.after.take(pa.array(found.updated_after[start:stop]))
            order = np.arange(2 * olds.num_rows).reshape(2, -1).T.ravel()
            both = pa.concat_tables([olds, news]).take(pa.array(order))
            write(self._changes(both, pair * olds.num_rows))

    def _changes(self, rows: pa.Table, kinds: Sequence[ChangeType]) -> pa.Table:
        first = pa.array([kind.value for kind in kinds], pa.string())
        return pa.Table.from_arrays([first, *rows.columns], schema=self.schema)

    # === Tallies of others ===

    @property
    def has_room(self) -> bool:
        return any(self._room(kind) for kind in ChangeType)

    def counts(self) -> dict[str, Any]:
        """Return everything but the sample, as plain JSON."""
        return {
            "rows_read": self.num_rows_read,
            "counts": {kind.value: count for kind, count in self._counts.items()},
            "changed_cells": list(self._changed_cells.values()),
            "unmatched_keys": self._unmatched_keys,
            "null_key_rows": self._null_key_rows,
        }

    def add_counts(self, other: Mapping[str, Any]) -> None:
        """Add the `counts` of another tally of these columns."""
        self.num_rows_read += other["rows_read"]
        self._unmatched_keys += other["unmatched_keys"]
        self._null_key_rows += other["null_key_rows"]
        for kind in ChangeType:
            self._counts[kind] += other["counts"][kind]
        cells = zip(self._changed_cells, other["changed_cells"], strict=True)
        for name, count in cells:
            self._changed_cells[name] += count

    def add_sample(self, other: RowSample) -> None:
        """Take rows of another tally's sample, as many as there is room for."""
        pairs = self._room(ChangeType.UPDATE_BEFORE)
        self._changed += other.changed[:pairs]
        for kind, rows in (
            (ChangeType.DELETE, other.deleted),
            (ChangeType.INSERT, other.inserted),
            (ChangeType.UPDATE_BEFORE, other.updated_before),
            (ChangeType.UPDATE_AFTER, other.updated_after),
        ):
            self._samples[kind].append(rows.slice(0, self._room(kind)))

    # === The answer ===

    def sample(self) -> RowSample:
        nothing = arrow_schema(self._columns.schema).empty_table()
        rows = {
            kind: pa.concat_tables([nothing, *tables])
            for kind, tables in self._samples.items()
        }
        return RowSample(
            inserted=rows[ChangeType.INSERT],
            deleted=rows[ChangeType.DELETE],
            updated_before=rows[ChangeType.UPDATE_BEFORE],
            updated_after=rows[ChangeType.UPDATE_AFTER],
            changed=tuple(self._changed),
        )

    def result(self) -> RowChanges:
        return RowChanges(
            inserted=self._counts[ChangeType.INSERT],
            deleted=self._counts[ChangeType.DELETE],
            updated=self._counts[ChangeType.UPDATE_BEFORE] if self._key else None,
            changed_cells={n: c for n, c in self._changed_cells.items() if c},
            unmatched_keys=self._unmatched_keys,
            null_key_rows=self._null_key_rows,
            key=self._key,
            columns=self._columns,
            sample=self.sample(),
            num_files_read=self.num_files_read,
            num_rows_read=self.num_rows_read,
        )
