"""A column, or some, that seem to name each row of a table.

A suggestion says why: a merge matched rows by it, or the statistics of files allow that
no value comes twice, and a name or dense numbers speak for it. Nothing but the database
and the index is read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.columns.wide_bounds import wide_files
from apps.explorer.version.listed import Kept
from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from deltaweb.delta.protocol.column_path import join_names
from deltaweb.index.folder.file_index import open_files
from deltaweb.index.folder.parts import IndexMissingError

MAX_KEYS = 10


MAX_COMMITS_READ = 200  # of those between the versions, for a key


MAX_COLUMNS_READ = 200


MAX_KEPT = 64


DENSE: Final = 2  # numbers of a range for each row, up to which they look counted


# `target.order_id = source.order_id`, with the `#12` that Spark may add to a name.
_EQUALS = re.compile(
    r"(?:[\w`]+\.)?`?([\w ]+?)`?(?:#\d+L?)?\s*<?=>?\s*(?:[\w`]+\.)?`?([\w ]+?)`?"
    r"(?:#\d+L?)?(?=[\s)\]\"']|$)"
)


_ID_NAMES = re.compile(r"(?:^|_)(?:id|key|uuid)$|[a-z](?:Id|ID|Key)$|^(?:Id|ID|Key)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySuggestion:
    """A key to match rows by, and why."""

    columns: tuple[str, ...]
    reason: str

    @property
    def text(self) -> str:
        """The key as the address has it."""
        return join_names(self.columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """What the files of the newest version tell of a column; None is unknown.

    Attributes:
        num_nulls: Rows without a value, where every file tells.
        low, high: The extremes of whole numbers, where every file tells.
    """

    num_rows: int
    num_nulls: int | None = None
    low: int | None = None
    high: int | None = None

    @property
    def span(self) -> int | None:
        """How many whole numbers the range has."""
        if self.low is None or self.high is None:
            return None
        return self.high - self.low + 1

    @property
    def may_be_unique(self) -> bool:
        """Whether nothing that is told says that a value is missing or comes twice."""
        if self.num_nulls:
            return False
        return self.span is None or self.span >= self.num_rows

    @property
    def is_dense(self) -> bool:
        """Whether the numbers look counted: as many as there are rows, about."""
        if self.span is None or self.num_nulls != 0 or self.num_rows <= 1:
            return False
        return self.num_rows <= self.span <= DENSE * self.num_rows


_kept: Kept[dict[str, ColumnFacts]] = Kept(MAX_KEPT)
_kept_keys: Kept[KeySuggestion | None] = Kept(MAX_KEPT)


def table_key(
    table: Table, columns: Sequence[str], *, after: int, up_to: int
) -> KeySuggestion | None:
    """Suggest a key of a table: that of a merge, or a column that looks like one.

    Args:
        after: Merges are looked for after this version,
        up_to: and up to this one.
    """
    folder = index_folder(table)
    if folder is None:
        return _table_key(table, columns, after, up_to)
    key = (str(folder), tuple(columns), after, up_to)
    return _kept_keys.get(key, lambda: _table_key(table, columns, after, up_to))


def _table_key(
    table: Table, columns: Sequence[str], after: int, up_to: int
) -> KeySuggestion | None:
    commits = table.commits.filter(
        version__gt=after, version__lte=up_to, operation="MERGE"
    ).order_by("-version")
    merges = commits.values_list("version", "parameters")
    by_lower = {name.lower(): name for name in columns}
    for version, parameters in merges[:MAX_COMMITS_READ]:
        merged = _merge_columns(parameters, by_lower)
        if merged:
            reason = f"the key of the merge of version {version}"
            return KeySuggestion(columns=merged, reason=reason)
    return likely_key(columns, column_facts(table, columns))


def likely_key(
    columns: Sequence[str], facts: Mapping[str, ColumnFacts]
) -> KeySuggestion | None:
    """Return the column that speaks most for itself; an earlier one among equals."""
    likely = []
    for column in columns:
        known, is_named = facts.get(column), bool(_ID_NAMES.search(column))
        if known is None:
            rank = 1 if is_named else 0
        elif not known.may_be_unique:
            rank = 0
        else:
            rank = (2 if is_named else 0) + (3 if known.is_dense else 0)
        if rank:
            likely.append((rank, column))
    if not likely:
        return None
    best = max(rank for rank, _ in likely)
    column = next(column for rank, column in likely if rank == best)
    return KeySuggestion(columns=(column,), reason=_reason(column, facts.get(column)))


def _reason(column: str, known: ColumnFacts | None) -> str:
    parts = ["its name says so"] if _ID_NAMES.search(column) else []
    if known is not None and known.span is not None:
        span = f"{known.low:,} to {known.high:,}"
        parts.append(f"its values run from {span} in {known.num_rows:,} rows")
    if known is not None and known.num_nulls == 0:
        parts.append("none is NULL")
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if parts[1:] else parts[0]


def column_facts(table: Table, columns: Sequence[str]) -> dict[str, ColumnFacts]:
    """Return what the index of the newest version tells of top-level columns."""
    folder = index_folder(table)
    if folder is None:
        return {}
    try:
        return _kept.get(
            (str(folder), tuple(columns)),
            lambda: dict(read_facts(open_files(folder), columns)),
        )
    except IndexMissingError:
        return {}


def read_facts(
    files: pa.Table, columns: Sequence[str]
) -> Iterator[tuple[str, ColumnFacts]]:
    """Yield what the rows of an index tell of columns, by name.

    Args:
        files: By `deltaweb.index.folder.file_index.FileIndex.files`.
    """
    if "num_records" not in files.column_names or not files.num_rows:
        return
    records = files["num_records"]
    if records.null_count or wide_files(files) is not None:
        return  # how many rows there are is not told, or what is in them
    num_rows = pc.sum(records).as_py()
    for name in columns[:MAX_COLUMNS_READ]:
        nulls = _field(files["null_count"], name)
        if nulls is None or nulls.null_count or not pa.types.is_integer(nulls.type):
            continue
        low, high = _field(files["min"], name), _field(files["max"], name)
        yield (
            name,
            ColumnFacts(
                num_rows=num_rows,
                num_nulls=pc.sum(nulls).as_py(),
                low=_extreme(low, pc.min),
                high=_extreme(high, pc.max),
            ),
        )


def _field(structs: pa.ChunkedArray, name: str) -> pa.ChunkedArray | None:
    if not pa.types.is_struct(structs.type):
        return None
    place = structs.type.get_field_index(name)
    return None if place < 0 else pc.struct_field(structs, [place])


def _extreme(values: pa.ChunkedArray | None, of: Any) -> int | None:  # noqa: ANN401 (a function of Arrow's)
    if values is None or values.null_count or not pa.types.is_integer(values.type):
        return None
    return int(of(values).as_py())


def _merge_columns(
    parameters: Mapping[str, Any], by_lower: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the columns, by their lower-case names, that a merge compared."""
    predicate = parameters.get("predicate") or parameters.get("mergePredicate") or ""
    pairs = _EQUALS.findall(str(predicate)[:2_000])
    named = [
        by_lower[left.strip().lower()]
        for left, right in pairs
        if left.strip().lower() == right.strip().lower()
        and left.strip().lower() in by_lower
    ]
    return tuple(dict.fromkeys(named))[:MAX_KEYS]
