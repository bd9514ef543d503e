"""The files that a checkpoint names for its file actions.

They are in one folder of the table's own log, each holds adds and removes alone, and
a checkpoint that names some has no file action itself. What is not so is no checkpoint:
an older one is taken then.

Source: delta_protocol.md, "V2 Spec" and "Sidecar File Information".
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from deltaweb.delta.errors import LogCorruptError, PathEscapesTableError
from deltaweb.delta.log.checkpoints.part import (
    CheckpointRowGroup,
    open_part,
    raw_actions,
)
from deltaweb.delta.log.paths import SIDECARS, parse_checkpoint_name, sidecar_name
from deltaweb.delta.log.segment import Checkpoint, LogSegment
from deltaweb.delta.log.store import LogStore

CHECKPOINT_METADATA: Final = "checkpointMetadata"
SIDECAR: Final = "sidecar"
FILE_ACTIONS: Final = ("add", "remove")
LOCAL: Final = ("file://localhost/", "file:///", "file:/")


class Sidecar(NamedTuple):
    """A file with actions of a checkpoint.

    Attributes:
        name: Within the log: `_sidecars/` and the file's name.
    """

    name: str
    size_bytes: int


def find_sidecars(
    store: LogStore, checkpoint: Checkpoint, groups: Sequence[CheckpointRowGroup]
) -> list[Sidecar]:
    """Return the sidecars of a checkpoint, none for one that has its actions itself."""
    path = f"{store.root}/_delta_log/{checkpoint.names[0]}"
    named = parse_checkpoint_name(checkpoint.names[0])
    is_second = named is not None and named.has_uuid
    if not is_second and not any(group.find_leaves(SIDECAR) for group in groups):
        return []
    said = _actions(groups, CHECKPOINT_METADATA)
    raw = _actions(groups, SIDECAR)
    if len(said) != 1 and (is_second or raw):
        reason = f"it has {len(said)} {CHECKPOINT_METADATA} actions instead of one"
        raise LogCorruptError(path=path, reason=reason)
    if said and said[0].get("version") != checkpoint.version:
        reason = f"its {CHECKPOINT_METADATA} says version {said[0].get('version')}"
        raise LogCorruptError(path=path, reason=reason)
    sidecars = [_sidecar(store, action, path) for action in raw]
    if len({sidecar.name for sidecar in sidecars}) < len(sidecars):
        raise LogCorruptError(path=path, reason="it lists a sidecar twice")
    if sidecars and any(_has_any(groups, f"{kind}.path") for kind in FILE_ACTIONS):
        reason = "it has both file actions and sidecars"
        raise LogCorruptError(path=path, reason=reason)
    return sidecars


def open_sidecar(store: LogStore, name: str) -> list[CheckpointRowGroup]:
    path = f"{store.root}/_delta_log/{name}"
    try:
        groups = open_part(store, name)
    except PathEscapesTableError:
        reason = "it is a link to a place outside the table"
        raise LogCorruptError(path=path, reason=reason) from None
    if _has_any(groups, f"{SIDECAR}.path"):
        reason = "it is a sidecar, but lists sidecars itself"
        raise LogCorruptError(path=path, reason=reason)
    return groups


def _actions(groups: Sequence[CheckpointRowGroup], kind: str) -> list[dict[str, Any]]:
    return [
        action
        for group in groups
        if (leaves := group.find_leaves(kind))
        for action in raw_actions(
            group.part, group.part.read(group.indices, leaves)[kind], kind
        )
    ]


def _has_any(groups: Sequence[CheckpointRowGroup], leaf: str) -> bool:
    kind = leaf.partition(".")[0]
    return any(
        raw_actions(group.part, group.part.read(group.indices, [leaf])[kind], kind)
        for group in groups
        if group.find_leaves(leaf)
    )


def _sidecar(store: LogStore, action: dict[str, Any], path: str) -> Sidecar:
    given, size = action.get("path"), action.get("sizeInBytes")
    if not isinstance(given, str):
        raise LogCorruptError(path=path, reason="a sidecar has no path")
    name = unquote(given, errors="surrogateescape")
    for folder in _folders(store.root):
        name = name.removeprefix(f"{folder}/_delta_log/{SIDECARS}/")
    if not name or "/" in name or "\0" in name or name in {".", ".."}:
        reason = f"its sidecar {given!r} is not in the folder of sidecars of this table"
        raise LogCorruptError(path=path, reason=reason)
    return Sidecar(sidecar_name(name), size if isinstance(size, int) else 0)


def _folders(root: str) -> list[str]:
    """Return the spellings of a table's root: of a local one also as a URL."""
    if not root.startswith("/"):
        return [root]
    return [root, *(local + root.lstrip("/") for local in LOCAL)]


def named_sidecars(store: LogStore, checkpoint: Checkpoint) -> list[str]:
    """Return the names of a checkpoint's sidecars, whether they are there or not."""
    groups = [group for name in checkpoint.names for group in open_part(store, name)]
    return [sidecar.name for sidecar in find_sidecars(store, checkpoint, groups)]


def log_size_bytes(store: LogStore, segment: LogSegment) -> int:
    """Return the bytes of the files that build a version, sidecars as they are named.

    One that does not read is of no size here: reading the version says what is wrong.
    """
    size_bytes = segment.size_bytes(store)
    checkpoint = segment.checkpoint
    if checkpoint is None or len(checkpoint.names) > 1:
        return size_bytes
    try:
        groups = open_part(store, checkpoint.names[0])
        sidecars = find_sidecars(store, checkpoint, groups)
    except LogCorruptError:
        return size_bytes
    return size_bytes + sum(sidecar.size_bytes for sidecar in sidecars)
