"""After every tenth commit a checkpoint, in the background.

The version is there before the checkpoint begins, and whatever becomes of that, the
commit stands: a fault is logged. A process that ends waits for its checkpoints.

Source: delta_protocol.md, "Checkpoints".
"""

import logging
import os
import threading
from collections.abc import Mapping
from contextvars import copy_context
from typing import Final

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.authorship import now
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.transaction import CommitResult, Transaction

CHECKPOINT_INTERVAL: Final = "delta.checkpointInterval"
DEFAULT_INTERVAL: Final = 10

logger = logging.getLogger(__name__)
_under_way: dict[tuple[int, str], threading.Thread] = {}


def commit_and_checkpoint(store: TableStore, transaction: Transaction) -> CommitResult:
    """Commit, and begin a checkpoint where one is due.

    Raises:
        DeltaError: As `commit` lists them.
    """
    result = commit(store, transaction)
    if result.attempts and result.version is not None:
        configuration = transaction.next_metadata.configuration
        if is_checkpoint_due(result.version, configuration):
            _begin_checkpoint(store, result.version)
    return result


def is_checkpoint_due(version: int, configuration: Mapping[str, str]) -> bool:
    """Tell whether a version is one that gets a checkpoint.

    An interval that is none, as others may have set it, is the usual one.
    """
    text = configuration.get(CHECKPOINT_INTERVAL, "").strip()
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(2**31))
    interval = int(text) if is_number else DEFAULT_INTERVAL
    return version > 0 and version % (interval or DEFAULT_INTERVAL) == 0


def wait_for_checkpoints() -> None:
    """Return when the checkpoints that this process began are done."""
    for (process, _), thread in list(_under_way.items()):
        if process == os.getpid():
            thread.join()


# Pools take no more work once a process has begun to end, which is before it waits for
# threads: so checkpoints are waited for ahead of both.
threading._register_atexit(wait_for_checkpoints)  # type: ignore[attr-defined]  # noqa: SLF001  # no public way


def _begin_checkpoint(store: TableStore, version: int) -> None:
    """Begin one, unless the table's last is still being written.

    A table that is written that fast gets its checkpoint with a later version.
    """
    key = (os.getpid(), store.root)
    last = _under_way.get(key)
    if last is not None and last.is_alive():
        return

    def run() -> None:
        try:
            _checkpoint(store, version)
        finally:
            _under_way.pop(key, None)

    dated = copy_context()  # it is of the time of its commit
    thread = threading.Thread(
        target=dated.run, args=(run,), name=f"checkpoint of version {version}"
    )
    _under_way[key] = thread
    try:
        thread.start()
    except RuntimeError as error:  # no thread to be had, or the process ends
        _under_way.pop(key, None)
        _log_failure(store, version, error)


def _checkpoint(store: TableStore, version: int) -> None:
    # Nine of ten commits are made without what writes checkpoints.
    from deltaweb.delta.writing.checkpoint.builder import (  # noqa: PLC0415
        CheckpointRequest,
        build_checkpoint,
    )

    try:
        build_checkpoint(store, CheckpointRequest(version=version, now=now()))
    except Exception as error:  # noqa: BLE001  # the commit stands, whatever it is
        _log_failure(store, version, error)


def _log_failure(store: TableStore, version: int, error: Exception) -> None:
    logger.warning("no checkpoint of version %d of %s: %s", version, store.root, error)
