"""The commit loop: put if absent, look who won, give way or refuse.

A commit is known by the `txnId` of its commitInfo. Whatever a store answers to a put,
an error or that the name is taken, is checked by reading the version back: a put that
was answered with a timeout may have been done, and one that was tried again by the
store's own client then finds its own file there.

Source: delta_protocol.md, "Creation of New Log Entries";
delta_protocol_first_draft.md, "Blob Store Requirements".
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final
from uuid import uuid4

from deltaweb.delta.errors import (
    CredentialsNeededError,
    DeltaError,
    LocationDeniedError,
    LocationError,
    LocationNotWritableError,
    LocationUnsupportedError,
    StorageFullError,
)
from deltaweb.delta.log.commits.arrow_reader import CommitData
from deltaweb.delta.log.commits.partition_keys import partition_keys
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.authorship import now_ms
from deltaweb.delta.writing.commit_clock import CommitClock
from deltaweb.delta.writing.commit_text import CommitText, numbering_of
from deltaweb.delta.writing.concurrent_commits import (
    WinningCommit,
    covers,
    is_noted,
    parse_winner,
)
from deltaweb.delta.writing.conflicts import find_conflict, is_ignored
from deltaweb.delta.writing.errors import (
    CommitConflictError,
    CommitOutcomeUnknownError,
    LocationTakenError,
    StoreNotWritableError,
)
from deltaweb.delta.writing.requirements import check_requirements
from deltaweb.delta.writing.results import committed, nothing_done
from deltaweb.delta.writing.transaction import CommitResult, Transaction
from deltaweb.delta.writing.validation import check_actions, check_clustering

LASTING_FAULTS: Final = (
    CredentialsNeededError,
    LocationDeniedError,
    LocationNotWritableError,
    LocationUnsupportedError,
    StorageFullError,
    StoreNotWritableError,
)
"""Faults of a put that another try would meet again."""

SMALL_COMMIT_BYTES: Final = 1 << 16
"""A commit that is smaller is read whole where it is asked whose it is."""


@dataclass(frozen=True, slots=True)
class CommitPolicy:
    """How long a commit is tried, and how it waits in between.

    Attributes:
        first_pause_s: About how long the first pause is; each is twice the last.
        longest_race_pause_s: Nor than this while others win: the log goes on.
        clock: Seconds, only ever more.
        draw: A number from 0 to 1, so that racing writers drift apart.
    """

    max_attempts: int = 500
    max_time_s: float = 300.0
    first_pause_s: float = 0.005
    longest_pause_s: float = 1.0
    longest_race_pause_s: float = 0.05
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    now_ms: Callable[[], int] = now_ms
    draw: Callable[[], float] = random.random

    def attempts(self, is_race: Callable[[], bool]) -> Iterator[int]:
        """Yield 1, 2 and so on, with jittered pauses between, as long as it may go.

        Who loses the first race tries again at once.
        """
        deadline = self.clock() + self.max_time_s
        pause_s = self.first_pause_s
        for attempt in range(1, self.max_attempts + 1):
            yield attempt
            if self.clock() >= deadline:
                return
            is_lost = is_race()
            if is_lost and attempt == 1:
                continue  # only now is it known where the others are
            most = self.longest_race_pause_s if is_lost else self.longest_pause_s
            self.pause(min(pause_s, most) * self.draw())
            pause_s = min(2 * pause_s, self.longest_pause_s)


DEFAULT_POLICY: Final = CommitPolicy()


class _Outcome(Enum):
    """What became of a put."""

    WON = "our commit is there"
    LOST = "another's is"
    ABSENT = "none is"
    UNKNOWN = "storage does not say"


def commit(
    store: TableStore,
    transaction: Transaction,
    *,
    policy: CommitPolicy = DEFAULT_POLICY,
) -> CommitResult:
    """Make a transaction the next version of its table.

    When it is known that it lost, the files that were written for it are deleted.

    Returns:
        What became of it; `version` is None where its `txn` was there already.
    """
    if transaction.is_empty:
        return nothing_done(transaction)
    attempt = _Attempt(store, transaction, policy)
    try:
        with store.repeated_put() as attempt.put_if_absent:
            return attempt.run()
    except CommitOutcomeUnknownError:
        raise
    except BaseException:
        if not attempt.is_ambiguous:
            attempt.discard_files()
        raise


class _Attempt:
    """One transaction on its way: the version that it tries, and what it knows."""

    def __init__(
        self, store: TableStore, transaction: Transaction, policy: CommitPolicy
    ) -> None:
        self.store = store
        self.put_if_absent: Callable[[str, bytes], None] = store.put_if_absent
        self.transaction = transaction
        self.policy = policy
        self.clock = CommitClock(store, transaction, policy.now_ms)
        self.txn_id = str(uuid4())
        base = transaction.base
        self.version = 0 if base is None else base.version + 1
        self.rebased_over: list[int] = []
        self.defined: WinningCommit | None = None  # the last that changed a definition
        self.is_ambiguous = False  # a put may have been done, or may yet be
        self.fault: DeltaError | None = None
        self.text: CommitText | None = None
        self.is_race = False  # the last put was lost to another writer
        self.seen: bytes | None = None  # the commit that was found at the version

    def run(self) -> CommitResult:
        transaction, root = self.transaction, self.store.root
        check_requirements(transaction, root=root)
        check_actions(transaction, root=root, version=self.version)
        check_clustering(self.store, transaction)
        text = self.text = CommitText(
            transaction,
            root=root,
            txn_id=self.txn_id,
            now_ms=self.policy.now_ms(),
            numbering=numbering_of(self.store, transaction),
        )
        txn = None if transaction.base is None else transaction.txn
        if is_noted(self.store, txn) or (
            not self._is_history_whole() and self._follow()
        ):
            self.discard_files()
            return nothing_done(transaction, is_noted=True)
        for attempt in self.policy.attempts(lambda: self.is_race):
            outcome = self._put(text)
            self.is_race = outcome is _Outcome.LOST
            if outcome is _Outcome.WON:
                return committed(
                    transaction,
                    self.version,
                    attempts=attempt,
                    rebased_over=self.rebased_over,
                )
            if outcome is _Outcome.LOST and self._follow():
                self.discard_files()
                return nothing_done(transaction, is_noted=True)
        raise self._given_up()

    # === One put ===

    def _put(self, text: CommitText) -> _Outcome:
        name = commit_name(self.version)
        data = text.of_version(self.version, self.clock.time_ms(self.version))
        self.is_ambiguous = True
        try:
            self.put_if_absent(name, data)
        except FileExistsError:
            self.fault = None
        except LocationError as fault:
            self.fault = fault
        else:
            return _Outcome.WON
        try:
            outcome = self._look(name, text)
        except DeltaError as fault:
            self.fault = self.fault or fault
            return _Outcome.UNKNOWN
        is_lasting = isinstance(self.fault, LASTING_FAULTS)
        # While none is there, what storage was sent may still come to be.
        self.is_ambiguous = outcome is _Outcome.WON or (
            outcome is _Outcome.ABSENT and self.fault is not None and not is_lasting
        )
        if outcome is _Outcome.ABSENT and self.fault is not None and is_lasting:
            raise self.fault
        return outcome

    def _look(self, name: str, text: CommitText) -> _Outcome:
        """Tell whose commit is there: a unique id in its first line says so."""
        length = max(text.info_bytes, SMALL_COMMIT_BYTES)
        try:
            head = self.store.read_head(name, length)
        except FileNotFoundError:
            return _Outcome.ABSENT
        self.seen = head if len(head) < length else None
        return _Outcome.WON if self.txn_id.encode() in head else _Outcome.LOST

    def _given_up(self) -> DeltaError:
        if self.is_ambiguous:
            reason = "no answer" if self.fault is None else self.fault.code
            return CommitOutcomeUnknownError(
                root=self.store.root,
                version=self.version,
                txn_id=self.txn_id,
                reason=reason,
            )
        kind, reason = "attempts", "another writer committed first at every attempt"
        return self._conflict(kind, reason, version=self.version)

    # === Giving way ===

    def _is_history_whole(self) -> bool:
        """Tell whether the next version surely was never there.

        A log that was cleaned up since the base was read has lost the names by which
        a put finds out that it came late.
        """
        base = self.transaction.base
        if base is None or base.version == 0:
            return True
        with contextlib.suppress(FileNotFoundError):
            self.store.status(commit_name(base.version))
            return True
        later = self.store.list_names_from(commit_name(self.version))
        return not any(name[:1].isdigit() for name in later)

    def _follow(self) -> bool:
        """Give way to all commits that were made first.

        Returns:
            Whether one of them noted the transaction's `txn`: it is done already.
        """
        transaction = self.transaction
        if transaction.base is None:
            raise LocationTakenError(location=self.store.root)
        keys = partition_keys(transaction.base.protocol, transaction.base.metadata)
        first = self.version
        numbering = None if self.text is None else self.text.numbering
        for version, commit_file in self._winners():
            # What took ids of rows is inspected, whatever else it did.
            if numbering is None and is_ignored(transaction, commit_file.data):
                self._pass(version)
                continue
            winner = parse_winner(commit_file, version, keys).on_top_of(self.defined)
            conflict = find_conflict(transaction, winner)
            if winner.changes_definition:
                self.defined = winner
            if conflict is None:
                if numbering is not None:
                    numbering.follow(winner.row_id_mark)
                self._pass(version)
                continue
            if conflict.kind == "transaction" and covers(
                winner.transactions, transaction.txn
            ):
                return True
            raise self._conflict(
                conflict.kind,
                conflict.reason,
                version=winner.version,
                winning_operation=winner.operation or "",
                subject=conflict.subject,
            )
        if self.version == first:
            kind, reason = "history", "its history was cleaned up during the commit"
            raise self._conflict(kind, reason, version=first)
        self.is_ambiguous = False
        return False

    def _pass(self, version: int) -> None:
        self.rebased_over.append(version)
        self.version = version + 1

    def _winners(self) -> Iterator[tuple[int, CommitData]]:
        """Read the commits from the version on that was tried, each once.

        The next one is asked for by its name: a listing would tell of all the log.
        """
        folder = f"{self.store.root}/_delta_log"
        while True:
            name = commit_name(self.version)
            data, self.seen = self.seen, None
            if data is None:
                try:
                    data = self.store.read(name)
                except FileNotFoundError:
                    return
            yield self.version, CommitData(f"{folder}/{name}", data)

    def _conflict(
        self,
        kind: str,
        reason: str,
        *,
        version: int,
        winning_operation: str = "",
        subject: str = "",
    ) -> CommitConflictError:
        return CommitConflictError(
            root=self.store.root,
            version=version,
            kind=kind,
            operation=self.transaction.operation,
            winning_operation=winning_operation,
            subject=subject,
            reason=reason,
        )

    # === What is left ===

    def discard_files(self) -> None:
        """Delete the files that no commit refers to; what stays, a vacuum takes."""
        discard_files(self.store, self.transaction.written_paths())


def discard_files(store: TableStore, paths: list[str]) -> None:
    """Delete data files that were written and are not committed; faults are passed."""
    for path in paths:
        with contextlib.suppress(DeltaError, OSError):
            store.delete_data_file(path)
