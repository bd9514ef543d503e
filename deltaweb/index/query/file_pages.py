"""Pages of a version's files, each of which begins where the one before has ended.

The files have one order, which every process makes alike: those of an index as it has
them, and behind them those that are not in it by their paths. So the files of a page
stand together, and of the index no more is read than they take. An index is named by
the place that a page begins at, and stays while somebody may ask for the next one
(`index.folder.held`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.scan.predicate import NOTHING, Predicate
from deltaweb.index.query.file_part import FilePart, Rows
from deltaweb.index.query.file_selection import FileSelection, SelectedPart
from deltaweb.index.query.indexed_part import IndexedPart
from deltaweb.index.query.shared_version import LivePart, SharedVersion, running_total


@dataclass(frozen=True, slots=True)
class PagePlace:
    """Where a page begins.

    Attributes:
        index: The index in whose order the files are; "" where all are by their paths.
        row: How many files of the index are before it; None where all are.
        rank: How many of the others are before it.
    """

    index: str = ""
    row: int | None = 0
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which files a query asks for, and how many of them at a time.

    Attributes:
        limit: As there; the rows that pages before have not brought.
        max_files: How many files a page has at most; None for all that are left.
    """

    predicates: Sequence[Predicate] = ()
    misses: Predicate = NOTHING
    limit: int | None = None
    max_files: int | None = None


@dataclass(frozen=True, slots=True)
class FilePage:
    """The files of a page.

    Attributes:
        next_place: Where the next page begins; None where no file is left.
        limit: How many rows of the limit are missing still; None without one.
    """

    selection: FileSelection
    next_place: PagePlace | None
    limit: int | None


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Files that follow each other."""

    parts: Sequence[LivePart]
    order: Rows
    place: PagePlace

    def place_of(self, position: int) -> PagePlace:
        if self.place.row is None:
            return replace(self.place, rank=position)
        return replace(self.place, row=self.place.row + position)

    def start(self, place: PagePlace) -> int:
        if self.place.row is None:
            return place.rank
        return max(0, (place.row or 0) - self.place.row)


def first_place(version: SharedVersion) -> PagePlace:
    """Return where the first page of a version begins."""
    return PagePlace(version.index)


def page_of(version: SharedVersion, place: PagePlace, wanted: Wanted) -> FilePage:
    """Return the page of a version's files that begins at a place."""
    chosen: list[SelectedPart] = []
    room, missing = wanted.max_files, wanted.limit
    for run in _runs(version, place):
        if missing == 0:
            break
        masks = [
            version.matching(part, live, wanted.predicates) for part, live in run.parts
        ]
        start = run.start(place)
        found = np.flatnonzero(np.concatenate(masks)[run.order[start:]]) + start
        if room is not None and len(found) > room:
            following: PagePlace | None = run.place_of(int(found[room]))
            found = found[:room]
        else:
            following = None
        taken = [
            SelectedPart(part, mask)
            for (part, _), mask in zip(run.parts, masks, strict=True)
        ]
        if missing is not None:
            counts = [version.sure_records(one, wanted.misses) for one in taken]
            reached = running_total(np.concatenate(counts)[run.order[found]], missing)
            found = found[: np.searchsorted(reached, missing) + 1]
            missing -= int(reached[len(found) - 1]) if len(found) else 0
        chosen += _only(taken, run.order[found])
        if missing != 0 and following is not None:
            return FilePage(version.selection(chosen), following, missing)
        room = None if room is None else room - len(found)
    return FilePage(version.selection(chosen), None, missing)


def _runs(version: SharedVersion, place: PagePlace) -> Iterator[_Run]:
    """Yield the files from a place on, those of an index part by part."""
    indexed: list[tuple[int, LivePart]] = []
    others: list[LivePart] = []
    for part, live in version.live_parts():
        if isinstance(part, IndexedPart) and part.index == place.index:
            indexed.append((part.first_row, (part, live)))
        else:
            others.append((part, live))
    if place.row is not None:
        for first_row, one in sorted(indexed, key=itemgetter(0)):
            if first_row + one[0].num_rows > place.row:
                at = PagePlace(place.index, first_row)
                yield _Run([one], np.arange(one[0].num_rows), at)
    if others:
        order = version.kept_order(place.index, lambda: _by_path(others))
        yield _Run(others, order, PagePlace(place.index, None))


def _by_path(parts: Sequence[LivePart]) -> Rows:
    """Return the live rows of parts, as if these were one, by path and vector."""
    first, rows, keys = 0, [], []
    for part, live in parts:
        at = np.flatnonzero(live)
        rows.append(at + first)
        keys.append(_keys(part, at))
        first += part.num_rows
    ordered = pc.sort_indices(
        pa.concat_tables(keys),
        sort_keys=[("path", "ascending"), ("dv_id", "ascending")],
    )
    found: Rows = np.concatenate(rows)[ordered.to_numpy()]
    return found


def _keys(part: FilePart, rows: Rows) -> pa.Table:
    columns = part.block.files.select(["path", "dv_id"])
    keys = pa.Table.from_batches([columns.take(pa.array(rows))])
    part.release()
    return keys


def _only(taken: Sequence[SelectedPart], rows: Rows) -> Iterator[SelectedPart]:
    """Yield parts with the rows alone that a list of all of theirs names."""
    flags = np.zeros(sum(one.part.num_rows for one in taken), np.bool_)
    flags[rows] = True
    first = 0
    for one in taken:
        end = first + one.part.num_rows
        yield SelectedPart(one.part, flags[first:end])
        first = end
