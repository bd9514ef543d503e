"""Which files only replaced others without a change of data, as compaction does.

Files that a commit moved into one another with `dataChange` false form a group. A
group is a rewrite when nothing but files of the older version went into it and
nothing but files of the newer version came out of it; then both sides hold the same
rows, for every reader.

Source: delta_protocol.md, "Add File and Remove File" (`dataChange`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deltaweb.delta.log.file_actions import KEY_SEPARATOR

FileKey = str
"""What identifies a file: see `deltaweb.delta.log.file_actions.file_keys`."""


@dataclass(frozen=True)
class Rewrites:
    """The files of rewrites, by key.

    Attributes:
        replacing: Files of the newer version that they were rewritten into.
    """

    replaced: frozenset[FileKey] = frozenset()
    replacing: frozenset[FileKey] = frozenset()


def find_rewrites(
    commits: Iterable[Iterable[Mapping[str, Any]]],
    removed: Iterable[FileKey],
    added: Iterable[FileKey],
) -> Rewrites:
    """Find the rewrites among the files that two versions do not share.

    Args:
        commits: The actions of each commit between the versions, oldest first.
    """
    groups = _Groups()
    for actions in commits:
        groups.apply(actions)
    olds, news = frozenset(removed), frozenset(added)
    whole = groups.whole(olds, news)
    return Rewrites(
        replaced=frozenset(key for key in olds if groups.find(key) in whole),
        replacing=frozenset(key for key in news if groups.find(key) in whole),
    )


@dataclass
class _Groups:
    """Sets of files that were rewritten into one another, and what spoils them."""

    parents: dict[FileKey, FileKey] = field(default_factory=dict)
    sources: set[FileKey] = field(default_factory=set)
    results: set[FileKey] = field(default_factory=set)
    changed: set[FileKey] = field(default_factory=set)

    def apply(self, actions: Iterable[Mapping[str, Any]]) -> None:
        adds: list[FileKey] = []
        removes: list[FileKey] = []
        for action in actions:
            for kind, moved in (("add", adds), ("remove", removes)):
                entry = action.get(kind)
                if not isinstance(entry, dict) or "path" not in entry:
                    continue
                if entry.get("dataChange", True) is False:
                    moved.append(action_key(entry))
                else:
                    self.changed.add(action_key(entry))
        if not adds or not removes:
            return  # statistics written again, or a promise that nothing here keeps
        self.sources.update(removes)
        self.results.update(adds)
        first = self.find(removes[0])
        for key in (*removes, *adds):
            self.parents[self.find(key)] = first

    def find(self, key: FileKey) -> FileKey:
        """Return what stands for the group of a file: itself for one of no group."""
        root = key
        while (parent := self.parents.get(root, root)) != root:
            root = parent
        while (parent := self.parents.get(key, key)) != root:
            self.parents[key] = root
            key = parent
        return root

    def whole(
        self, removed: frozenset[FileKey], added: frozenset[FileKey]
    ) -> set[FileKey]:
        """Return the groups that nothing entered or left on the way."""
        members = self.sources | self.results
        broken = {
            self.find(key)
            for key in members
            if key in self.changed or not self._is_explained(key, removed, added)
        }
        return {self.find(key) for key in members} - broken

    def _is_explained(
        self, key: FileKey, removed: frozenset[FileKey], added: frozenset[FileKey]
    ) -> bool:
        """Tell whether a member came from the group or the older version alone."""
        if key in self.results and key in self.sources:
            return key not in removed and key not in added  # only passed through
        return key in added if key in self.results else key in removed


def action_key(entry: Mapping[str, Any]) -> FileKey:
    """Return the key of an add or a remove as the log has it."""
    path, vector = str(entry["path"]), entry.get("deletionVector")
    if not isinstance(vector, dict):
        return path
    vector_id = f"{vector.get('storageType')}{vector.get('pathOrInlineDv')}"
    if vector.get("offset") is not None:
        vector_id += f"@{vector['offset']}"
    return f"{path}{KEY_SEPARATOR}{vector_id}"
