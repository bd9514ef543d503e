"""The version that an operation made: what it changed, and the way back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deltaweb.web.tables.head.table_head import TableHead
from deltaweb.web.tables.models import Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeVersion:
    """A version that an operation made.

    Attributes:
        is_indexed: Whether pages know it.
        has_changes: Whether the change data feed tells which rows it changed.
        has_rows: Whether its rows can be compared with those of the version before.
        num_later: How many versions came after it, as far as is known: an undo takes
            these back, too.
    """

    version: int
    is_indexed: bool
    has_changes: bool = False
    has_rows: bool = False
    num_later: int = 0

    @property
    def before(self) -> int:
        """The version that an undo brings back; -1 before the first one."""
        return self.version - 1


def made_version(
    head: TableHead, result: Mapping[str, Any] | None
) -> MadeVersion | None:
    """Return what a job's result says that it committed; None where it made nothing."""
    if not result or not result.get("is_done") or not result.get("attempts"):
        return None
    version = result.get("version")
    if not isinstance(version, int):
        return None
    commit = head.table.commits.filter(version=version).first()
    newest = head.table.version
    if commit is None or newest is None or newest < version:
        return MadeVersion(version=version, is_indexed=False)
    metadata = head.table.metadata_versions.filter(version__lte=version).first()
    changes_rows = commit.changes_files and commit.data_change
    return MadeVersion(
        version=version,
        is_indexed=True,
        has_changes=commit.is_in_feed(metadata),
        has_rows=changes_rows and commit.readability != Commit.Readability.GONE,
        num_later=newest - version,
    )
