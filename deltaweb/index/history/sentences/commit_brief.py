"""What a sentence about a commit is made of."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from deltaweb.delta.protocol.actions import Metadata, Protocol


class CommitBrief(NamedTuple):
    """A commit in brief: the facts that its sentence needs.

    Attributes:
        operation: Name of the operation; empty when the commit does not say.
        parameters: Its operationParameters.
        metrics: Its operationMetrics.
        num_added_files: Count of add actions.
        num_removed_files: Count of remove actions.
        added_bytes: Sum of the sizes of the added files.
        removed_bytes: As above for removed ones; None when a size is missing.
        added_rows: Sum of the rows of the added files; None when a file does not say.
        removed_rows: As above for removed ones.
        data_change: Whether any file action changes data.
        metadata: The metaData of the commit; None when it has none.
        protocol: The protocol of the commit; None when it has none.
        has_transactions: Whether the commit records the progress of an application.
        fault: Why the commit does not read; None when it does.
    """

    operation: str
    parameters: Mapping[str, Any]
    metrics: Mapping[str, Any]
    num_added_files: int = 0
    num_removed_files: int = 0
    added_bytes: int = 0
    removed_bytes: int | None = None
    added_rows: int | None = None
    removed_rows: int | None = None
    data_change: bool = False
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    has_transactions: bool = False
    fault: str | None = None
