"""Which files two versions do not share, found by identity alone."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.rewrites import FileKey, Rewrites
from deltaweb.delta.log.blocks import KeySet
from deltaweb.delta.log.file_actions import FILES_SCHEMA, file_keys

FindRewrites = Callable[[list[FileKey], list[FileKey]], Rewrites]
"""Finds the rewrites among files of the older and of the newer version alone."""


@dataclass(frozen=True, eq=False)
class FileChanges:
    """The files that one of two versions lacks, by `FILES_SCHEMA`.

    Attributes:
        added: Files that are new, and hold changed data.
        removed: Files that are gone, and held changed data.
        replaced: Files that are gone because others took their place without a
            change of data.
        rewrites_known: Whether the commits between the versions told which files
            were rewritten; without them all are among added and removed.
    """

    added: pa.Table
    removed: pa.Table
    replaced: pa.Table
    replacing: pa.Table
    num_shared: int
    rewrites_known: bool = True

    @property
    def num_differing(self) -> int:
        """How many files one of the versions lacks."""
        parts = (self.added, self.removed, self.replaced, self.replacing)
        return sum(part.num_rows for part in parts)

    def inverted(self) -> "FileChanges":
        """Return the changes of the way back."""
        return FileChanges(
            added=self.removed,
            removed=self.added,
            replaced=self.replacing,
            replacing=self.replaced,
            num_shared=self.num_shared,
            rewrites_known=self.rewrites_known,
        )


def diff_files(
    before: pa.Table, after: pa.Table, find_rewrites: FindRewrites | None
) -> FileChanges:
    """Compare the files of an older and a newer version.

    Args:
        before: Files of the older version, by `FILES_SCHEMA`.
        find_rewrites: Tells rewritten files from others; None when it cannot be
            known. It is only asked when there can be any.
    """
    old_keys, new_keys = _keys(before), _keys(after)
    is_shared = KeySet(new_keys).contains(old_keys)
    removed = before.filter(pc.invert(is_shared))
    added = after.filter(pc.invert(KeySet(old_keys).contains(new_keys)))
    num_shared = before.num_rows - removed.num_rows
    nothing = FILES_SCHEMA.empty_table()
    plain = FileChanges(added, removed, nothing, nothing, num_shared)
    if not _may_be_rewritten(removed, added):
        return plain
    if find_rewrites is None:
        return FileChanges(added, removed, nothing, nothing, num_shared, False)  # noqa: FBT003 (its field is named above)
    removed_keys, added_keys = _keys(removed), _keys(added)
    found = find_rewrites(removed_keys.to_pylist(), added_keys.to_pylist())
    was_replaced = _are_in(removed_keys, found.replaced)
    replaces = _are_in(added_keys, found.replacing)
    return FileChanges(
        added=added.filter(pc.invert(replaces)),
        removed=removed.filter(pc.invert(was_replaced)),
        replaced=removed.filter(was_replaced),
        replacing=added.filter(replaces),
        num_shared=num_shared,
    )


def _may_be_rewritten(removed: pa.Table, added: pa.Table) -> bool:
    """Tell whether a file can have taken another's place without a change of data.

    Only an add without one can say so; a checkpoint writes every add like that.
    """
    if not removed.num_rows or not added.num_rows:
        return False
    changes = pc.fill_null(added["data_change"], fill_value=True)
    return not pc.all(changes).as_py()


def _keys(files: pa.Table) -> pa.Array:
    paths, ids = files["path"].combine_chunks(), files["dv_id"].combine_chunks()
    return file_keys(paths, ids)


def _are_in(keys: pa.Array, wanted: frozenset[FileKey]) -> pa.Array:
    return pc.is_in(keys, value_set=pa.array(sorted(wanted), pa.string()))
