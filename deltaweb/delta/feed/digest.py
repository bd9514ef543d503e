"""What the changes of a range come to: counts by version, and the newest rows.

Counts are exact. Of the rows the newest are kept, the two of an update beside each
other, so that a page of a feed of any length is made in bounded memory.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.changes.bucket_diff import Mask
from deltaweb.delta.changes.row_changes import CHANGE_TYPE, CHANGED, ChangeType
from deltaweb.delta.changes.row_codes import row_hashes
from deltaweb.delta.feed.changed_files import ChangedFiles
from deltaweb.delta.feed.changed_rows import FeedScan
from deltaweb.delta.feed.matched_updates import match_updates
from deltaweb.delta.feed.row_schema import COMMIT_VERSION

MAX_CHANGES: Final = 5_000
MAX_BYTES: Final = 32 << 20
HELD_BYTES: Final = 256 << 20
"""Rows of a version's updates that are held to be matched."""
KINDS: Final = ("insert", "update", "delete")
COUNTS_SCHEMA: Final = pa.schema(
    [
        (name, pa.int64())
        for name in ("version", "inserted", "updated", "deleted", "num_files", "size")
    ]
    + [("from_change_files", pa.bool_())]
)
_COUNTS: Final = ("version", "inserted", "updated", "deleted")
_CHANGED_NAMES: Final = pa.list_(pa.string())
_KIND_VALUES: Final = pa.array([kind.value for kind in ChangeType])
_BEFORE: Final = list(ChangeType).index(ChangeType.UPDATE_BEFORE)
_AFTER: Final = list(ChangeType).index(ChangeType.UPDATE_AFTER)
_HASH_BITS: Final = 64

Progress = Callable[[int, int], None]
"""Called with the versions that were read, and of how many; it may raise to stop."""


@dataclass(frozen=True, kw_only=True)
class DigestRequest:
    """What of the changes is kept.

    Attributes:
        key: Columns by which the rows of an update are matched; none for rows alone.
        changed: A column: updates that changed it alone; "" for every change.
    """

    key: tuple[str, ...] = ()
    kinds: tuple[str, ...] = KINDS
    changed: str = ""
    max_changes: int = MAX_CHANGES
    max_bytes: int = MAX_BYTES


@dataclass(frozen=True, eq=False)
class FeedDigest:
    """What the changes of a range come to.

    Attributes:
        versions: Rows of `COUNTS_SCHEMA`: versions with changes, ascending; with
            `changed` asked for, what is counted are updates that changed that column.
        changes: The newest changes: `changed`, then the columns of the feed. The two
            rows of an update follow each other where they were matched, and have the
            names of the columns that differ; any other row has a null there.
        num_changes: How many changes the request leaves; more than are kept, perhaps.
        is_sampled: Whether some version updated more rows than are held at once, so
            that part of its updates was matched.
    """

    versions: pa.Table
    changes: pa.Table
    num_changes: int
    num_kept: int
    num_alone: int
    changed_cells: Mapping[str, int]
    is_sampled: bool


def digest_changes(
    feed: FeedScan,
    files: Iterable[ChangedFiles],
    request: DigestRequest,
    on_progress: Progress | None = None,
) -> FeedDigest:
    """Read the changes of a range for a page."""
    digester = Digester(feed.schema, request)
    total = len(feed.range.versions)
    for changed in files:
        digester.add_files(changed)
        for rows in feed.read(changed):
            digester.add(rows)
            if on_progress is not None:
                on_progress(digester.newest - feed.range.first + 1, total)
    return digester.result()


@dataclass
class _Updates:
    """Rows of a version's updates; of many those of some keys, one in 2^thinned."""

    rows: list[pa.Table] = field(default_factory=list)
    size_bytes: int = 0
    thinned: int = 0


