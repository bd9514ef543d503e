"""The file actions of a log's runs, held while its history is read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.log.segment import VersionRun
from deltaweb.index.history.commit_part import CommitPart
from deltaweb.index.history.lifetimes import FileActions

MAX_FILE_ACTIONS: Final = 4_000_000  # in memory at once; a longer run has no totals


@dataclass(slots=True, eq=False)
class RunActions:
    """The file actions of each run, as far as memory holds them.

    Attributes:
        runs: The versions that the log can build, ascending.
        limit: How many file actions of one run are held; of a longer one, none.
    """

    runs: Sequence[VersionRun]
    limit: int = MAX_FILE_ACTIONS
    _parts: dict[VersionRun, list[FileActions]] = field(default_factory=dict)
    _counts: dict[VersionRun, int] = field(default_factory=dict)
    _unknown: list[int] = field(default_factory=list)

    def take(self, part: CommitPart) -> None:
        """Take the file actions of the next commits."""
        if part.file_actions is None:
            self._unknown += part.versions
            return
        for run in self.runs:
            actions = _between(part.file_actions, run)
            count = self._counts.get(run, 0) + len(actions.versions)
            self._counts[run] = count
            if count > self.limit:
                self._parts.pop(run, None)
            elif len(actions.versions):
                self._parts.setdefault(run, []).append(actions)

    def of(self, run: VersionRun) -> list[FileActions] | None:
        """Return the file actions of a run, or of some versions of it.

        None where it has too many, or where a commit does not say of which files
        its actions are.
        """
        if any(run.first <= version <= run.last for version in self._unknown):
            return None
        for whole in self.runs:
            if whole.first <= run.first and run.last <= whole.last:
                if self._counts.get(whole, 0) > self.limit:
                    return None
                parts = self._parts.get(whole, [_NOTHING])
                return [_between(actions, run) for actions in parts]
        return [_NOTHING]


_NO_LONGS: Final = np.empty(0, dtype=np.int64)
_NOTHING: Final = FileActions(
    versions=_NO_LONGS,
    keys=pa.array([], pa.string()),
    is_add=np.empty(0, dtype=np.bool_),
    sizes=_NO_LONGS,
    rows=_NO_LONGS,
    deletion_ms=_NO_LONGS,
)


def _between(actions: FileActions, run: VersionRun) -> FileActions:
    """Return the actions of the versions of a run."""
    versions = actions.versions
    start = int(np.searchsorted(versions, run.first, side="left"))
    end = int(np.searchsorted(versions, run.last, side="right"))
    if end - start == len(versions):
        return actions
    return replace(
        actions,
        versions=versions[start:end],
        keys=actions.keys.slice(start, end - start),
        is_add=actions.is_add[start:end],
        sizes=actions.sizes[start:end],
        rows=actions.rows[start:end],
        deletion_ms=actions.deletion_ms[start:end],
    )
