"""Which fields a page shows, and their changes by version."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from django.http import QueryDict

from apps.explorer.version.query import (
    parse_page,
    parse_search,
    text_of,
)
from apps.pages.request.parameters import QueryError
from apps.tables.models import Commit, Table
from deltaweb.delta.changes.column_history import (
    ColumnChange,
    ColumnChangeKind,
    ColumnHistories,
    ColumnHistory,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFilter:
    """Which fields a page shows: `text` is in a name that a field has or had."""

    text: str = ""
    is_changed: bool = False
    page: int = 1

    @property
    def is_empty(self) -> bool:
        return not self.text and not self.is_changed


def parse_column_filter(query: QueryDict) -> ColumnFilter:
    """Read `q`, `only` and `page`."""
    only = text_of(query, "only")
    if only not in {"", "changed"}:
        raise QueryError(part="only", expected="changed")
    return ColumnFilter(
        text=parse_search(query), is_changed=bool(only), page=parse_page(query)
    )


PAGE_LENGTH: Final = 60
JSON_LENGTH: Final = 500  # fields of a page of the JSON form
MAX_LISTED: Final = 60  # versions of the list below the picture
MAX_CHANGES: Final = 12  # of a version in that list


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaCommit:
    """What a version did to the fields that are shown.

    Attributes:
        commit: Who made it and when; None where that is not known.
        changes: The first of what it did.
        num_more: How many are left out.
        is_breaking: Whether readers must follow one of them all.
        needs_widening: Whether a type was widened, and nothing broken.
    """

    version: int
    commit: Commit | None
    changes: Sequence[ColumnChange]
    num_more: int
    is_breaking: bool
    needs_widening: bool


def matching_fields(
    fields: Sequence[ColumnHistory], wanted: ColumnFilter
) -> list[ColumnHistory]:
    """Return those that a filter leaves."""
    needle = wanted.text.lower()
    return [
        one
        for one in fields
        if (not wanted.is_changed or one.events)
        and (not needle or any(needle in name.lower() for name in _names(one)))
    ]


def own_events(fields: Sequence[ColumnHistory]) -> list[ColumnChange]:
    """Return what was done to fields by themselves, the newest first."""
    events = (event for one in fields for event in one.events if event.is_own)
    return sorted(events, key=lambda event: -event.version)


def schema_commits(table: Table, events: Sequence[ColumnChange]) -> list[SchemaCommit]:
    """Return the newest versions that changed fields, with who made them."""
    grouped: list[tuple[int, list[ColumnChange]]] = []
    for version, group in groupby(events, key=lambda event: event.version):
        if len(grouped) == MAX_LISTED:
            break
        grouped.append((version, list(group)))
    commits = table.commits.filter(version__in=[version for version, _ in grouped])
    known = {
        commit.version: commit for commit in commits.defer("parameters", "metrics")
    }
    return [
        SchemaCommit(
            version=version,
            commit=known.get(version),
            changes=found[:MAX_CHANGES],
            num_more=max(len(found) - MAX_CHANGES, 0),
            is_breaking=any(event.is_breaking for event in found),
            needs_widening=any(event.needs_widening for event in found),
        )
        for version, found in grouped
    ]


def sentence(event: ColumnChange) -> str:  # noqa: PLR0911 (a line a kind)
    """Say in words what became of a field, after its name."""
    match event.kind:
        case ColumnChangeKind.ADDED | ColumnChangeKind.ADDED_AGAIN:
            return f"{event.after} {event.kind}"
        case ColumnChangeKind.DROPPED:
            return f"{event.before} dropped"
        case ColumnChangeKind.RENAMED:
            return f"renamed from {event.before}"
        case ColumnChangeKind.WIDENED:
            return f"widened from {event.before} to {event.after}"
        case ColumnChangeKind.RETYPED:
            return f"changed from {event.before} to {event.after}"
        case ColumnChangeKind.NULLABLE:
            return "may be null"
        case ColumnChangeKind.REQUIRED:
            return "must not be null"
        case ColumnChangeKind.COMMENT:
            return f"comment: {event.after}" if event.after else "comment removed"


def history_data(field: ColumnHistory) -> dict[str, object]:
    """Return a field as the JSON form shows it."""
    return {
        "path": ".".join(field.path),
        "depth": field.depth,
        "type": field.type_text,
        "nullable": field.column.nullable,
        "field_id": field.field_id,
        "known_since": field.since,
        "dropped_at": field.until,
        "events": [event_data(event) for event in field.events],
    }


def event_data(event: ColumnChange) -> dict[str, object]:
    """Return what became of a field as the JSON form shows it."""
    return {
        "version": event.version,
        "kind": event.kind.value,
        "before": event.before or None,
        "after": event.after or None,
        "breaking": event.is_breaking,
        "of_its_own": event.is_own,
    }


def event_lines(events: Sequence[ColumnChange]) -> Iterator[Sequence[object]]:
    """Yield the lines of the CSV form."""
    yield ["version", "column", "change", "before", "after", "breaking"]
    for event in events:
        path = ".".join(event.path)
        kind, is_breaking = event.kind.value, event.is_breaking
        yield [event.version, path, kind, event.before, event.after, is_breaking]


def counts(found: ColumnHistories) -> tuple[int, int]:
    """Return how many columns the table has, and how many fields are gone."""
    alive = sum(1 for one in found.fields if one.until is None and not one.depth)
    return alive, sum(1 for one in found.fields if one.until is not None)


def _names(history: ColumnHistory) -> Iterator[str]:
    yield ".".join(history.path)
    for event in history.events:
        yield ".".join(event.path)
        if event.kind == ColumnChangeKind.RENAMED:
            yield event.before
