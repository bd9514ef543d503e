"""The version timeline under a table's head, as shapes in percent of its width.

One shape stands for a run of versions of equal state, so the picture stays light
however long the history is; beyond `MAX_RUNS` runs neighbours share a shape that
shows the worst of their states.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.pages.figures import percent
from apps.tables.versions.readable import parse_runs
from deltaweb.delta.log.versions import (
    FILES_GONE,
    GONE,
    PARTLY,
    READABLE,
    UNSUPPORTED,
    WORST_FIRST,
    ReadableRun,
)

MAX_RUNS = 500
MAX_EVENTS = 120
# Class, top and height in pixels: the state is told by height as well as by colour.
SHAPES = {
    READABLE: ("dw-v2", 21, 26),
    PARTLY: ("dw-v1", 30, 17),
    UNSUPPORTED: ("dw-vu", 24, 23),
    FILES_GONE: ("dw-v0", 40, 7),
    GONE: ("dw-v0", 40, 7),
}
EVENT_KINDS = ("vacuum", "schema", "protocol")
LABEL_MARGIN_PERCENT = 9.0  # keeps a tick's text off the texts at both ends
LATE_PERCENT = 86.0
NEAR_PERCENT = 5.0  # two flags nearer than this would cover one another
EDGE_PERCENT = 6.0  # nearer to an end, the flag's label leans inwards


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of versions as it is drawn: from `x` on, `width` wide, in percent."""

    first: int
    last: int
    state: str
    reason: str
    x: float
    width: float

    @property
    def shape(self) -> tuple[str, int, int]:
        """The class, top and height of the run's shape."""
        return SHAPES[self.state]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A mark above the runs."""

    version: int
    kind: str
    x: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A date below the runs."""

    x: float
    at: datetime
    late: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What the strip shows: `first` to `last`, the flag at the shown version."""

    first: int
    last: int
    shown: int
    flag_x: float
    flag_shift: float  # px by which the label moves to stay inside the strip
    flag_width: float  # px
    runs: tuple[Run, ...]
    bins: tuple[Run, ...]
    events: tuple[Event, ...]
    counts: Mapping[str, int]

    @property
    def num_versions(self) -> int:
        return self.last - self.first + 1

    @property
    def num_gone(self) -> int:
        return self.counts[GONE] + self.counts[FILES_GONE]

    @property
    def flag_half(self) -> float:
        """Half the width of the flag's label, in px."""
        return self.flag_width / 2

    @property
    def event_kinds(self) -> set[str]:
        return {event.kind for event in self.events}

    @property
    def shown_run(self) -> Run:
        return next(
            (run for run in self.runs if run.first <= self.shown <= run.last),
            self.runs[-1],
        )

    def x_of(self, version: int) -> float:
        """Return where the middle of a version's cell is, in percent."""
        return percent(version - self.first + 0.5, self.num_versions, digits=3)

    def ticks(self, times: Mapping[int, datetime]) -> list[Tick]:
        """Return a tick for each version of `times` that is not near an end."""
        ticks = []
        for version, at in sorted(times.items()):
            x = self.x_of(version)
            if LABEL_MARGIN_PERCENT <= x <= 100 - LABEL_MARGIN_PERCENT:
                ticks.append(Tick(x=x, at=at, late=x > LATE_PERCENT))
        return ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineSpan:
    """A second version on the strip, and what lies between it and the shown one."""

    version: int
    flag_x: float
    flag_shift: float  # px, as of the timeline's own flag
    flag_width: float  # px
    x: float
    width: float
    note: str  # what lies between, in words
    is_near: bool  # so near that one of the two labels has to give way on a phone

    @property
    def flag_half(self) -> float:
        """Half the width of the flag's label, in px."""
        return self.flag_width / 2


