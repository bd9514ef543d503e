"""The files of a table's folder: what each is, and since when it is not needed.

Files and folders whose names begin with `_` or `.` are not data, but for partitions
(`_p=1`), and for the temporary files of writers that were killed (`.part-….tmp`). What
lies in the folder of another table is that table's, whatever this one knows of it.

Source: delta_protocol.md, "Add File and Remove File"; hidden names are those of the
reference implementation.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.deletion_vectors.descriptor import DeletionVector
from deltaweb.delta.deletion_vectors.errors import MalformedVectorError
from deltaweb.delta.deletion_vectors.places import paths_of_ids, vector_paths
from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.file_actions import VECTOR, dv_ids
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.replay import concat_files
from deltaweb.delta.log.segment import list_log
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.snapshot.state import SnapshotState
from deltaweb.delta.writing.concurrent_commits import read_winner
from deltaweb.delta.writing.operations.data_places import (
    are_below,
    data_places,
    kept_places,
    kept_with,
    tables_below,
)

HIDDEN: Final = r"(?:^|/)(?:\.|_[^/=]*(?:/|$))"
LEFTOVER: Final = r"^(?:[^/_.][^/]*/|_[^/]*=[^/]*/)*\.part-[^/]*\.tmp$"
CHANGE_DATA: Final = r"^_change_data/[^._][^/]*(?:/[^._][^/]*)*$"
"""Hidden, too; but its files go when their time is over."""
LIVE, TOMBSTONED, ORPHAN = "live", "tombstoned", "orphan"
CHANGES, HIDDEN_KIND, HELD = "changes", "hidden", "held"
NEEDLESS: Final = (TOMBSTONED, ORPHAN, CHANGES)
"""The kinds that a vacuum takes once they are old."""
A_DAY_MS: Final = 86_400_000  # longer than anybody writes one version
ALWAYS: Final = 2**63 - 1
NEVER: Final = -(2**63)
AGES: Final = pa.schema(
    [
        pa.field("place", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("modification_time", pa.int64()),
        pa.field("kind", pa.string()),
        pa.field("since", pa.int64()),
    ]
)


def file_ages(
    store: TableStore, state: SnapshotState, listed: pa.Table | None
) -> pa.Table:
    """Say of each file what it is, and since when the table does not need it.

    Args:
        state: The newest version.
        listed: Of `list_data_statuses`; None for an empty folder.

    Returns:
        place, size and modification_time as they were listed; kind string: `live`,
        `tombstoned` (the log knows when it left), `orphan` (the log does not know
        it), `changes` (of the change data feed), and `hidden`, which no vacuum takes,
        as what other tables have in their folders below the root;
        since int64, milliseconds: when it left the table, or was written if that was
        later. Files of deletion vectors are as the files that they are of.
    """
    if listed is None:
        return AGES.empty_table()
    root = store.root
    live = _with_linked(kept_places(_live_paths(state), root=root), store)
    left_at = _left_at(state, listed["place"], root=root)
    place = listed["place"]
    known = pc.if_else(pc.is_valid(left_at), TOMBSTONED, ORPHAN)
    kind = pc.case_when(
        pc.make_struct(
            pc.is_in(place, value_set=live.combine_chunks()),
            are_below(place, tables_below(place)),
            pc.match_substring_regex(place, CHANGE_DATA),
            pc.match_substring_regex(place, LEFTOVER),
            pc.match_substring_regex(place, HIDDEN),
        ),
        LIVE,
        HIDDEN_KIND,
        CHANGES,
        ORPHAN,
        HIDDEN_KIND,
        known,
    )
    since = pc.max_element_wise(listed["modification_time"], left_at)
    names = AGES.names[:3]
    return (
        listed.select(names)
        .append_column(AGES.field("kind"), kind)
        .append_column(AGES.field("since"), since)
    )


def _with_linked(places: pa.ChunkedArray, store: TableStore) -> pa.ChunkedArray:
    """Return places, and those that links at them lead to."""
    linked = pa.array([*store.linked_places(places.to_pylist())], pa.string())
    return pa.chunked_array([*places.chunks, linked], pa.string())


def _left_at(
    state: SnapshotState, listed: pa.ChunkedArray, *, root: str
) -> pa.ChunkedArray:
    """Return when each listed file left the table; null of others."""
    tombstones = state.tombstones()
    times = pc.fill_null(tombstones["deletion_timestamp"].cast(pa.int64()), 0)
    vectors, times_of = _vectors_left(tombstones["dv_id"], times)
    paths = pa.chunked_array([*tombstones["path"].chunks, vectors], pa.string())
    places, rows = kept_with(paths, root=root)
    all_times = pa.chunked_array([*times.chunks, times_of], pa.int64())
    left = pa.table({"place": places, "at": all_times.take(rows)})
    newest = left.group_by("place").aggregate([("at", "max")])
    found = pc.index_in(listed, value_set=newest["place"].combine_chunks())
    return newest["at_max"].combine_chunks().take(found.combine_chunks())


def _vectors_left(
    ids: pa.ChunkedArray, times: pa.ChunkedArray
) -> tuple[pa.Array, pa.Array]:
    """Return the paths of the vectors of removed files, and when these were removed."""
    left = pa.table({"id": ids, "at": times}).filter(ids.is_valid())
    newest = left.group_by("id").aggregate([("at", "max")])
    found = [
        (path, at)
        for text, at in zip(
            newest["id"].to_pylist(), newest["at_max"].to_pylist(), strict=True
        )
        for path in paths_of_ids([text])
    ]
    return (
        pa.array([path for path, _ in found], pa.string()),
        pa.array([at for _, at in found], pa.int64()),
    )


def _live_paths(state: SnapshotState) -> pa.ChunkedArray:
    parts: list[pa.Array] = []
    for block in state.blocks:
        files = concat_files([block.compact()])
        parts.extend(
            [*files["path"].chunks, pa.array(vector_paths(files), pa.string())]
        )
    return pa.chunked_array(parts, pa.string())


# === Versions ===


@dataclass(frozen=True, slots=True, eq=False)
class VersionLosses:
    """Until when each version can be read.

    Attributes:
        versions: The versions of which the log has the commit, ascending.
        since: For each the time since which one of its files is not needed:
            a cut after it takes the file. `ALWAYS` where none ever goes, `NEVER`
            where one is missing already.
    """

    versions: npt.NDArray[np.int64]
    since: npt.NDArray[np.int64]

    def lost(self, cutoff_ms: int) -> tuple[int, ...]:
        """Return the versions that a cut makes unreadable, which could be read."""
        is_lost = (self.since < cutoff_ms) & (self.since != NEVER)
        found: list[int] = self.versions[is_lost].tolist()
        return tuple(found)


def version_losses(
    store: TableStore, state: SnapshotState, ages: pa.Table
) -> VersionLosses:
    """Say until when each version can be read; a commit that does not read is passed.

    Args:
        ages: Of `file_ages`.
    """
    commits = [at for at in list_log(store).commits if at <= state.version]
    versions = np.array(commits, np.int64)
    since = np.full(len(versions), ALWAYS, np.int64)
    if not commits:
        return VersionLosses(versions, since)
    places, first, last = _spans(store, commits)
    is_kept = pc.is_in(ages["kind"], value_set=pa.array([LIVE, HELD]))
    known = ages.filter(pc.invert(is_kept))
    at = pc.index_in(places, value_set=known["place"].combine_chunks())
    is_elsewhere = pc.match_substring_regex(places, r"^/|^[A-Za-z][A-Za-z0-9+.-]*:")
    kept = ages.filter(is_kept)["place"].combine_chunks()
    is_live = pc.is_in(places, value_set=kept)
    stays = pc.or_(is_elsewhere, is_live)
    times = known["since"].combine_chunks().take(at)
    gone = pc.if_else(stays, ALWAYS, pc.fill_null(times, NEVER))
    times_of: npt.NDArray[np.int64] = np.asarray(gone, np.int64)
    begin, end = np.searchsorted(versions, first), np.searchsorted(versions, last)
    _take_least(since, begin, end, times_of)
    return VersionLosses(versions, since)


def with_held(
    store: TableStore, state: SnapshotState, ages: pa.Table, *, keep_from: int
) -> pa.Table:
    """Say of files that no vacuum takes which a version and all later ones need.

    Held is what is younger than the oldest file of them that left the table, so some
    files that none of them has are held, too: an earlier cut spares no version less.

    Args:
        ages: Of `file_ages`.
        keep_from: The oldest version that has to stay readable.

    Returns:
        The same, with the kind `held` for these files.
    """
    losses = version_losses(store, state, ages)
    is_readable = (losses.versions >= keep_from) & (losses.since != NEVER)
    oldest = int(losses.since[is_readable].min(initial=ALWAYS))
    begins = next(
        (one.modification_time for one in store.list_from(commit_name(keep_from))), 0
    )
    kind, since = ages["kind"], ages["since"]
    left = pc.is_in(kind, value_set=pa.array([TOMBSTONED, ORPHAN]))
    is_held = pc.or_(
        pc.and_(left, pc.greater_equal(since, oldest)),
        # Changes are written before their commit is.
        pc.and_(pc.equal(kind, CHANGES), pc.greater_equal(since, begins - A_DAY_MS)),
    )
    place = AGES.get_field_index("kind")
    return ages.set_column(place, AGES.field(place), pc.if_else(is_held, HELD, kind))


def _spans(
    store: TableStore, commits: Sequence[int]
) -> tuple[pa.Array, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the files that left, and the versions from which and before which.

    A vector leaves with its file, or when another takes its place; what goes with it is
    the file that holds it.
    """
    names: list[pa.Array] = []
    held: list[pa.Array] = []
    counts: list[tuple[int, bool, int]] = []
    for version in commits:
        try:
            commit = read_winner(store, version, ())
        except LogCorruptError:
            continue
        for files, is_add in ((commit.removed, False), (commit.added, True)):
            places = data_places(files["path"], root=store.root)
            vectors, held_in = _vector_places(files, root=store.root)
            names.extend([*places.chunks, vectors])
            held.extend([*places.chunks, *held_in.chunks])
            counts.append((version, is_add, len(places) + len(vectors)))
    place = pa.chunked_array(names, pa.string()).combine_chunks().dictionary_encode()
    held_by = pa.chunked_array(held, pa.string()).combine_chunks()
    if not len(place):
        nothing = np.array([], np.int64)
        return held_by, nothing, nothing
    lengths = [count for _, _, count in counts]
    version_of = np.repeat(np.array([at for at, _, _ in counts], np.int64), lengths)
    is_add_of = np.repeat(np.array([add for _, add, _ in counts], np.bool_), lengths)
    code = np.asarray(place.indices, np.int64)
    order = np.lexsort((is_add_of, version_of, code))  # a file that is put back: after
    code, version_of, is_add_of = code[order], version_of[order], is_add_of[order]
    is_same = np.concatenate([[False], code[1:] == code[:-1]])
    was_added = np.concatenate([[False], is_add_of[:-1]]) & is_same
    before = np.concatenate([[0], version_of[:-1]])
    # One that leaves twice was not there in between.
    is_end = ~is_add_of & (was_added | ~is_same)
    first = np.where(was_added, before, commits[0])[is_end]
    taken = held_by.take(pa.array(order[is_end]))
    return taken, first, version_of[is_end]


