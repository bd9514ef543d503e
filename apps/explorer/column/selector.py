"""One column of a table: what it is, what files tell of it, how it came about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from difflib import get_close_matches
from itertools import pairwise
from operator import attrgetter
from typing import Annotated, Any

from apps.explorer.columns.ranges import ColumnRanges, column_ranges
from apps.explorer.columns.stored_history import table_histories
from apps.explorer.columns.tree import SchemaColumn, SchemaTree, version_tree
from apps.explorer.grid import cell, json_value
from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.page_json import As, Named, OnPage
from apps.tables.models import Table
from apps.tables.versions.column_address import parse_address
from apps.tables.work.profile import (
    PROFILE,
    PROFILE_ALL,
    Profile,
    ProfileAll,
    known_profiles,
)
from deltaweb.delta.changes.column_history import (
    ColumnChange,
    ColumnChangeKind,
    ColumnHistory,
)
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.profile.described import ColumnProfile
from deltaweb.delta.protocol.column_path import resolve_column
from deltaweb.delta.protocol.schema import StructType, unread_type

_KINDS = {
    ColumnChangeKind.ADDED: "added",
    ColumnChangeKind.ADDED_AGAIN: "added",
    ColumnChangeKind.RENAMED: "renamed",
    ColumnChangeKind.WIDENED: "type",
    ColumnChangeKind.RETYPED: "type",
    ColumnChangeKind.NULLABLE: "nullable",
    ColumnChangeKind.REQUIRED: "nullable",
    ColumnChangeKind.COMMENT: "comment",
    ColumnChangeKind.DROPPED: "dropped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnEvent:
    """What a version made of the column.

    Attributes:
        kind: `added`, `dropped`, `type`, `nullable`, `comment`, `renamed` or
            `partition`.
        text: The change as a sentence.
    """

    version: int
    kind: str
    text: str


def column_events(
    table: Table, names: tuple[str, ...], *, up_to: int
) -> tuple[ColumnEvent, ...]:
    """Return what the versions up to one made of a column, the newest first.

    What they made of the fields inside of it is told, too.
    """
    found = table_histories(table, up_to)
    history = next((one for one in found.fields if _is_now(one, names)), None)
    if history is None:
        return ()
    events = list(_of_column(history, is_first=history.since == found.first))
    for inner in found.fields:
        if inner.path[: len(names)] == names and inner.path != names:
            events += _inside(inner, ".".join(inner.path[len(names) :]))
    if len(names) == 1:
        events += _as_partition(table, history, up_to)
    return tuple(sorted(events, key=attrgetter("version"), reverse=True))


def _is_now(history: ColumnHistory, names: tuple[str, ...]) -> bool:
    return history.path == names and history.until is None


def _of_column(history: ColumnHistory, *, is_first: bool) -> Iterator[ColumnEvent]:
    if is_first and not any(event.version == history.since for event in history.events):
        text = f"First known with type {_first_type(history)}"
        yield ColumnEvent(version=history.since, kind="added", text=text)
    for event in history.events:
        yield _event(event, _sentence(event))


def _first_type(history: ColumnHistory) -> str:
    kinds = ColumnChangeKind
    types = {kinds.WIDENED, kinds.RETYPED, kinds.DROPPED}
    changes = (event.before for event in history.events if event.kind in types)
    return next(changes, history.type_text)


def _inside(history: ColumnHistory, name: str) -> Iterator[ColumnEvent]:
    for event in history.events:
        if event.is_own:
            text = _sentence(event)
            yield _event(event, f"{name}: {text[0].lower()}{text[1:]}")


def _event(event: ColumnChange, text: str) -> ColumnEvent:
    return ColumnEvent(version=event.version, kind=_KINDS[event.kind], text=text)


def _sentence(event: ColumnChange) -> str:  # noqa: PLR0911 (a line a kind)
    match event.kind:
        case ColumnChangeKind.ADDED:
            return f"Added as {event.after}"
        case ColumnChangeKind.ADDED_AGAIN:
            return f"Added again as {event.after}"
        case ColumnChangeKind.RENAMED:
            above = event.path[:-1]
            names = (".".join((*above, name)) for name in (event.before, event.after))
            return "Renamed from {} to {}".format(*names)
        case ColumnChangeKind.WIDENED | ColumnChangeKind.RETYPED:
            return f"Type changed from {event.before} to {event.after}"
        case ColumnChangeKind.NULLABLE:
            return "May be null now"
        case ColumnChangeKind.REQUIRED:
            return "May no longer be null"
        case ColumnChangeKind.COMMENT:
            return "Comment changed"
        case ColumnChangeKind.DROPPED:
            return "Dropped"


def _as_partition(table: Table, of: ColumnHistory, up_to: int) -> Iterator[ColumnEvent]:
    """Yield when the column began, or ceased, to partition the table."""
    names = {of.path[0], *(event.path[0] for event in of.events)}
    names |= {e.before for e in of.events if e.kind == ColumnChangeKind.RENAMED}
    rows = table.metadata_versions.filter(version__gte=of.since, version__lte=up_to)
    partitions: Sequence[tuple[int, list[str]]] = list(
        rows.order_by("version").values_list("version", "partition_columns")
    )
    for (_, before), (version, now) in pairwise(partitions):
        was, is_one = (not names.isdisjoint(columns) for columns in (before, now))
        if was != is_one:
            words = (
                "Now a partition column" if is_one else "No longer a partition column"
            )
            yield ColumnEvent(version=version, kind="partition", text=words)


MAX_SUGGESTIONS = 3


def _whole(column: SchemaColumn) -> dict[str, object]:
    return column.describe() | {"names": list(column.names)}


def _described(ranges: ColumnRanges) -> dict[str, Any]:
    strip = ranges.strip
    return {
        "files": ranges.num_files,
        "files_with_min_max": ranges.num_bounds,
        "files_with_null_count": ranges.num_counts,
        "files_with_cut_bounds": ranges.num_cut,
        "nulls": ranges.num_nulls,
        "rows": ranges.num_rows,
        "null_percent": ranges.null_percent,
        "min": json_value(ranges.minimum, is_long=True),
        "max": json_value(ranges.maximum, is_long=True),
        "lower_bound": json_value(ranges.lowest, is_long=True),
        "upper_bound": json_value(ranges.highest, is_long=True),
        "reason": ranges.reason or None,
        "untold": ranges.reason or None,  # the name before, for one version
        "ranges": None
        if strip is None
        else {
            "scale": strip.scale,
            "average_depth": strip.depth,
            "sampled_files": strip.sampled,
            "bars": [
                {
                    "min": json_value(bar.minimum, is_long=True),
                    "max": json_value(bar.maximum, is_long=True),
                    "files": bar.num_files,
                }
                for bar in strip.bars
            ],
        },
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPage:
    """A column at one version.

    Attributes:
        ranges: What files tell; None where there is no index.
        events: How it changed, the newest first.
        can_be_profiled: Whether its values can be read on their own.
        unread: The type for which its values are not read, or nothing.
    """

    column: Annotated[SchemaColumn, As(_whole)]
    children: OnPage[tuple[SchemaColumn, ...]]
    ranges: Annotated[ColumnRanges | None, Named("statistics"), As(_described)]
    events: Annotated[tuple[ColumnEvent, ...], Named("history")] = field(
        default_factory=tuple
    )
    can_be_profiled: OnPage[bool]
    unread: OnPage[str]

    @property
    def minimum(self) -> str:
        """The smallest value, as a page shows it, or what none is less than."""
        return _shown(self.ranges.lowest if self.ranges else None)

    @property
    def maximum(self) -> str:
        """The largest value, as a page shows it, or what none is greater than."""
        return _shown(self.ranges.highest if self.ranges else None)


def column_page(at: TableVersion, address: str) -> ColumnPage:
    """Return a column of a version that is indexed."""
    tree = version_tree(at.metadata)
    if tree.is_too_wide:
        raise PageError(
            status=422,
            code="schema-too-wide",
            message=f"The columns of {at.table.full_name} have no pages.",
            hint=tree.problem,
        )
    column = find_column(tree, address)
    if column is None:
        raise _unknown(tree, at, address)
    schema = _schema(at)
    depth = column.depth + 1
    children = tuple(
        child
        for child in tree.columns
        if child.depth == depth and child.names[:-1] == column.names
    )
    ranges = None
    if schema is not None and at.is_latest:
        ranges = column_ranges(
            at.table, schema, column.names, is_partition=column.is_partition
        )
    return ColumnPage(
        column=column,
        children=children,
        ranges=ranges,
        events=column_events(at.table, column.names, up_to=at.version or 0),
        can_be_profiled=schema is not None and _is_value(schema, column.names),
        unread=_unread(schema, column.names),
    )


def find_column(tree: SchemaTree, address: str) -> SchemaColumn | None:
    """Return the column that an address means.

    One whose names are those of the address wins, then the topmost that is called so.
    """
    names = parse_address(address)
    exact = [column for column in tree.columns if column.names == names]
    called = [column for column in tree.columns if column.path == address]
    found = exact or sorted(called, key=lambda column: column.depth)
    return found[0] if found else None


def profile_of(
    at: TableVersion, column: SchemaColumn
) -> tuple[Job | None, ColumnProfile | None]:
    """Return the newest job that profiles a column at this version, and the profile.

    A job that profiles all columns profiles this one too.
    """
    if at.version is None:
        return None, None
    known = known_profiles(at.table, at.version).get(column.names)
    if known is not None:
        return known.job, known.profile
    job = PROFILE.newest(at.table, Profile(version=at.version, column=column.names))
    if job is None or not job.is_active:
        of_all = PROFILE_ALL.newest(at.table, ProfileAll(version=at.version))
        job = of_all if of_all is not None and of_all.is_active else job
    return job, None


def _unknown(tree: SchemaTree, at: TableVersion, address: str) -> PageError:
    paths = [column.address for column in tree.columns]
    close = get_close_matches(address, paths, MAX_SUGGESTIONS, 0.5)
    hint = f"Did you mean {', '.join(close)}?" if close else "See the schema."
    return PageError(
        status=404,
        code="unknown-column",
        message=f"{at.table.full_name} has no column {address!r} at v{at.version}.",
        hint=hint,
    )


def _schema(at: TableVersion) -> StructType | None:
    try:
        return at.metadata.mapped_schema(at.protocol) if at.metadata else None
    except DeltaError:
        return None


def _is_value(schema: StructType, names: tuple[str, ...]) -> bool:
    """Tell whether only structs are above the column: a row has one value of it."""
    try:
        is_value = resolve_column(schema, names) == names
        return is_value and not _unread(schema, names)
    except DeltaError:
        return False


def _unread(schema: StructType | None, names: tuple[str, ...]) -> str:
    """Return the type for which the values of the column's top are not read."""
    top = schema.find(names[0]) if schema else None
    return unread_type(top.data_type) if top else ""


def _shown(value: object) -> str:
    return "" if value is None else cell(value, UTC).text
