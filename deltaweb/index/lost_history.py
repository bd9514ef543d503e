"""The history of an index, with that of commits which its log has lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from deltaweb.index.base_index import HISTORY_SCHEMAS, BaseIndex
from deltaweb.index.file_index import COMMITS, METADATA, PROTOCOLS, write_batches
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.readability import Readability
from deltaweb.index.history.version_totals import VersionTotals, completed_commits


@dataclass(frozen=True, slots=True)
class LostHistory:
    """What an older index tells of commits that the log has lost since.

    Attributes:
        base: The older index of the same log; None without one.
        first: The oldest version that the log tells of.
    """

    base: BaseIndex | None
    first: int

    def commits(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows of commits."""
        if self.base is not None:
            yield from self.base.rows_before(COMMITS, self.first)

    def changes(self, name: str, newer: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of metadata or protocols, then those of the log.

        The log may tell what is in force at a version whose commit it has lost.
        """
        first = min([self.first, *newer["version"].to_pylist()[:1]])
        if self.base is not None:
            yield from self.base.rows_before(name, first)
        yield newer

    def events(self) -> list[dict[str, Any]]:
        """What the timeline marks."""
        return [] if self.base is None else self.base.events_before(self.first)

    def timestamps_ms(self) -> list[int]:
        """When the commits were made."""
        return [
            time_ms
            for batch in self.commits()
            for time_ms in batch["timestamp_ms"].to_pylist()
        ]


def write_history(
    folder: Path,
    history: History,
    totals: VersionTotals,
    states: Sequence[Readability],
    lost: LostHistory,
) -> None:
    """Write the history, behind that of commits which the log has lost.

    Args:
        folder: The index.
        history: The commits.
        totals: What held after each.
        states: Whether each can be read.
        lost: What the log has lost.
    """
    commits = (
        completed_commits(batch, slice(start, start + batch.num_rows), totals, states)
        for start, batch in history.commit_batches()
    )
    rows = {
        COMMITS: chain(lost.commits(), commits),
        METADATA: lost.changes(METADATA, history.metadata_batch()),
        PROTOCOLS: lost.changes(PROTOCOLS, history.protocol_batch()),
    }
    for name, schema in HISTORY_SCHEMAS.items():
        write_batches(folder, name, schema, rows[name])
