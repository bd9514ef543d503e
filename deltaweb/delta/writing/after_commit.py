"""After every tenth commit a checkpoint: at once, in the background, or never.

The version is there before the checkpoint begins, and whatever becomes of that, the
commit stands: a fault is logged. It is written before the call that commits returns,
unless the caller wants otherwise. What is written in the background has an owner that
waits for it: a process that ends takes no work for pools any more, and so a checkpoint
that it had begun is left to a later commit.

Source: delta_protocol.md, "Checkpoints".
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Final, Literal, get_args

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing import checkpoint
from deltaweb.delta.writing.authorship import now
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.transaction import CommitResult, Transaction

CHECKPOINT_INTERVAL: Final = "delta.checkpointInterval"
DEFAULT_INTERVAL: Final = 10
CheckpointTime = Literal["now", "background", "never"]
"""When a checkpoint is written that a commit makes due.

`now`, before the call that commits returns; `background`, by a thread, for which
`wait_for_checkpoints` waits; `never`, as where something else sees to it.
"""

logger = logging.getLogger(__name__)
_when: Final[ContextVar[CheckpointTime]] = ContextVar("checkpoints", default="now")
_under_way: Final[dict[str, threading.Thread]] = {}


@contextmanager
def checkpoints(when: CheckpointTime | None) -> Iterator[None]:
    """Say when checkpoints are written that commits within the block make due.

    Args:
        when: The time; None for what was said around the block, which is `now` where
            nothing was.
    """
    if when is None:
        yield
        return
    if when not in get_args(CheckpointTime):
        message = f"a checkpoint is written now, background or never, not {when!r}"
        raise ValueError(message)
    token = _when.set(when)
    try:
        yield
    finally:
        _when.reset(token)


@contextmanager
def checkpoints_behind() -> Iterator[None]:
    """Let checkpoints be written in the background, and wait for them at the end.

    So a server tells people that their commit stands while it is still at work.
    """
    try:
        with checkpoints("background"):
            yield
    finally:
        wait_for_checkpoints()


def commit_and_checkpoint(store: TableStore, transaction: Transaction) -> CommitResult:
    """Commit, and write a checkpoint where one is due."""
    result = commit(store, transaction)
    when = _when.get()
    if when != "never" and result.attempts and result.version is not None:
        configuration = transaction.next_metadata.configuration
        if is_checkpoint_due(result.version, configuration):
            write = _checkpoint if when == "now" else _begin_checkpoint
            write(store, result.version)
    return result


def is_checkpoint_due(version: int, configuration: Mapping[str, str]) -> bool:
    """Tell whether a version is one that gets a checkpoint.

    An interval that is not one, as others may have set it, is the usual one.
    """
    text = configuration.get(CHECKPOINT_INTERVAL, "").strip()
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(2**31))
    interval = int(text) if is_number else DEFAULT_INTERVAL
    return version > 0 and version % (interval or DEFAULT_INTERVAL) == 0


def wait_for_checkpoints() -> None:
    """Return when the checkpoints that this process began in the background are done.

    What a copy of this process (a fork) finds here does not run there, and counts as
    done.
    """
    for root, thread in list(_under_way.items()):
        thread.join()
        _under_way.pop(root, None)


def _begin_checkpoint(store: TableStore, version: int) -> None:
    """Begin one in a thread, unless the table's last is still being written.

    A table that is written that fast gets its checkpoint with a later version.
    """
    last = _under_way.get(store.root)
    if last is not None and last.is_alive():
        return

    dated = copy_context()  # it is of the time of its commit
    thread = threading.Thread(
        target=dated.run,
        args=(_checkpoint, store, version),
        name=f"checkpoint of version {version}",
    )
    try:
        thread.start()
    except RuntimeError as error:  # no thread to be had, or the process ends
        _log_failure(store, version, error)
    else:
        _under_way[store.root] = thread


def _checkpoint(store: TableStore, version: int) -> None:
    try:
        # Nine of ten commits are made without what writes checkpoints: it loads here.
        builder = checkpoint.builder
        request = builder.CheckpointRequest(version=version, now=now())
        builder.build_checkpoint(store, request)
    except Exception as error:  # noqa: BLE001  # the commit stands, whatever it is
        _log_failure(store, version, error)


def _log_failure(store: TableStore, version: int, error: Exception) -> None:
    logger.warning(
        "the checkpoint of version %d of %s failed: %s", version, store.root, error
    )
