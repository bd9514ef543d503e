"""Parts that a log has by the names of those that are to be written.

Parts get their places one after the other. In between, readers take old and new ones
together for one checkpoint, which is right only where each part holds the same files
as the one before it: where all were dealt out by our rule. Other writers have theirs.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import CheckpointPartsError, LogCorruptError
from deltaweb.delta.log.checkpoints.part import CheckpointRowGroup, open_part
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.writing.checkpoint.parts import split_paths

PATHS = ("add.path", "remove.path")


def make_way(store: LogStore, version: int, names: Sequence[str]) -> None:
    """Delete other writers' parts, where no reader takes them for a checkpoint."""
    for name in _find_strangers(store, version, names):
        store.delete(name)


def check_way(store: LogStore, version: int, names: Sequence[str]) -> None:
    """Look for another writer's checkpoint by the same names."""
    _find_strangers(store, version, names)


def _find_strangers(store: LogStore, version: int, names: Sequence[str]) -> list[str]:
    """Return the names of parts that were dealt out by another rule than ours."""
    if len(names) == 1:  # it takes the place of another one at once
        return []
    listed = set(store.list_names_from(names[0])) & set(names)
    strangers = []
    num_whole = 0
    for position, name in enumerate(names):
        if name not in listed:
            continue
        try:
            is_ours = _is_ours(open_part(store, name), position, len(names))
        except LogCorruptError:
            continue  # nobody reads a checkpoint with this part
        num_whole += 1
        if not is_ours:
            strangers.append(name)
    if strangers and num_whole == len(names):
        raise CheckpointPartsError(root=store.root, version=version, parts=len(names))
    return strangers


def _is_ours(groups: Sequence[CheckpointRowGroup], position: int, count: int) -> bool:
    """Tell whether all files of a part are of those that our rule puts there."""
    for group in groups:
        for leaf in PATHS:
            if not group.find_leaves(leaf):
                continue
            rows = group.part.read(group.indices, [leaf])[leaf.split(".")[0]]
            paths = pc.struct_field(rows, ["path"]).combine_chunks()
            named = paths.cast(pa.string()).drop_null()
            if len(split_paths(named, count)[position]) < len(named):
                return False
    return True
