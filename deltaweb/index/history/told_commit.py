"""What a sentence about a commit is made of."""

import typing
from collections.abc import Mapping
from typing import Any

from deltaweb.delta.actions import Metadata, Protocol


class ToldCommit(typing.Protocol):
    """A commit, as far as a sentence tells of it; see `CommitSummary`."""

    @property
    def operation(self) -> str:
        """Name of the operation; empty when the commit does not say."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Its operationParameters."""
        ...

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Its operationMetrics."""
        ...

    @property
    def num_added_files(self) -> int:
        """Count of add actions."""
        ...

    @property
    def num_removed_files(self) -> int:
        """Count of remove actions."""
        ...

    @property
    def added_bytes(self) -> int:
        """Sum of the sizes of the added files."""
        ...

    @property
    def removed_bytes(self) -> int | None:
        """As above for removed ones; None when a size is missing."""
        ...

    @property
    def added_rows(self) -> int | None:
        """Sum of the rows of the added files; None when a file does not say."""
        ...

    @property
    def removed_rows(self) -> int | None:
        """As above for removed ones."""
        ...

    @property
    def data_change(self) -> bool:
        """Whether any file action changes data."""
        ...

    @property
    def metadata(self) -> Metadata | None:
        """The metaData of the commit; None when it has none."""
        ...

    @property
    def protocol(self) -> Protocol | None:
        """The protocol of the commit; None when it has none."""
        ...

    @property
    def has_transactions(self) -> bool:
        """Whether the commit notes how far an application has come."""
        ...

    @property
    def fault(self) -> str | None:
        """Why the commit does not read, None when it does."""
        ...
