"""What holds after each version, row for row with the history."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.index.files.file_rows import NewestFiles
from deltaweb.index.folder.file_index import COMMIT_SCHEMA
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.lifetimes import UNKNOWN, Flags, Longs, Totals
from deltaweb.index.history.readability import Readability


@dataclass(frozen=True, slots=True, eq=False)
class VersionTotals(Totals):
    """Totals by commit, row for row with the history; `UNKNOWN` if unknown.

    Attributes:
        vacuumed_by: The newest VACUUM that deleted files of the version.
        num_missing_files: How many of its files VACUUMs deleted.
    """

    vacuumed_by: Longs
    num_missing_files: Longs

    @classmethod
    def unknown(cls, versions: Sequence[int]) -> "VersionTotals":
        """Totals of which nothing is known yet."""
        return cls(*(np.full(len(versions), UNKNOWN, np.int64) for _ in range(7)))

    def take(self, rows: Longs, positions: Longs, totals: Totals) -> None:
        """Take the totals of a run for the commits at `rows`."""
        for one in fields(totals):
            getattr(self, one.name)[rows] = getattr(totals, one.name)[positions]

    def take_vacuumed(
        self, rows: Flags, positions: Longs, versions: Longs, num_files: Longs
    ) -> None:
        """Take what VACUUMs have deleted for the commits at `rows`."""
        self.vacuumed_by[rows] = versions[positions]
        self.num_missing_files[rows] = num_files[positions]

    @property
    def lacks_every_file(self) -> Flags:
        """Whether VACUUMs have deleted all files of a version."""
        lacks: Flags = (self.num_files > 0) & (self.num_missing_files >= self.num_files)
        return lacks

    def forget_removals(self, rows: Flags) -> None:
        """What left with the version that a run starts at is not known."""
        self.removed_bytes[rows] = self.removed_rows[rows] = UNKNOWN

    def set_newest(self, newest: NewestFiles) -> None:
        """The newest version has the snapshot's own numbers."""
        self.num_files[-1] = newest.num_files
        size, rows = newest.size_bytes, newest.total_records
        self.size_bytes[-1] = UNKNOWN if size is None else size
        self.num_records[-1] = UNKNOWN if rows is None else rows


def completed_commits(
    history: History, totals: VersionTotals, states: Sequence[Readability]
) -> Iterator[pa.RecordBatch]:
    """Yield the commits of a history with what only all of them together show."""
    for start, batch in history.commit_batches():
        rows = slice(start, start + batch.num_rows)
        yield _completed(batch, rows, totals, states)


def _completed(
    batch: pa.RecordBatch,
    rows: slice,
    totals: VersionTotals,
    states: Sequence[Readability],
) -> pa.RecordBatch:
    late = {
        "num_files": _nullable(totals.num_files[rows]),
        "size_bytes": _nullable(totals.size_bytes[rows]),
        "num_records": _nullable(totals.num_records[rows]),
        "removed_bytes": pc.coalesce(
            batch["removed_bytes"], _nullable(totals.removed_bytes[rows])
        ),
        "removed_rows": pc.coalesce(
            batch["removed_rows"], _nullable(totals.removed_rows[rows])
        ),
        "vacuumed_by": _nullable(totals.vacuumed_by[rows]),
        "num_missing_files": _nullable(totals.num_missing_files[rows]),
        "readability": pa.array([state.state for state in states[rows]], pa.string()),
        "readability_reason": pa.array(
            [state.reason for state in states[rows]], pa.string()
        ),
    }
    columns = [late.get(name, batch[name]) for name in COMMIT_SCHEMA.names]
    return pa.RecordBatch.from_arrays(columns, schema=COMMIT_SCHEMA)


def with_totals(commits: pa.RecordBatch, totals: Totals) -> pa.RecordBatch:
    """Return commits with the totals of a run's first version in the last row.

    The newest version has the numbers of its files as they are; once it is followed,
    it has those that add up with its followers'.
    """
    first = {
        "num_files": totals.num_files[:1],
        "size_bytes": totals.size_bytes[:1],
        "num_records": totals.num_records[:1],
    }
    columns = [
        pa.concat_arrays([commits[name].slice(0, len(commits) - 1), _nullable(values)])
        if (values := first.get(name)) is not None
        else commits[name]
        for name in COMMIT_SCHEMA.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=COMMIT_SCHEMA)


def _nullable(values: Longs) -> pa.Array:
    return pa.array(values, mask=values == UNKNOWN)
