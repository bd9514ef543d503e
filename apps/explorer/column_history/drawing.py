"""Fields as pictures: x is the version in percent, so that text keeps its size."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from apps.explorer.column_history.selector import sentence
from apps.explorer.columns.tree import MAX_DEPTH_CLASS
from apps.tables.versions.column_address import column_address
from deltaweb.delta.changes.column_history import (
    ColumnChange,
    ColumnChangeKind,
    ColumnHistory,
)

MAX_GUIDES: Final = 24  # lines through all fields, a version each
MARK_PERCENT: Final = 3.2  # of the width: marks that are closer become one
MAX_TITLE: Final = 4  # events that the title of a mark names
CHARS_PER_PERCENT: Final = 0.8
MIN_LABEL: Final = 6

ICONS: Final = {
    ColumnChangeKind.ADDED: "plus",
    ColumnChangeKind.ADDED_AGAIN: "plus",
    ColumnChangeKind.RENAMED: "pencil",
    ColumnChangeKind.WIDENED: "arrows-left-right",
    ColumnChangeKind.RETYPED: "arrows-left-right",
    ColumnChangeKind.NULLABLE: "lock-open",
    ColumnChangeKind.REQUIRED: "lock",
    ColumnChangeKind.COMMENT: "tag",
    ColumnChangeKind.DROPPED: "x",
}
_LIVES: Final = {ColumnChangeKind.ADDED, ColumnChangeKind.ADDED_AGAIN}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Some versions of a field; `kind` is `quiet`, `past`, `now` or `gap`."""

    kind: str
    x: float
    width: float
    text: str = ""

    @property
    def end(self) -> float:
        return self.x + self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What became of a field at a version, or at some that lie close together."""

    x: float
    icon: str
    is_breaking: bool
    version: int
    title: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnHistory:
    """A field as its row shows it."""

    history: ColumnHistory
    name: str
    depth_class: str
    address: str
    label: str
    stretches: Sequence[Stretch]
    marks: Sequence[Mark]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Where a version lies, in percent, from the first to the last that is shown."""

    first: int
    last: int

    def at(self, version: int) -> float:
        """Return the place of a version."""
        span = self.last - self.first
        place = (version - self.first) * 100 / span if span > 0 else 0.0
        return round(min(max(place, 0.0), 100.0), 3)

    def guides(self, versions: Sequence[int]) -> list[float]:
        """Return the places of versions that changed something; none of very many."""
        if len(versions) > MAX_GUIDES:
            return []
        return [self.at(version) for version in versions]


def drawn(history: ColumnHistory, scale: Scale, *, is_tree: bool) -> DrawnHistory:
    """Return a field as its row shows it.

    Args:
        is_tree: Whether its struct stands above; else its name is its whole path.
    """
    name = history.path[-1] if is_tree else ".".join(history.path)
    sentences = [f"v{event.version}: {sentence(event)}" for event in history.events]
    what = "; ".join(sentences[-8:]) or f"unchanged since v{history.since}"
    marks = list(_marks(history, scale))
    return DrawnHistory(
        history=history,
        name=name,
        depth_class=f"d{min(history.depth, MAX_DEPTH_CLASS) if is_tree else 0}",
        address="" if history.until is not None else column_address(history.path),
        label=f"{'.'.join(history.path)}: {what}",
        stretches=[
            replace(one, text=_fitting(one, marks)) if one.text else one
            for one in _stretches(history, scale)
        ],
        marks=marks,
    )


def _stretches(history: ColumnHistory, scale: Scale) -> Iterator[Stretch]:
    """Yield the versions that have the field, cut where something of it changed."""
    starts = [e.version for e in history.events if e.kind in _LIVES]
    begins = history.since if not starts or starts[0] != history.since else starts[0]
    is_there, place, text, has_changed = True, scale.at(begins), "", False
    drawn_any = False
    for event in history.events:
        at = scale.at(event.version)
        if event.kind in _LIVES:
            if not is_there:
                yield Stretch(kind="gap", x=place, width=round(at - place, 3))
            is_there, place, has_changed = True, at, True
            text = str(event.kind) if event.kind == ColumnChangeKind.ADDED_AGAIN else ""
        elif event.kind == ColumnChangeKind.DROPPED:
            text = text if has_changed else f"{history.path[-1]}, {event.before}"
            yield _bar("past", place, at, text)
            is_there, place, text, drawn_any = False, at, "", True
        elif event.kind != ColumnChangeKind.COMMENT:
            # Of what lies closer than a pixel one stretch is drawn.
            if at - place > MARK_PERCENT / 4:
                yield _bar("past", place, at, text or event.before)
                place, drawn_any = at, True
            text, has_changed = event.after, True
    if not is_there:
        return
    if has_changed or drawn_any:
        yield _bar("now", place, 100.0, text)
    else:
        yield Stretch(kind="quiet", x=place, width=round(100.0 - place, 3))


def _bar(kind: str, start: float, end: float, text: str) -> Stretch:
    return Stretch(kind=kind, x=start, width=round(end - start, 3), text=text)


def _fitting(stretch: Stretch, marks: Sequence[Mark]) -> str:
    """Return as much of a text as has room before the next mark."""
    ends = [mark.x for mark in marks if stretch.x < mark.x < stretch.end]
    width = min([stretch.end, *ends]) - stretch.x
    room = int((width - MARK_PERCENT) * CHARS_PER_PERCENT)
    if len(stretch.text) <= room:
        return stretch.text
    return f"{stretch.text[: room - 1]}…" if room >= MIN_LABEL else ""


def _marks(history: ColumnHistory, scale: Scale) -> Iterator[Mark]:
    close: list[ColumnChange] = []
    for event in history.events:
        apart = scale.at(event.version) - scale.at(close[0].version) if close else 0.0
        if apart > MARK_PERCENT:
            yield _mark(close, scale)
            close = []
        close.append(event)
    if close:
        yield _mark(close, scale)


def _mark(events: Sequence[ColumnChange], scale: Scale) -> Mark:
    """Return one mark of events that lie close together: the newest breaking leads."""
    breaking = [event for event in events if event.is_breaking]
    leading = (breaking or events)[-1]
    texts = [f"v{event.version}: {sentence(event)}" for event in events[-MAX_TITLE:]]
    more = len(events) - len(texts)
    return Mark(
        x=scale.at(events[0].version),
        icon=ICONS[leading.kind],
        is_breaking=bool(breaking),
        version=leading.version,
        title="; ".join([*texts, *([f"and {more} more"] if more else [])]),
        count=len(events),
    )
