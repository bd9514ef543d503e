"""Commits by name, read in batches of bounded memory.

Source: delta_protocol.md, "Delta Log Entries".
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.errors import LogFileGoneError
from deltaweb.delta.log.commits.arrow_reader import (
    ActionBatch,
    CommitData,
    Longs,
    parse_actions,
)
from deltaweb.delta.log.store import LogFile, LogStore

BATCH_BYTES: Final = 32 << 20
BATCH_FILES: Final = 512


def parsed_commits(
    store: LogStore, names: Sequence[str], schema: pa.Schema
) -> Iterator[tuple[int, ActionBatch]]:
    """Yield the actions of commits, batch by batch, and the row each begins at."""
    first = 0
    for commits in read_commits(store, names):
        batch = parse_actions(commits, schema)
        yield first, batch
        first += batch.table.num_rows


def rows_between(rows: Longs, first: int, last: int) -> Longs:
    """Return those of ascending rows that are of a batch, counted from its first."""
    low, high = np.searchsorted(rows, [first, last])
    return rows[low:high] - first


def read_commits(
    store: LogStore, names: Sequence[str], *, batch_bytes: int = BATCH_BYTES
) -> Iterator[list[CommitData]]:
    """Yield commits in batches of about `batch_bytes`, each commit whole."""
    batch: list[CommitData] = []
    size = 0
    folder = f"{store.root}/_delta_log/"
    for first in range(0, len(names), BATCH_FILES):
        some = names[first : first + BATCH_FILES]
        for name, (data, time_ms) in zip(some, read_some(store, some), strict=True):
            if batch and size + len(data) > batch_bytes:
                yield batch
                batch, size = [], 0
            batch.append(CommitData(folder + name, data, time_ms))
            size += len(data)
    if batch:
        yield batch


def read_some(store: LogStore, names: Sequence[str]) -> list[LogFile]:
    try:
        return store.read_many(names)
    except FileNotFoundError as error:
        name = str(error.filename or names[0]).rsplit("/", 1)[-1]
        path = f"{store.root}/_delta_log/{name}"
        raise LogFileGoneError(
            path=path, reason="it disappeared while it was read"
        ) from None
