"""One commit in numbers: what a history page and an index show of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deltaweb.delta.actions import Metadata, Protocol, SetTransaction


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitSummary:
    """What one commit file holds.

    Attributes:
        version: The version that the commit makes.
        timestamp_ms: Time of the commit, made monotonic over the log.
        commit_info: The commitInfo action as it is in the log; None without one.
        operation: Name of the operation; empty when the commit does not say.
        user_name: Who made it; empty when the commit does not say.
        engine_info: Which software made it; empty when the commit does not say.
        parameters: operationParameters where they are an object, else empty.
        metrics: operationMetrics where they are an object, else empty.
        num_added_files: Count of add actions.
        num_removed_files: Count of remove actions.
        added_bytes: Sum of the sizes of the added files.
        removed_bytes: As above for removed ones; None when a size is missing.
        added_rows: Sum of numRecords; None when a file has no statistics.
        removed_rows: As above for removed ones.
        data_change: Whether any file action changes data.
        metadata: The metaData of this commit; None when it has none.
        protocol: The protocol of this commit; None when it has none.
        transactions: The txn actions of this commit.
        size_bytes: Size of the commit file.
        num_actions: Count of lines that hold an action, known or not.
        max_deletion_timestamp_ms: Latest deletionTimestamp of its removes.
        fault: Why the commit does not read, None when it does; without counts then.
    """

    version: int
    timestamp_ms: int
    commit_info: Mapping[str, Any] | None = None
    operation: str = ""
    user_name: str = ""
    engine_info: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    num_added_files: int = 0
    num_removed_files: int = 0
    added_bytes: int = 0
    removed_bytes: int | None = None
    added_rows: int | None = None
    removed_rows: int | None = None
    data_change: bool = False
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    transactions: tuple[SetTransaction, ...] = ()
    size_bytes: int = 0
    num_actions: int = 0
    max_deletion_timestamp_ms: int | None = None
    fault: str | None = None

    @property
    def has_transactions(self) -> bool:
        """Whether the commit notes how far an application has come."""
        return bool(self.transactions)
