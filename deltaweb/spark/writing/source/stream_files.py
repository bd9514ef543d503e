"""What a stream reads of a table, file by file: a version whole, then what was added.

Files have an order that never changes: those of the first version by their paths, of
each later version as its commit has them. So a place among them is two numbers, and
what lies between two places is the same whenever it is asked for.

Source: delta_protocol.md, "Add File and Remove File" (`dataChange`).
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import VersionError, VersionNotFoundError
from deltaweb.delta.feed.feed_files import FEED_FILES_SCHEMA, FeedFiles
from deltaweb.delta.feed.versions import VersionRange
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.log.segment import read_hint_version
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import Definition, commit_status, load_state
from deltaweb.delta.snapshot.times import load_commit_times

VERSIONS_AT_ONCE: Final = 64
COLUMNS: Final = ("path", "size", "partition_values", VECTOR)


class StreamChangeError(VersionError, code="stream-change"):
    """Rows that a stream may have handed on were changed or removed."""

    path: str
    message = (
        "The stream of {root} stops: version {version} changed or removed rows that "
        "it may have read ({path:.300})."
    )
    hint = (
        "Set skipChangeCommits to skip these versions, ignoreDeletes for those "
        "that only remove, or ignoreChanges to get rewritten rows again."
    )


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """A place among the files of a stream: before the file that is read next.

    Attributes:
        index: How many files of the version are before it.
        is_snapshot: Whether the version is read whole, and not what it added.
    """

    version: int
    index: int = 0
    is_snapshot: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        return cls(
            int(values["version"]), int(values["index"]), bool(values["is_snapshot"])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRules:
    """What a stream makes of versions that change or remove rows.

    Attributes:
        ignore_changes: Also hand on all rows of files that were written again.
    """

    ignore_deletes: bool = False
    ignore_changes: bool = False
    skip_changes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamBounds:
    """How far a batch goes at most, but for its first file.

    Attributes:
        max_files: Files; None for any number.
        max_bytes: Bytes of files; None for any number.
    """

    max_files: int | None = None
    max_bytes: int | None = None
    last_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StreamedFiles:
    """The files of one version that a stream reads."""

    version: int
    is_snapshot: bool
    files: pa.Table
    definition: Definition

    def first(self, start: StreamOffset) -> int:
        is_here = (start.version, start.is_snapshot) == (self.version, self.is_snapshot)
        return start.index if is_here else 0


class StreamFiles:
    """The files of a table as a stream has them."""

    def __init__(self, store: TableStore, rules: StreamRules) -> None:
        self._store = store
        self._rules = rules
        self._snapshot: StreamedFiles | None = None

    def advance(self, start: StreamOffset, bounds: StreamBounds) -> StreamOffset:
        """Return how far the next batch goes; the same place where nothing is new."""
        end, num_files, num_bytes = start, 0, 0
        for found in self.versions(start, bounds.last_version):
            first = found.first(start)
            sizes = pc.fill_null(found.files["size"], 0).to_numpy()[first:]
            counts = num_files + np.arange(1, len(sizes) + 1)
            totals = num_bytes + np.cumsum(sizes)
            fits = np.ones(len(sizes), np.bool_)
            if bounds.max_files is not None:
                fits &= counts <= bounds.max_files
            if bounds.max_bytes is not None:
                fits &= totals <= bounds.max_bytes
            fits |= counts == 1
            taken = int(fits.sum())
            if taken < len(sizes):
                if not taken:
                    return end
                return StreamOffset(found.version, first + taken, found.is_snapshot)
            end = StreamOffset(found.version + 1)
            if taken:
                num_files, num_bytes = int(counts[-1]), int(totals[-1])
        return end

    def between(
        self, start: StreamOffset, end: StreamOffset
    ) -> Iterator[tuple[Definition, pa.Table]]:
        """Yield the files from one place to another, those of a version together."""
        stays = end.index > 0 or end.is_snapshot
        last = end.version if stays else end.version - 1
        for found in self.versions(start, last):
            stop = found.files.num_rows
            is_last = (found.version, found.is_snapshot) == (
                end.version,
                end.is_snapshot,
            )
            if is_last and stays:
                stop = end.index
            first = found.first(start)
            yield found.definition, found.files.slice(first, max(0, stop - first))
            if is_last and stays:
                return

    def versions(
        self, start: StreamOffset, last: int | None
    ) -> Iterator[StreamedFiles]:
        version = start.version
        if start.is_snapshot:
            yield self._whole(version)
            version += 1
        while last is None or version <= last:
            most = VERSIONS_AT_ONCE
            if last is not None:
                most = min(most, last - version + 1)
            count = self._count_from(version, most)
            if not count:
                return
            yield from self._added(version, version + count - 1)
            version += count

    def _count_from(self, version: int, most: int) -> int:
        """Return how many versions from one on have a commit, probed by name."""
        count = 0
        while count < most and commit_status(self._store, version + count) is not None:
            count += 1
        hint = None if count else read_hint_version(self._store)
        if hint is not None and hint >= version:
            raise VersionNotFoundError(
                root=self._store.root, version=version, earliest=hint, latest=hint
            )
        return count

    def _whole(self, version: int) -> StreamedFiles:
        if self._snapshot is None or self._snapshot.version != version:
            state = load_state(self._store, version)
            snapshot = Snapshot(self._store, state)
            if snapshot.refusal is not None:
                raise snapshot.refusal
            files = snapshot.files.select(COLUMNS).sort_by("path")
            self._snapshot = StreamedFiles(
                version=version,
                is_snapshot=True,
                files=files,
                definition=state.definition,
            )
        return self._snapshot

    def _added(self, first: int, last: int) -> Iterator[StreamedFiles]:
        times = load_commit_times(self._store)
        found = FeedFiles(
            self._store, VersionRange(first, last, times), with_feed=False
        )
        files = pa.Table.from_batches(found.batches(), FEED_FILES_SCHEMA)
        changes = iter([*found.definitions[1:], None])
        definition, coming = found.definitions[0], next(changes)
        for version in range(first, last + 1):
            if coming is not None and coming.version == version:
                definition, coming = coming, next(changes)
            of_version = files.filter(pc.equal(files["version"], version))
            yield self._of_version(version, of_version, definition)

    def _of_version(
        self, version: int, files: pa.Table, definition: Definition
    ) -> StreamedFiles:
        is_add = pc.equal(files["kind"], "add")
        added = files.filter(is_add).select(COLUMNS)
        removed = files.filter(pc.invert(is_add))
        if removed.num_rows:
            rules = self._rules
            if rules.skip_changes:
                added = added.slice(0, 0)
            elif not (
                rules.ignore_changes or (rules.ignore_deletes and not added.num_rows)
            ):
                raise StreamChangeError(
                    root=self._store.root,
                    version=version,
                    path=removed["path"][0].as_py(),
                )
        return StreamedFiles(
            version=version, is_snapshot=False, files=added, definition=definition
        )
