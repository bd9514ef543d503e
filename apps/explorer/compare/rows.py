"""The rows that differ between two versions, a page at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from apps.explorer.grid import (
    ChangedCell,
    ChangedColumn,
    cell,
    changed_column,
    csv_rows,
    python_values,
)
from apps.explorer.rows.selector import bounded_values, cut_length
from apps.pages.lists.paging import Paged, paged
from apps.tables.work.diff_files import FileDiff
from apps.tables.work.diff_rows import RowDiff
from deltaweb.delta.changes import ChangeType, SchemaChanges, ValueChanges
from deltaweb.words import counted

OUR_COLUMNS = 2  # of a sample: kind, and which columns changed
ROW_KINDS = ("updated", "inserted", "deleted")
WORDS = {ChangeType.INSERT: "inserted", ChangeType.DELETE: "deleted"}
MAX_COLUMNS = 60  # of a wide table that are shown at once
CSV_ROWS = 1_000  # of a batch of a download
MAX_PAGED_ROWS = 5_000_000  # of a file whose rows are found by their kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRow:
    """A changed row: `kind` is "updated", "inserted" or "deleted"."""

    kind: str
    cells: list[ChangedCell]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChangesPage:
    """A page of the rows of a comparison, and its exact counts."""

    paged: Paged
    columns: list[ChangedColumn]
    num_hidden_columns: int
    rows: list[ChangedRow]
    facts: RowDiff
    key: tuple[str, ...]
    of_kind: int

    @property
    def is_sample(self) -> bool:
        """Whether more rows changed than the pages hold."""
        return self.of_kind > self.paged.count

    @property
    def num_changed(self) -> int:
        return sum(num_rows_of(self.facts, kind) for kind in ROW_KINDS)


def num_rows_of(facts: RowDiff, kind: str) -> int:
    """Return how many rows differ in one way, a word of `ROW_KINDS`."""
    counts = {"inserted": facts.inserted, "deleted": facts.deleted}
    return counts.get(kind, facts.updated or 0)


def missing_files_reason(facts: FileDiff | None) -> str:
    """Say which files are deleted that comparing rows would read, or nothing."""
    sentences = []
    for side in facts.missing if facts else ():
        count, names = side.files, ", ".join(side.paths)
        more = " and others" if count > len(side.paths) else ""
        gone = f"; {count:,} of them {'is' if count == 1 else 'are'} deleted"
        gone = ", which is deleted" if side.of == 1 else gone
        would_read = f"{counted(side.of, 'file')} of version {side.version}"
        sentences.append(f"Comparing rows reads {would_read}{gone}: {names}{more}.")
    return " ".join(sentences)


def row_changes_page(  # noqa: PLR0913 (what is shown, from where)
    sample: pa.Table,
    facts: RowDiff,
    *,
    kind: str,
    page: int,
    zone: tzinfo,
    path: Path | None = None,
) -> RowChangesPage:
    """Return a page of changed rows ready to render.

    Args:
        sample: Some rows of each kind.
        kind: One kind of changes; "" for all, kind by kind.
        path: The file of every changed row; None pages through the sample.
    """
    key = facts.key or ()
    kinds = (kind,) if kind else ROW_KINDS
    found = _stored_page(path, kinds, page) if path else None
    if found is None:
        changes = [c for one in kinds for c in _changes(sample) if c[0] == one]
        place = paged(len(changes), page)
        chosen = changes[place.rows]
    else:
        place, rows = found
        chosen = [c for one in kinds for c in _changes(rows) if c[0] == one]
    names = sample.column_names[OUR_COLUMNS:]
    places = _shown_columns(names, key, chosen)
    return RowChangesPage(
        columns=_columns(sample, facts, places),
        num_hidden_columns=len(names) - len(places),
        rows=list(_rows(chosen, names, places, key, zone)),
        facts=facts,
        key=key,
        paged=place,
        of_kind=sum(num_rows_of(facts, one) for one in kinds),
    )


def _stored_page(
    path: Path, kinds: Sequence[str], page: int
) -> tuple[Paged, pa.Table] | None:
    """Return a page of the file of all changed rows, in the form of a sample.

    None if the file has too many rows to look through.
    """
    with pq.ParquetFile(path) as file:
        if file.metadata.num_rows > MAX_PAGED_ROWS:
            return None
        names = file.schema_arrow.names
        kind_of = file.read(columns=names[:1]).column(0).to_numpy()
        ends = {"updated": ChangeType.UPDATE_AFTER} | {
            word: kind for kind, word in WORDS.items()
        }
        places = np.concatenate(
            [np.flatnonzero(kind_of == ends[kind].value) for kind in kinds]
        )
        place = paged(len(places), page)
        chosen = places[place.rows]
        # The row before an update stands in front of the one after it.
        is_update = kind_of[chosen] == ChangeType.UPDATE_AFTER.value
        wanted = np.unique(np.concatenate([chosen, chosen[is_update] - 1]))
        rows = _rows_at(file, wanted)
    changed = pa.array(_changed_columns(rows), pa.list_(pa.string()))
    return place, rows.add_column(1, "changed", changed)


def _rows_at(file: pq.ParquetFile, places: np.ndarray) -> pa.Table:
    """Return rows by their places, ascending; only their row groups are read."""
    found, first = [file.schema_arrow.empty_table()], 0
    for number in range(file.num_row_groups):
        end = first + file.metadata.row_group(number).num_rows
        inside = places[(places >= first) & (places < end)]
        if len(inside):
            found.append(file.read_row_group(number).take(pa.array(inside - first)))
        first = end
    return pa.concat_tables(found)


def _changed_columns(rows: pa.Table) -> list[list[str] | None]:
    """Return the names of the columns that each update changed, beside its new row."""
    found: list[list[str] | None] = [None] * rows.num_rows
    kinds = rows.column(0).to_pylist()
    for name in rows.column_names[1:]:
        values = rows.column(name).to_pylist()
        for place, kind in enumerate(kinds):
            if kind == ChangeType.UPDATE_AFTER:
                old, new = values[place - 1 : place + 1]
                differs = old != new and repr(old) != repr(new)  # NaN is NaN
                found[place] = (found[place] or []) + [name] * differs
    return found


def _shown_columns(
    names: Sequence[str], key: Sequence[str], changes: Sequence["_Change"]
) -> list[int]:
    """Return the places of the columns to show: key and changed ones before others."""
    wanted = {*key, *(name for change in changes for name in change[1])}
    places = sorted(range(len(names)), key=lambda place: names[place] not in wanted)
    return sorted(places[:MAX_COLUMNS])


def _columns(
    sample: pa.Table, facts: RowDiff, places: Sequence[int]
) -> list[ChangedColumn]:
    fields = [sample.schema.field(place + OUR_COLUMNS) for place in places]
    return [
        changed_column(
            field,
            facts.column_types,
            *(
                word
                for word, names in (
                    ("key", facts.key or ()),
                    ("new", facts.columns_only_in_to),
                    ("gone", facts.columns_only_in_from),
                    ("other type", facts.columns_as_text),
                )
                if field.name in names
            ),
        )
        for field in fields
    ]


def sample_objects(sample: pa.Table) -> tuple[dict[str, list[Any]], bool]:
    """Return the sample as the JSON form shows it, by kind.

    And whether a value of it is only the beginning of a longer one.
    """
    found: dict[str, list[Any]] = {"updated": [], "inserted": [], "deleted": []}
    names = sample.column_names[OUR_COLUMNS:]
    limit = cut_length(sample.num_rows * len(names))
    is_cut = False

    def named(values: Sequence[Any]) -> dict[str, object]:
        nonlocal is_cut
        is_cut = is_cut or any(cut for _, cut in values)
        return {name: value for name, (value, _) in zip(names, values, strict=True)}

    bounded = partial(bounded_values, limit=limit)
    for kind, changed, before, after in _changes(sample, bounded):
        if kind == "updated":
            entry = {"from": named(before), "to": named(after), "changed": changed}
            found[kind].append(entry)
        else:
            found[kind].append(named(after))
    return found, is_cut


def _rows(
    changes: Sequence["_Change"],
    names: Sequence[str],
    places: Sequence[int],
    key: Sequence[str],
    zone: tzinfo,
) -> Iterator[ChangedRow]:
    for kind, changed, before, after in changes:
        differs = set(changed)
        yield ChangedRow(
            kind=kind,
            cells=[
                ChangedCell(
                    after=cell(after[place], zone),
                    before=cell(before[place], zone)
                    if names[place] in differs
                    else None,
                    is_key=names[place] in key,
                )
                for place in places
            ],
        )


_Change = tuple[str, list[str], tuple[object, ...], tuple[object, ...]]


def _changes(
    sample: pa.Table,
    values_of: Callable[[pa.ChunkedArray], Sequence[object]] = python_values,
) -> Iterator[_Change]:
    """Yield kind, changed columns, and the values before and after, of each change."""
    kinds = sample.column(0).to_pylist()
    changed = sample.column(1).to_pylist()
    columns = [values_of(column) for column in sample.columns[OUR_COLUMNS:]]
    values = list(zip(*columns, strict=True)) if columns else [()] * len(kinds)
    olds = [i for i, kind in enumerate(kinds) if kind == ChangeType.UPDATE_BEFORE]
    news = [i for i, kind in enumerate(kinds) if kind == ChangeType.UPDATE_AFTER]
    for old, new in zip(olds, news, strict=True):
        yield "updated", changed[new] or [], values[old], values[new]
    for place, kind in enumerate(kinds):
        if kind in WORDS:
            word = WORDS[ChangeType(kind)]
            yield word, [], values[place], values[place]


def named_rows(changes: SchemaChanges | ValueChanges) -> Iterator[Sequence[object]]:
    """Yield what was added, removed and changed by name, the header first."""
    yield ["change", "name", "from", "to"]
    kinds = (
        ("added", changes.added),
        ("removed", changes.removed),
        ("changed", changes.changed),
    )
    for kind, entries in kinds:
        for entry in entries:
            sides = (
                getattr(side, "type_text", side) for side in (entry.before, entry.after)
            )
            yield [
                kind,
                entry.name,
                *(", ".join(s) if isinstance(s, tuple) else s for s in sides),
            ]


def stored_rows(path: Path) -> Iterator[Sequence[object]]:
    """Yield every changed row, the header first."""
    with pq.ParquetFile(path) as file:
        yield list(file.schema_arrow.names)
        yield from csv_rows(file.iter_batches(batch_size=CSV_ROWS))