class Digester:
    """Takes the rows of a feed, and keeps what `FeedDigest` has.

    Args:
        is_ordered: Whether versions come in order, so that one is over with the next.
    """

    def __init__(
        self, schema: pa.Schema, request: DigestRequest, *, is_ordered: bool = True
    ) -> None:
        self.newest = -1
        self._schema = schema.insert(0, pa.field(CHANGED, _CHANGED_NAMES))
        self._request = request
        self._is_ordered = is_ordered
        self._counts: dict[int, list[int]] = defaultdict(lambda: [0] * len(KINDS))
        self._sources: dict[int, list[int]] = {}
        self._updates: dict[int, _Updates] = {}
        self._kept: dict[int, list[tuple[int, pa.Table]]] = defaultdict(list)
        self._num_kept = self._num_changes = self._num_alone = 0
        self._changed_cells: dict[str, int] = defaultdict(int)
        self._is_sampled = False

    def add_files(self, changed: ChangedFiles) -> None:
        """Take down which files tell of the versions."""
        sizes = changed.files["size"].fill_null(0).to_numpy()
        versions, places = np.unique(changed.versions, return_inverse=True)
        counts = np.bincount(places)
        for version, count, size in zip(
            versions.tolist(),
            counts.tolist(),
            np.bincount(places, weights=sizes).tolist(),
            strict=True,
        ):
            source = self._sources.setdefault(version, [0, 0, 0])
            source[0] += count
            source[1] += int(size)
            source[2] |= changed.tells_kinds

    def add(self, rows: pa.RecordBatch) -> None:
        versions = rows.column(COMMIT_VERSION).to_numpy(zero_copy_only=False)
        kinds = pc.index_in(rows.column(CHANGE_TYPE), value_set=_KIND_VALUES)
        codes = kinds.fill_null(len(_KIND_VALUES)).to_numpy()
        table = pa.Table.from_batches([rows])
        for version in np.unique(versions).tolist():
            chosen = versions == version
            is_whole = bool(chosen.all())
            part = table if is_whole else table.filter(pa.array(chosen))
            self._add(version, part, codes if is_whole else codes[chosen])

    def merge(self, found: FeedDigest) -> None:
        """Take what another one found in other rows of the same range."""
        for version, *counts in zip(
            *(found.versions[name].to_pylist() for name in _COUNTS), strict=True
        ):
            mine = self._counts[version]
            self._counts[version] = [a + b for a, b in zip(mine, counts, strict=True)]
        for name, count in found.changed_cells.items():
            self._changed_cells[name] += count
        self._num_changes += found.num_changes - found.num_kept
        self._num_alone += found.num_alone
        self._is_sampled |= found.is_sampled
        rows = found.changes
        versions = rows[COMMIT_VERSION].to_numpy()
        is_pair = rows[CHANGED].is_valid().to_numpy()
        is_other = (np.diff(versions) != 0) | (np.diff(is_pair) != 0)
        ends = [*(np.flatnonzero(is_other) + 1).tolist(), rows.num_rows]
        start = 0
        for end in ends:
            if start < end:
                count = (end - start) // (2 if is_pair[start] else 1)
                self._keep(int(versions[start]), count, rows.slice(start, end - start))
            start = end

    def result(self) -> FeedDigest:
        """Return what was found; nothing may be added after it."""
        for version in sorted(self._updates):
            self._match(version)
        parts, room, size_bytes = [], self._request.max_changes, 0
        for version in sorted(self._kept, reverse=True):
            for count, rows in self._kept[version]:
                most = _fitting(rows, count, self._request.max_bytes - size_bytes)
                fits = min(count, room, most)
                part = rows.slice(0, rows.num_rows // count * fits)
                parts.append(part)
                size_bytes += part.nbytes
                room -= fits
        kept = pa.concat_tables([self._schema.empty_table(), *parts])
        return FeedDigest(
            versions=self._versions(),
            changes=kept,
            num_changes=self._num_changes,
            num_kept=self._request.max_changes - room,
            num_alone=self._num_alone,
            changed_cells=dict(self._changed_cells),
            is_sampled=self._is_sampled,
        )

    def _versions(self) -> pa.Table:
        known = sorted({*self._counts, *self._sources})
        rows = [
            [at, *self._counts.get(at, [0, 0, 0]), *self._sources.get(at, [0, 0, 0])]
            for at in known
        ]
        columns: list[Any] = [*zip(*rows, strict=True)] or [[]] * len(COUNTS_SCHEMA)
        arrays = [
            pa.array(column, pa.int64()).cast(kind.type)
            for column, kind in zip(columns, COUNTS_SCHEMA, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=COUNTS_SCHEMA)

    # === Rows of one version ===

    def _add(self, version: int, rows: pa.Table, codes: "np.ndarray[Any, Any]") -> None:
        if self._is_ordered and version > self.newest:
            for other in list(self._updates):
                self._match(other)
        self.newest = max(self.newest, version)
        is_update = (codes == _BEFORE) | (codes == _AFTER)
        if not self._request.changed:
            self._counts[version][1] += int((codes == _AFTER).sum())
            self._keep_singles(version, rows, codes, is_update)
        if is_update.any() and "update" in self._request.kinds:
            updates = rows if is_update.all() else rows.filter(pa.array(is_update))
            self._hold(self._updates.setdefault(version, _Updates()), updates)

    def _keep_singles(
        self, version: int, rows: pa.Table, codes: "np.ndarray[Any, Any]", updates: Mask
    ) -> None:
        """Keep rows that were inserted or deleted; each is a change by itself."""
        kinds = list(ChangeType)
        wanted = np.zeros(len(codes), np.bool_)
        for kind, at in ((ChangeType.INSERT, 0), (ChangeType.DELETE, 2)):
            chosen = codes == kinds.index(kind)
            self._counts[version][at] += int(chosen.sum())
            if kind.value in self._request.kinds:
                wanted |= chosen
        wanted &= ~updates
        if wanted.any():
            singles = rows if wanted.all() else rows.filter(pa.array(wanted))
            names = pa.nulls(singles.num_rows, _CHANGED_NAMES)
            self._keep(version, singles.num_rows, _named(singles, names))

    def _hold(self, held: _Updates, rows: pa.Table) -> None:
        """Hold rows of updates until their version is over."""
        if not self._request.key:  # they are not matched, and so many are enough
            room = 2 * self._request.max_changes
            rows = rows.slice(0, max(0, room - sum(map(len, held.rows))))
        held.rows.append(_thinned(rows, self._request.key, held.thinned))
        held.size_bytes += held.rows[-1].nbytes
        while held.size_bytes > HELD_BYTES and self._request.key:
            held.thinned += 1
            self._is_sampled = True
            held.rows = [
                _thinned(some, self._request.key, held.thinned) for some in held.rows
            ]
            held.size_bytes = sum(some.nbytes for some in held.rows)
            if held.thinned >= _HASH_BITS:
                break

    def _match(self, version: int) -> None:
        held = self._updates.pop(version)
        rows = pa.concat_tables(held.rows)
        if self._request.key:
            self._keep_pairs(version, rows)
        else:
            self._keep_alone(version, rows)

    def _keep_pairs(self, version: int, rows: pa.Table) -> None:
        found = match_updates(rows, self._request.key)
        chosen = np.ones(len(found.after), np.bool_)
        if self._request.changed:
            chosen = found.changed[self._request.changed]
            self._counts[version][1] += int(chosen.sum())
        for name, mask in found.changed.items():
            self._changed_cells[name] += int((mask & chosen).sum())
        count = int(chosen.sum())
        if count:
            first = np.flatnonzero(chosen)[: self._request.max_changes]
            both = np.stack([found.before[first], found.after[first]], axis=1).ravel()
            names = _changed_names({n: m[first] for n, m in found.changed.items()})
            twice = names.take(pa.array(np.repeat(np.arange(len(first)), 2)))
            pairs = _named(rows.take(pa.array(both)), twice)
            self._keep(version, len(first), pairs, num_more=count - len(first))
        if len(found.alone) and not self._request.changed:
            self._num_alone += len(found.alone)
            self._keep_alone(version, rows.take(pa.array(found.alone)))

    def _keep_alone(self, version: int, rows: pa.Table) -> None:
        if rows.num_rows:
            names = pa.nulls(rows.num_rows, _CHANGED_NAMES)
            self._keep(version, rows.num_rows, _named(rows, names))

    # === What is kept ===

    def _keep(
        self, version: int, count: int, rows: pa.Table, *, num_more: int = 0
    ) -> None:
        """Keep changes, and drop old ones that so many newer ones push out."""
        self._num_changes += count + num_more
        most = self._request.max_changes
        fits = min(count, most)
        rows = rows.slice(0, rows.num_rows // count * fits)
        mine = self._kept[version]
        is_pairs = rows.num_rows > fits  # they say most, and come first
        mine.insert(0 if is_pairs else len(mine), (fits, rows))
        self._num_kept += fits
        while len(mine) > 1 and sum(n for n, _ in mine[:-1]) >= most:
            self._num_kept -= mine.pop()[0]
        while len(self._kept) > 1:
            oldest = min(self._kept)
            dropped = sum(n for n, _ in self._kept[oldest])
            if self._num_kept - dropped < most:
                break
            del self._kept[oldest]
            self._num_kept -= dropped


def _named(rows: pa.Table, names: pa.Array) -> pa.Table:
    return rows.add_column(0, pa.field(CHANGED, _CHANGED_NAMES), names)


def _changed_names(changed: Mapping[str, Mask]) -> pa.Array:
    masks = np.stack(list(changed.values()), axis=1)
    lengths = masks.sum(axis=1)
    places = np.nonzero(masks)[1]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    names = pa.array(list(changed), pa.string()).take(pa.array(places))
    return pa.ListArray.from_arrays(pa.array(offsets), names)


def _thinned(rows: pa.Table, key: tuple[str, ...], times: int) -> pa.Table:
    """Return the rows of one key in 2^times, both rows of an update or none."""
    if not times or not rows.num_rows:
        return rows
    hashes = row_hashes(rows, key, seed=1)
    limit = np.uint64(1) << np.uint64(_HASH_BITS - times)
    return rows.filter(pa.array(hashes < limit))


def _fitting(rows: pa.Table, count: int, room_bytes: int) -> int:
    """Return how many changes fit beside what is kept."""
    room = max(0, room_bytes)
    return count if rows.nbytes <= room else count * room // rows.nbytes