def build_span(timeline: Timeline, *, other: int, note: str = "") -> TimelineSpan:
    """Place a second version on a timeline; labels that would touch lean apart."""
    width = 12.0 + 6.5 * len(f"v{other}")
    x = percent(other - timeline.first + 0.5, timeline.num_versions, digits=3)
    distance = abs(x - timeline.flag_x)
    shift = _shift(x, width)
    if distance < NEAR_PERCENT:
        is_left = x < timeline.flag_x
        shift = timeline.flag_shift + (-1 if is_left else 1) * (
            (width + timeline.flag_width) / 2 + 3
        )
    return TimelineSpan(
        version=other,
        flag_x=x,
        flag_shift=round(shift, 1),
        flag_width=width,
        x=min(x, timeline.flag_x),
        width=round(distance, 3),
        note=note,
        is_near=distance < NEAR_PERCENT,
    )


def build_timeline(
    summary: Mapping[str, object], *, latest: int, shown: int
) -> Timeline:
    """Lay out the timeline of a table.

    Args:
        summary: `Table.summary`; without runs every version counts as readable.
    """
    runs = parse_runs(summary.get("readable_runs"))
    if not runs:
        runs = [ReadableRun(0, latest, READABLE)]
    first, last = runs[0].first, max(latest, runs[-1].last, shown)
    span = last - first + 1
    placed = tuple(_placed(run, first, span) for run in runs)
    label_width = 12.0 + 6.5 * len(f"v{shown}")
    flag_x = percent(shown - first + 0.5, span, digits=3)
    return Timeline(
        first=first,
        last=last,
        shown=shown,
        flag_x=flag_x,
        flag_shift=_shift(flag_x, label_width),
        flag_width=label_width,
        runs=placed,
        bins=tuple(_binned(placed)),
        events=tuple(_events(summary.get("events"), first, span)),
        counts={
            state: sum(run.last - run.first + 1 for run in runs if run.state == state)
            for state in SHAPES
        },
    )


def mini_runs(summary: Mapping[str, object]) -> list[Run]:
    """Lay out the small strip of a row in the catalogue: at most 40 shapes."""
    runs = parse_runs(summary.get("readable_runs"))
    if not runs:
        return []
    first, span = runs[0].first, runs[-1].last - runs[0].first + 1
    return _binned([_placed(run, first, span) for run in runs], limit=40)


def _shift(x: float, width: float) -> float:
    """Return by how many px a label at `x` percent moves to stay inside the strip."""
    from_end = max(0.0, EDGE_PERCENT - min(x, 100 - x)) / EDGE_PERCENT
    return round((width / 2) * from_end * (1 if x < EDGE_PERCENT else -1), 1)


def _placed(run: ReadableRun, first: int, span: int) -> Run:
    return Run(
        first=run.first,
        last=run.last,
        state=run.state,
        reason=run.reason,
        x=percent(run.first - first, span, digits=3),
        width=percent(run.last - run.first + 1, span, digits=3),
    )


def _binned(runs: Sequence[Run], limit: int = MAX_RUNS) -> list[Run]:
    """Merge neighbours until at most `limit` shapes are left, the worst state wins."""
    if len(runs) <= limit:
        return list(runs)
    size = -(-len(runs) // limit)
    merged = []
    for start in range(0, len(runs), size):
        group = runs[start : start + size]
        merged.append(
            Run(
                first=group[0].first,
                last=group[-1].last,
                state=min((run.state for run in group), key=WORST_FIRST.index),
                reason=group[0].reason,
                x=group[0].x,
                width=round(group[-1].x + group[-1].width - group[0].x, 3),
            )
        )
    return merged


def _events(raw: object, first: int, span: int) -> Iterable[Event]:
    """Place events; marks that would touch share one place, the newest kept."""
    places: dict[tuple[str, int], Event] = {}
    for entry in raw if isinstance(raw, list) else []:
        if not isinstance(entry, dict):
            continue
        version, kind = entry.get("version"), entry.get("kind")
        if not isinstance(version, int) or kind not in EVENT_KINDS:
            continue
        if not first <= version < first + span:
            continue
        x = percent(version - first + 0.5, span, digits=3)
        places[str(kind), int(x * MAX_EVENTS / 100)] = Event(
            version=version, kind=str(kind), x=x
        )
    return places.values()
