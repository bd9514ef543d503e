"""The time that a commit carries, where a table's commits carry their own.

It is that of the attempt, or a millisecond after the commit before: so it is known for
one version only, and asked for again whenever another one is tried.

Source: delta_protocol.md, "In-Commit Timestamps".
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from deltaweb.delta.features.in_commit_timestamps import (
    ENABLED_AT_MS,
    ENABLED_AT_VERSION,
    own_times,
)
from deltaweb.delta.log.commits.info import own_time_ms, read_commit_info
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.protocol.actions import Metadata
from deltaweb.delta.writing.errors import CommitTimeError
from deltaweb.delta.writing.transaction import Transaction

LAST_MS: Final = 2**63 - 1
"""Times are 64 bits with a sign, for every reader."""


@dataclass(frozen=True, slots=True, eq=False)
class CommitClock:
    """Tells the time of a transaction's commit."""

    store: TableStore
    transaction: Transaction
    now_ms: Callable[[], int]

    def time_ms(self, version: int) -> int | None:
        """Return the time for a version; None where commits carry none."""
        transaction = self.transaction
        after = own_times(transaction.next_protocol, transaction.next_metadata)
        if after is None:
            return None
        before_ms = self._before_ms(version)
        if before_ms >= LAST_MS:
            raise CommitTimeError(
                root=self.store.root, version=version, before_ms=before_ms
            )
        return max(self.now_ms(), before_ms + 1)

    def _before_ms(self, version: int) -> int:
        """Return the time of the version before, by its file where that counts."""
        if version == 0:
            return 0
        own = own_time_ms(read_commit_info(self.store, version - 1))
        if own is not None and not turns_on_own_times(self.transaction):
            return own
        with suppress(FileNotFoundError):
            status = self.store.status(commit_name(version - 1))
            return max(own or 0, status.modification_time)
        return own or 0


def turns_on_own_times(transaction: Transaction) -> bool:
    base = transaction.base
    if base is None or own_times(base.protocol, base.metadata) is not None:
        return False
    after = own_times(transaction.next_protocol, transaction.next_metadata)
    return after is not None


def dated_metadata(
    transaction: Transaction, version: int, time_ms: int | None
) -> Metadata | None:
    """Return the metaData of a commit, None for none.

    The one that turns on own times says from when on they count.
    """
    if time_ms is None or not turns_on_own_times(transaction):
        return transaction.metadata
    metadata = transaction.next_metadata
    since = {ENABLED_AT_VERSION: str(version), ENABLED_AT_MS: str(time_ms)}
    return replace(metadata, configuration={**metadata.configuration, **since})
