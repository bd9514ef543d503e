"""The rows that differ between two versions: a key to match them by, and a sample."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

import pyarrow as pa

from apps.explorer.cells import Cell, cell, json_value, python_values
from apps.explorer.forms import QueryError
from apps.explorer.selectors.compare import Comparison
from deltaweb.delta.table_changes import ChangeType

MAX_KEYS = 10
MAX_COMMITS_READ = 200  # of those between the versions, for a key
OUR_COLUMNS = 2  # of a sample: kind, and which columns changed
# `target.order_id = source.order_id`, with the `#12` that Spark may add to a name.
_EQUALS = re.compile(
    r"(?:[\w`]+\.)?`?([\w ]+?)`?(?:#\d+L?)?\s*<?=>?\s*(?:[\w`]+\.)?`?([\w ]+?)`?"
    r"(?:#\d+L?)?(?=[\s)\]\"']|$)"
)
_ID_NAMES = re.compile(r"(?:^|_)(?:id|key|uuid)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySuggestion:
    """A key to match rows by, and why."""

    columns: tuple[str, ...]
    reason: str

    @property
    def text(self) -> str:
        """The key as the address has it."""
        return ",".join(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCell:
    """A cell of a changed row; `before` is there where an update changed it."""

    after: Cell
    before: Cell | None
    is_key: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRow:
    """A changed row: `kind` is "updated", "inserted" or "deleted"."""

    kind: str
    cells: list[ChangedCell]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowColumn:
    """A column of the changed rows."""

    name: str
    type_text: str
    note: str
    is_number: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChangesPage:
    """The sample of a comparison of rows, and its exact counts."""

    columns: list[RowColumn]
    rows: list[ChangedRow]
    facts: Mapping[str, Any]
    key: tuple[str, ...]

    @property
    def is_sample(self) -> bool:
        """Whether more rows changed than are shown."""
        counts = (self.facts.get(name) or 0 for name in ("inserted", "deleted"))
        return sum(counts) + (self.facts.get("updated") or 0) > len(self.rows)

    @property
    def num_changed(self) -> int:
        """How many rows changed."""
        names = ("inserted", "deleted", "updated")
        return sum(int(self.facts.get(name) or 0) for name in names)


def parse_key(text: str, found: Comparison) -> tuple[str, ...]:
    """Read `key=` of an address: names of columns, separated by commas.

    Raises:
        PageError: 400 for a column that not both versions have.
    """
    names = [text] if text in found.columns else text.split(",")
    key = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    unknown = [name for name in key if name not in found.columns]
    if unknown or len(key) > MAX_KEYS:
        named = repr(unknown[0][:80]) if unknown else "so many"
        expected = f"columns that both versions have, not {named}"
        raise QueryError(part="key", expected=expected)
    return key


def suggest_key(found: Comparison) -> KeySuggestion | None:
    """Suggest a key: that of the merges between the versions, or a name like an id."""
    if found.before is None or found.after is None:
        return None
    low, high = sorted((found.before.version, found.after.version))
    commits = found.table.commits.filter(
        version__gt=low, version__lte=high, operation="MERGE"
    ).order_by("-version")
    for parameters in commits.values_list("parameters", flat=True)[:MAX_COMMITS_READ]:
        columns = _merge_columns(parameters, found.columns)
        if columns:
            return KeySuggestion(columns=columns, reason="the key of the merges")
    named = [name for name in found.columns if _ID_NAMES.search(name)]
    if named:
        return KeySuggestion(columns=(named[0],), reason="its name says so")
    return None


def row_changes_page(
    sample: pa.Table, facts: Mapping[str, Any], *, kind: str, zone: tzinfo
) -> RowChangesPage:
    """Return the sample ready to render, of one kind or of all for ""."""
    key = tuple(facts.get("key") or ())
    names = sample.column_names[OUR_COLUMNS:]
    only_from = set(facts.get("columns_only_in_from") or ())
    only_to = set(facts.get("columns_only_in_to") or ())
    as_text = set(facts.get("columns_as_text") or ())
    types = facts.get("column_types") or {}
    columns = [
        RowColumn(
            name=name,
            type_text=_short_type(types.get(name, "")),
            note=_note(name, key, only_from, only_to, as_text),
            is_number=_is_number(sample.schema.field(index + OUR_COLUMNS).type),
        )
        for index, name in enumerate(names)
    ]
    rows = [row for row in _rows(sample, names, key, zone) if kind in {"", row.kind}]
    return RowChangesPage(columns=columns, rows=rows, facts=facts, key=key)


def sample_objects(sample: pa.Table) -> dict[str, list[Any]]:
    """Return the sample as the JSON form shows it, by kind."""
    found: dict[str, list[Any]] = {"updated": [], "inserted": [], "deleted": []}
    names = sample.column_names[OUR_COLUMNS:]
    longs = [
        pa.types.is_int64(sample.schema.field(index + OUR_COLUMNS).type)
        for index in range(len(names))
    ]

    def named(values: Sequence[object]) -> dict[str, object]:
        return {
            name: json_value(value, is_long=is_long)
            for name, value, is_long in zip(names, values, longs, strict=True)
        }

    for kind, changed, before, after in _changes(sample):
        if kind == "updated":
            entry = {"from": named(before), "to": named(after), "changed": changed}
            found[kind].append(entry)
        else:
            found[kind].append(named(after))
    return found


def _rows(
    sample: pa.Table, names: Sequence[str], key: Sequence[str], zone: tzinfo
) -> Iterator[ChangedRow]:
    for kind, changed, before, after in _changes(sample):
        differs = set(changed)
        yield ChangedRow(
            kind=kind,
            cells=[
                ChangedCell(
                    after=cell(now, zone),
                    before=cell(was, zone) if name in differs else None,
                    is_key=name in key,
                )
                for name, was, now in zip(names, before, after, strict=True)
            ],
        )


_Change = tuple[str, list[str], tuple[object, ...], tuple[object, ...]]


def _changes(sample: pa.Table) -> Iterator[_Change]:
    """Yield kind, changed columns, and the values before and after, of each change."""
    kinds = sample.column(0).to_pylist()
    changed = sample.column(1).to_pylist()
    columns = [python_values(column) for column in sample.columns[OUR_COLUMNS:]]
    values = list(zip(*columns, strict=True)) if columns else [()] * len(kinds)
    olds = [i for i, kind in enumerate(kinds) if kind == ChangeType.UPDATE_BEFORE]
    news = [i for i, kind in enumerate(kinds) if kind == ChangeType.UPDATE_AFTER]
    for old, new in zip(olds, news, strict=True):
        yield "updated", changed[new] or [], values[old], values[new]
    words = {ChangeType.INSERT: "inserted", ChangeType.DELETE: "deleted"}
    for place, kind in enumerate(kinds):
        if kind in words:
            word = words[ChangeType(kind)]
            yield word, [], values[place], values[place]


def _note(
    name: str,
    key: Sequence[str],
    only_from: set[str],
    only_to: set[str],
    as_text: set[str],
) -> str:
    notes = [
        (name in key, "key"),
        (name in only_to, "new"),
        (name in only_from, "gone"),
        (name in as_text, "other type"),
    ]
    return ", ".join(word for holds, word in notes if holds)


def _short_type(text: str) -> str:
    """Return the name of a type; what it nests is too long for a header."""
    return text.partition("<")[0]


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
    )


def _merge_columns(
    parameters: Mapping[str, Any], columns: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns that a merge compared for equality."""
    predicate = parameters.get("predicate") or parameters.get("mergePredicate") or ""
    by_lower = {name.lower(): name for name in columns}
    pairs = _EQUALS.findall(str(predicate)[:2_000])
    named = [
        by_lower[left.strip().lower()]
        for left, right in pairs
        if left.strip().lower() == right.strip().lower()
        and left.strip().lower() in by_lower
    ]
    return tuple(dict.fromkeys(named))[:MAX_KEYS]
