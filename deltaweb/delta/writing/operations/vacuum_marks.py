"""What a table's history says of a vacuum: a commit before files go, and one after.

They change nothing of the table. Names, parameters and metrics are those of the
reference implementation.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.snapshot.state import load_definition
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.transaction import Transaction

VACUUM_START = "VACUUM START"
VACUUM_END = "VACUUM END"


@contextmanager
def recorded_vacuum(
    store: TableStore, *, num_files: int, size_bytes: int, retention_ms: int
) -> Iterator[None]:
    """Commit the one mark, and after what is done within, the other.

    Args:
        retention_ms: How long is kept what left the table.
    """
    found = {"numFilesToDelete": num_files, "sizeOfDataToDelete": size_bytes}
    _mark(store, VACUUM_START, {"defaultRetentionMillis": retention_ms}, found)
    status = "FAILED"
    try:
        yield
        status = "COMPLETED"
    finally:
        gone = {"numDeletedFiles": num_files} if status == "COMPLETED" else {}
        _mark(store, VACUUM_END, {"status": status}, gone)


def _mark(
    store: TableStore,
    operation: str,
    parameters: Mapping[str, object],
    metrics: Mapping[str, int],
) -> None:
    mark = Transaction(
        base=load_definition(store),
        operation=operation,
        parameters=parameters,
        metrics=metrics,
        is_mark=True,
    )
    commit_and_checkpoint(store, mark)
