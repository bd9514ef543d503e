"""How long each file belonged to the table: vectorised over all actions of a log.

Every version's totals follow from it exactly, also where commits add a file again or
remove one without stating its size, and so does which versions a VACUUM has hurt.

Source: PROTOCOL.md, "Action Reconciliation".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.log.file_actions import (
    KEY_SEPARATOR,
    canonical_keys,
    has_absolute_paths,
)

UNKNOWN: Final = -1  # a size or a count of rows that the log does not state
LARGEST: Final = 2**40  # bytes or rows of a file, so that sums stay within a long
NEVER: Final = np.iinfo(np.int64).max

Longs = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


class Vacuum(NamedTuple):
    """A VACUUM of the history.

    Attributes:
        cutoff_ms: It deletes files that left the table before this time.
    """

    version: int
    cutoff_ms: int


@dataclass(frozen=True, slots=True, eq=False)
class FileActions:
    """File actions of consecutive versions, oldest first.

    Attributes:
        versions: The commit of each action; `first_version` less one for a file that
            the run starts with.
        keys: What identifies the file: a path, with its deletion vector if any.
        sizes: Bytes of an added file; `UNKNOWN` if it is not, and for removes.
        deletion_ms: When a removed file left the table; 0 if unknown.
    """

    versions: Longs
    keys: pa.Array
    is_add: Flags
    sizes: Longs
    rows: Longs
    deletion_ms: Longs


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """What holds after each version of a run; arrays from its first version on.

    Attributes:
        removed_rows: Rows of the files that left with it; `UNKNOWN` as above.
    """

    num_files: Longs
    size_bytes: Longs
    num_records: Longs
    removed_bytes: Longs
    removed_rows: Longs


@dataclass(frozen=True, slots=True)
class UntouchedFiles:
    """Files that no action of a run speaks of, added up."""

    num_files: int = 0
    size_bytes: int = 0
    num_records: int = 0
    num_unknown: int = 0

    def plus(self, sizes: Longs, rows: Longs) -> "UntouchedFiles":
        """Return the sum with more files; `UNKNOWN` if one is unknown."""
        known = rows[rows >= 0]
        return UntouchedFiles(
            self.num_files + len(sizes),
            self.size_bytes + int(np.clip(sizes, 0, LARGEST).sum()),
            self.num_records + int(np.minimum(known, LARGEST).sum()),
            self.num_unknown + len(rows) - len(known),
        )


class Lifetimes:
    """The lives of all files over a run of versions."""

    def __init__(self, actions: FileActions, *, first: int, last: int) -> None:
        """Sort the actions by file, then by version; within one the later wins.

        Args:
            actions: The files that the run starts with, then every action of it.
        """
        keys = actions.keys
        if len(keys) and has_absolute_paths(keys):
            keys = canonical_keys(keys)
        distinct = keys.dictionary_encode()
        codes = distinct.indices.to_numpy(zero_copy_only=False)
        order = np.lexsort((actions.versions, codes))
        self._codes = codes[order]
        self._keys = distinct.dictionary
        self._path_codes = _path_codes(self._keys)
        self._first, self._count = first, last - first + 1
        self._versions = np.maximum(actions.versions[order], first) - first
        self._is_add = actions.is_add[order]
        self._sizes = np.clip(actions.sizes[order], 0, LARGEST)
        self._rows = np.minimum(actions.rows[order], LARGEST)
        self._deletion_ms = actions.deletion_ms[order]

    def totals(self, standing: UntouchedFiles | None = None) -> Totals:
        """Add up what each version leaves.

        Args:
            standing: Live files that are not among the actions; none by default.
        """
        others = standing or UntouchedFiles()
        was_live = self._was_live
        ends = was_live  # an action on a live file ends its life, if only to renew it
        before = np.flatnonzero(ends) - 1
        versions = self._versions
        added, removed = self._is_add, ends & ~self._is_add
        unknown_rows = self._rows < 0
        known = np.where(unknown_rows, 0, self._rows)
        num_unknown = self._per_version(versions[added], unknown_rows[added])
        num_unknown -= self._per_version(versions[ends], unknown_rows[before])
        rows = self._per_version(versions[added], known[added])
        rows -= self._per_version(versions[ends], known[before])
        files = self._per_version(versions[added], 1) - self._per_version(
            versions[ends], 1
        )
        size = self._per_version(versions[added], self._sizes[added])
        size -= self._per_version(versions[ends], self._sizes[before])
        gone = np.flatnonzero(removed) - 1
        gone_unknown = self._per_version(versions[removed], unknown_rows[gone])
        gone_rows = self._per_version(versions[removed], known[gone])
        return Totals(
            num_files=np.cumsum(files) + others.num_files,
            size_bytes=np.cumsum(size) + others.size_bytes,
            num_records=np.where(
                np.cumsum(num_unknown) + others.num_unknown > 0,
                UNKNOWN,
                np.cumsum(rows) + others.num_records,
            ),
            removed_bytes=self._per_version(versions[removed], self._sizes[gone]),
            removed_rows=np.where(gone_unknown > 0, UNKNOWN, gone_rows),
        )

    @property
    def paths(self) -> pa.StringArray:
        """The path of each file that was ever live, as in the log; else null.

        A path that was live with several deletion vectors is there as often.
        """
        parts = pc.split_pattern(self._keys, KEY_SEPARATOR, max_splits=1)
        return pc.if_else(self._were_live, pc.list_element(parts, 0), None)

    @property
    def vector_ids(self) -> pa.StringArray:
        """The id of the deletion vector of each of `paths`; null without one."""
        if self._path_codes is None:
            return pa.nulls(len(self._keys), pa.string())
        has_vector = pc.match_substring(self._keys, KEY_SEPARATOR)
        ids = pc.replace_substring_regex(
            self._keys, pattern=f"^[^{KEY_SEPARATOR}]*{KEY_SEPARATOR}", replacement=""
        )
        return pc.if_else(pc.and_(self._were_live, has_vector), ids, None)

    @cached_property
    def _were_live(self) -> pa.BooleanArray:
        is_live = np.zeros(len(self._keys), dtype=np.bool_)
        is_live[self._codes[self._is_add]] = True
        return pa.array(is_live)

    def count_among(self, is_among: Flags) -> Longs:
        """For each version, count its live files that are among some.

        Args:
            is_among: Whether each of `paths` is, row for row.
        """
        return self._count_live(np.flatnonzero(self._is_add & is_among[self._codes]))

    def vacuumed(self, vacuums: Sequence[Vacuum]) -> tuple[Longs, Longs]:
        """For each version, what VACUUMs have deleted of its files.

        That is the newest VACUUM that deleted some, `UNKNOWN` where all are kept, and
        how many they deleted together.

        A file that is live when the VACUUM runs is kept, however often it left and
        came back before, and also where only its rows left, by a deletion vector.

        Args:
            vacuums: The VACUUMs from the run's first version on, oldest first; one
                after its last version sees the files as that version left them.

        """
        versions = np.full(self._count, UNKNOWN, dtype=np.int64)
        is_lost = np.zeros(len(self._codes), dtype=np.bool_)
        for vacuum in vacuums:
            at = min(vacuum.version - self._first, self._count - 1)
            lives = self._lost_lives(self._deleted_by(vacuum, at), at)
            versions[self._count_live(lives) > 0] = vacuum.version
            is_lost[lives] = True
        return versions, self._count_live(np.flatnonzero(is_lost))

    @cached_property
    def _was_live(self) -> Flags:
        """Whether the file of each action was live before it."""
        result = np.zeros(len(self._codes), dtype=np.bool_)
        result[1:] = (self._codes[1:] == self._codes[:-1]) & self._is_add[:-1]
        return result

    @cached_property
    def _next_versions(self) -> Longs:
        """The version of the next action on the same file, `NEVER` without one."""
        result = np.full(len(self._codes), NEVER, dtype=np.int64)
        same = self._codes[1:] == self._codes[:-1]
        result[:-1][same] = self._versions[1:][same]
        return result

    def _deleted_by(self, vacuum: Vacuum, at: int) -> Flags:
        """The removes whose file the VACUUM has deleted, as of position `at`."""
        last = (self._versions <= at) & (self._next_versions > at)
        is_kept = self._is_add | (self._deletion_ms >= vacuum.cutoff_ms)
        deleted: Flags = last & ~is_kept
        if self._path_codes is not None and deleted.any():
            # The file outlives its time without a vector; a vector's own does not.
            paths = self._path_codes[self._codes]
            deleted &= (paths != self._codes) | ~np.isin(paths, paths[last & is_kept])
        return deleted

    def _lost_lives(self, deleted: Flags, at: int) -> Longs:
        """The adds that begin a life of a deleted file, all of them before `at`."""
        if not deleted.any():
            return np.empty(0, dtype=np.int64)
        codes = self._codes[deleted]
        lives = np.flatnonzero(self._is_add & (self._versions <= at))
        return lives[np.isin(self._codes[lives], codes)]

    def _count_live(self, lives: Longs) -> Longs:
        """For each version, count those of some lives that it falls into.

        Args:
            lives: Positions of the adds that begin them.
        """
        change = np.zeros(self._count + 1, dtype=np.int64)
        np.add.at(change, self._versions[lives], 1)
        ends = np.minimum(self._next_versions[lives], self._count)
        np.add.at(change, ends, -1)
        return np.cumsum(change[:-1])

    def _per_version(self, versions: Longs, amounts: Longs | Flags | int) -> Longs:
        result = np.zeros(self._count, dtype=np.int64)
        np.add.at(result, versions, amounts)
        return result


def _path_codes(keys: pa.Array) -> Longs | None:
    """Return for each key the position of its path alone, -1 where that is no key.

    None where no file has a deletion vector.
    """
    has_vector = pc.match_substring(keys, KEY_SEPARATOR)
    if not has_vector.true_count:
        return None
    paths = pc.list_element(pc.split_pattern(keys, KEY_SEPARATOR, max_splits=1), 0)
    codes: Longs = pc.fill_null(pc.index_in(paths, value_set=keys), -1).to_numpy()
    return codes.astype(np.int64)


def concat_actions(parts: Sequence[FileActions]) -> FileActions:
    """Put the actions of several batches behind each other."""
    return FileActions(
        versions=np.concatenate([part.versions for part in parts]),
        keys=pa.chunked_array(
            [part.keys for part in parts], pa.string()
        ).combine_chunks()
        if parts
        else pa.array([], pa.string()),
        is_add=np.concatenate([part.is_add for part in parts]),
        sizes=np.concatenate([part.sizes for part in parts]),
        rows=np.concatenate([part.rows for part in parts]),
        deletion_ms=np.concatenate([part.deletion_ms for part in parts]),
    )
