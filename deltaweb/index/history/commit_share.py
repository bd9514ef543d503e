"""Shares of a log's commits: read, and answered with for another process."""

from collections.abc import Sequence
from contextlib import closing, suppress
from multiprocessing.connection import Connection

from deltaweb.delta.commit_batch import read_commit_batches
from deltaweb.delta.log_store import LogStore
from deltaweb.index.history.commit_part import CommitPart, commit_part


def read_here(store: LogStore, versions: Sequence[int]) -> list[CommitPart]:
    """Read the parts of some commits, oldest first.

    Raises:
        LogCorruptError: If a commit is gone since it was listed.
    """
    with closing(read_commit_batches(store, versions)) as batches:
        return [commit_part(batch) for batch in batches]


def serve(connection: Connection) -> None:
    """Answer until the other end is closed; with None to a share that fails.

    Whoever asked then meets the fault itself, and knows how to tell it.
    """
    with suppress(EOFError, OSError):
        store = connection.recv()
        while True:
            versions = connection.recv()
            try:
                parts = read_here(store, versions)
            except Exception:  # noqa: BLE001 (as said)
                parts = None
            connection.send(parts)
