"""When a column appeared and changed: its lane through the schemas, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

from deltaweb.delta.changes.lanes import Lane, LaneEvent, LaneEventKind
from deltaweb.web.explorer.columns.stored_lanes import table_lanes
from deltaweb.web.tables.models import Table

_KINDS = {
    LaneEventKind.ADDED: "added",
    LaneEventKind.ADDED_AGAIN: "added",
    LaneEventKind.RENAMED: "renamed",
    LaneEventKind.WIDENED: "type",
    LaneEventKind.RETYPED: "type",
    LaneEventKind.NULLABLE: "nullable",
    LaneEventKind.REQUIRED: "nullable",
    LaneEventKind.COMMENT: "comment",
    LaneEventKind.DROPPED: "dropped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnEvent:
    """What a version made of the column.

    Attributes:
        kind: "added", "dropped", "type", "nullable", "comment", "renamed" or
            "partition".
        text: The change in words.
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
    found = table_lanes(table, up_to)
    lane = next((one for one in found.lanes if _is_now(one, names)), None)
    if lane is None:
        return ()
    events = list(_of_lane(lane, is_first=lane.since == found.first))
    for inner in found.lanes:
        if inner.path[: len(names)] == names and inner.path != names:
            events += _inside(inner, ".".join(inner.path[len(names) :]))
    if len(names) == 1:
        events += _as_partition(table, lane, up_to)
    return tuple(sorted(events, key=attrgetter("version"), reverse=True))


def _is_now(lane: Lane, names: tuple[str, ...]) -> bool:
    return lane.path == names and lane.until is None


def _of_lane(lane: Lane, *, is_first: bool) -> Iterator[ColumnEvent]:
    if is_first and not any(event.version == lane.since for event in lane.events):
        text = f"In the first known schema as {_first_type(lane)}"
        yield ColumnEvent(version=lane.since, kind="added", text=text)
    for event in lane.events:
        yield _event(event, _sentence(event))


def _first_type(lane: Lane) -> str:
    types = {LaneEventKind.WIDENED, LaneEventKind.RETYPED, LaneEventKind.DROPPED}
    changes = (event.before for event in lane.events if event.kind in types)
    return next(changes, lane.type_text)


def _inside(lane: Lane, name: str) -> Iterator[ColumnEvent]:
    for event in lane.events:
        if event.is_own:
            text = _sentence(event)
            yield _event(event, f"{name}: {text[0].lower()}{text[1:]}")


def _event(event: LaneEvent, text: str) -> ColumnEvent:
    return ColumnEvent(version=event.version, kind=_KINDS[event.kind], text=text)


def _sentence(event: LaneEvent) -> str:  # noqa: PLR0911 (a line a kind)
    match event.kind:
        case LaneEventKind.ADDED:
            return f"Added as {event.after}"
        case LaneEventKind.ADDED_AGAIN:
            return f"Added again as {event.after}"
        case LaneEventKind.RENAMED:
            above = event.path[:-1]
            names = (".".join((*above, name)) for name in (event.before, event.after))
            return "Renamed from {} to {}".format(*names)
        case LaneEventKind.WIDENED | LaneEventKind.RETYPED:
            return f"Type changed from {event.before} to {event.after}"
        case LaneEventKind.NULLABLE:
            return "May be null now"
        case LaneEventKind.REQUIRED:
            return "May no longer be null"
        case LaneEventKind.COMMENT:
            return "Comment changed"
        case LaneEventKind.DROPPED:
            return "Dropped"


def _as_partition(table: Table, lane: Lane, up_to: int) -> Iterator[ColumnEvent]:
    """Yield when the column began, or ceased, to partition the table."""
    names = {lane.path[0], *(event.path[0] for event in lane.events)}
    names |= {e.before for e in lane.events if e.kind == LaneEventKind.RENAMED}
    rows = table.metadata_versions.filter(version__gte=lane.since, version__lte=up_to)
    told: Sequence[tuple[int, list[str]]] = list(
        rows.order_by("version").values_list("version", "partition_columns")
    )
    for (_, before), (version, now) in pairwise(told):
        was, is_one = (not names.isdisjoint(columns) for columns in (before, now))
        if was != is_one:
            words = (
                "Now a partition column" if is_one else "No longer a partition column"
            )
            yield ColumnEvent(version=version, kind="partition", text=words)
