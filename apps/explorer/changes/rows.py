"""The changed rows of a page: the two of an update as one, before and after."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from apps.explorer.grid import (
    MAX_DETAIL_LENGTH,
    ChangedCell,
    ChangedColumn,
    cell,
    changed_column,
    csv_rows,
    python_values,
)
from apps.explorer.rows.selector import beginnings, bounded_values, cut_length
from apps.pages.lists.paging import Paged, paged
from apps.tables.models import Commit
from apps.tables.work.changes import ChangesRead
from deltaweb.delta.changes import ChangeType
from deltaweb.delta.changes.row_changes import CHANGE_TYPE, CHANGED
from deltaweb.delta.feed import COMMIT_TIMESTAMP, COMMIT_VERSION
from deltaweb.delta.feed.matched_updates import own_columns

MAX_COLUMNS: Final = 60  # of a wide table that are shown at once
WORDS: Final = {
    ChangeType.INSERT.value: "insert",
    ChangeType.DELETE.value: "delete",
    ChangeType.UPDATE_BEFORE.value: "before",
    ChangeType.UPDATE_AFTER.value: "after",
}


class FeedRow(NamedTuple):
    """A change: `kind` is "insert", "delete" or "update".

    Or "before" or "after": a row of an update whose other one is not known.
    """

    kind: str
    version: int
    cells: list[tuple[ChangedColumn, ChangedCell]]


VersionRows: TypeAlias = list[tuple[int, Commit | None, list[FeedRow]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRows:
    """A page of changes, the newest first.

    Attributes:
        paged: Where it stands among those that were kept.
        num_hidden: How many are not.
    """

    paged: Paged
    columns: list[ChangedColumn]
    num_hidden: int
    rows: list[FeedRow]

    def by_version(self, commits: Mapping[int, Commit]) -> VersionRows:
        """Return the changes by version, with its commit where that is known."""
        groups = groupby(self.rows, key=attrgetter("version"))
        return [(at, commits.get(at), list(rows)) for at, rows in groups]


def feed_rows(  # noqa: PLR0913 (what is shown of them)
    kept: pa.Table,
    facts: ChangesRead,
    *,
    key: Sequence[str],
    shows_all: bool,
    page: int,
    zone: tzinfo,
) -> FeedRows:
    """Return a page of changes ready to render.

    Args:
        shows_all: Whether columns are shown that no update changed.
    """
    places, chosen = _page(kept, page)
    every = own_columns(name for name in kept.column_names if name != CHANGED)
    changed = facts.changed_cells
    wanted = [name for name in every if name in key or name in changed]
    shown = every if shows_all or not changed else wanted
    shown = sorted(shown, key=lambda name: name not in key)[:MAX_COLUMNS]
    types = facts.column_types
    columns = [
        changed_column(kept.schema.field(name), types, "key" if name in key else "")
        for name in shown
    ]
    return FeedRows(
        paged=places,
        columns=columns,
        num_hidden=len(every) - len(shown),
        rows=list(_rows(chosen, columns, key, zone)),
    )


def change_objects(kept: pa.Table, page: int) -> tuple[list[dict[str, object]], bool]:
    """Return a page of changes as the JSON form shows them.

    And whether a value of them is only the beginning of a longer one.
    """
    _, chosen = _page(kept, page)
    names = own_columns(name for name in kept.column_names if name != CHANGED)
    limit = cut_length(chosen.num_rows * len(names))
    is_cut = False
    values: dict[str, list[object]] = {}
    for name in names:
        bounded = bounded_values(chosen[name], limit)
        values[name] = [value for value, _ in bounded]
        is_cut = is_cut or any(cut for _, cut in bounded)

    def row(at: int) -> dict[str, object]:
        return {name: column[at] for name, column in values.items()}

    times: list[datetime] = chosen[COMMIT_TIMESTAMP].to_pylist()
    found: list[dict[str, object]] = []
    for kind, version, before, after, changed in _changes(chosen):
        entry: dict[str, object] = {
            "kind": kind,
            "version": version,
            "timestamp": times[after],
        }
        if kind == "update":
            entry |= {"before": row(before), "after": row(after), "changed": changed}
        else:
            entry |= {"row": row(after)}
        found.append(entry)
    return found, is_cut


def change_lines(kept: pa.Table) -> Iterator[Sequence[object]]:
    """Yield every row that was kept, as the CSV form shows it, the header first."""
    names = [name for name in kept.column_names if name != CHANGED]
    yield names
    yield from csv_rows(kept.select(names).to_batches(max_chunksize=1_000))


def _page(kept: pa.Table, page: int) -> tuple[Paged, pa.Table]:
    """Return where a page stands, and its rows: both of an update."""
    is_second = np.zeros(kept.num_rows, np.bool_)
    if kept.num_rows:
        kinds = kept[CHANGE_TYPE].to_pylist()
        is_after = np.array([kind == ChangeType.UPDATE_AFTER for kind in kinds])
        is_second = is_after & kept[CHANGED].is_valid().to_numpy()
    starts = [*np.flatnonzero(~is_second).tolist(), kept.num_rows]
    place = paged(len(starts) - 1, page)
    begin, end = starts[place.start], starts[place.last]
    return place, kept.slice(begin, end - begin)


def _changes(
    rows: pa.Table,
) -> Iterator[tuple[str, int, int, int, list[str]]]:
    """Yield kind, version, the places of the rows before and after, what differs."""
    kinds = rows[CHANGE_TYPE].to_pylist()
    versions = rows[COMMIT_VERSION].to_pylist()
    changed = rows[CHANGED].to_pylist()
    at = 0
    while at < len(kinds):
        if changed[at] is not None and kinds[at] == ChangeType.UPDATE_BEFORE:
            yield "update", versions[at], at, at + 1, changed[at]
            at += 2
            continue
        kind = str(kinds[at])
        yield WORDS.get(kind, kind[:20]), versions[at], at, at, []
        at += 1


def _rows(
    rows: pa.Table,
    columns: Sequence[ChangedColumn],
    key: Sequence[str],
    zone: tzinfo,
) -> Iterator[FeedRow]:
    cells = [
        [
            cell(value, zone)
            for value in python_values(
                beginnings(rows[column.name], MAX_DETAIL_LENGTH + 1)
            )
        ]
        for column in columns
    ]
    for kind, version, before, after, changed in _changes(rows):
        shown = [
            (
                column,
                ChangedCell(
                    after=values[after],
                    before=values[before] if column.name in changed else None,
                    is_key=column.name in key,
                ),
            )
            for column, values in zip(columns, cells, strict=True)
        ]
        yield FeedRow(kind, version, shown)