def _vector_places(files: pa.Table, *, root: str) -> tuple[pa.Array, pa.ChunkedArray]:
    """Return what identifies each vector of files, and the places they are held in."""
    marked = files[VECTOR].drop_null()
    if not len(marked):
        return pa.array([], pa.string()), pa.chunked_array([], pa.string())
    ids = dv_ids(marked.combine_chunks()).to_pylist()
    paths: dict[str, str] = {}
    for text, fields in zip(ids, marked.to_pylist(), strict=True):
        with suppress(MalformedVectorError):
            path = DeletionVector.of(fields).path
            if path is not None:
                paths[text] = path
    held_in = data_places(pa.chunked_array([[*paths.values()]], pa.string()), root=root)
    return pa.array([*paths], pa.string()), held_in


def _take_least(
    least: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    last: npt.NDArray[np.int64],
    values: npt.NDArray[np.int64],
) -> None:
    """Put into each place the least value of the spans over it; `ALWAYS` elsewhere."""
    following = np.arange(len(least) + 1)  # the next place without a value

    for span in np.argsort(values, kind="stable"):
        if values[span] == ALWAYS:
            return
        place = _free(following, int(first[span]))
        while place < last[span]:
            least[place] = values[span]
            following[place] = place + 1
            place = _free(following, place + 1)


def _free(following: npt.NDArray[np.int64], place: int) -> int:
    """Return the first place at or after one that has no value yet."""
    root = place
    while following[root] != root:
        root = int(following[root])
    while following[place] != root:
        following[place], place = root, int(following[place])
    return root
