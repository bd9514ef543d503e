"""The index that a table has when it is indexed again."""

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltaweb.delta.log_store import LogStore
from deltaweb.index.file_index import SUMMARY, IndexMissingError
from deltaweb.index.index_result import IndexResult
from deltaweb.index.index_source import commit_digest


@dataclass(frozen=True, slots=True)
class BaseIndex:
    """An index as it was left.

    Attributes:
        folder: Where it is.
        result: The facts of its version.
    """

    folder: Path
    result: IndexResult

    def is_of_another_log(
        self,
        store: LogStore,
        commits: Sequence[int],
        latest: int,
        ids: Sequence[tuple[int, str]],
    ) -> bool:
        """Tell whether the log is not the one that the index was made from.

        A log that was cleaned is the same log. Where its commits are another's, or
        it ends earlier, the table was made anew or a backup was put back.

        Args:
            store: The log.
            commits: The commits that it holds, ascending.
            latest: Its newest version.
            ids: Versions that set the metadata, ascending, with the metaData.id.
        """
        version = self.result.version
        if version is None:
            return False
        if latest < version:
            return True
        if _id_at(ids, version) != self.result.delta_id:
            return True
        known = self.result.commit_digest
        position = bisect_right(commits, version) - 1
        if not known or position < 0 or commits[position] != version:
            return False
        return commit_digest(store, version) not in {known, None}


def load_base(folder: Path) -> BaseIndex:
    """Read what an index says of itself.

    Raises:
        IndexMissingError: If there is none, or not in our form.
    """
    try:
        values: dict[str, Any] = json.loads((folder / SUMMARY).read_text("utf-8"))
        return BaseIndex(folder, IndexResult.from_json(values))
    except (OSError, ValueError, TypeError) as error:
        raise IndexMissingError(str(folder)) from error


def _id_at(ids: Sequence[tuple[int, str]], version: int) -> str:
    """Return the id in force at a version, the first one where that is later."""
    position = bisect_right([first for first, _ in ids], version) - 1
    return ids[max(position, 0)][1] if ids else ""
