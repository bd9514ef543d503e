"""Versions that are known to be no longer readable, by `Table.summary`."""

from collections.abc import Iterable, Sequence
from typing import Final

from apps.tables.models import Table
from deltaweb.delta.log.versions import (
    FILES_GONE,
    GONE,
    PARTLY,
    WORST_FIRST,
    ReadableRun,
    joined,
)

RUNS_SHOWN: Final = 3
_LOST: Final = {PARTLY, FILES_GONE, GONE}


def parse_runs(raw: object) -> list[ReadableRun]:
    """Read runs of `Table.summary`; what is not one is skipped."""
    runs: list[ReadableRun] = []
    for entry in raw if isinstance(raw, list) else []:
        if not isinstance(entry, list) or len(entry) < len(("first", "last", "state")):
            continue
        first, last, state, *reason = entry
        is_range = isinstance(first, int) and isinstance(last, int)
        if is_range and isinstance(state, str) and state in WORST_FIRST:
            text = str(reason[0]) if reason and reason[0] else ""
            runs.append(ReadableRun(first, last, state, text))
    return sorted(runs, key=lambda run: run.first)


def is_marked(table: Table, version: int) -> bool:
    """Whether files of a version were deleted, as far as is known."""
    runs = lost_runs(table.summary.get("readable_runs"))
    return any(run.first <= version <= run.last for run in runs)


def lost_runs(raw: object, *, first: int = 0) -> list[ReadableRun]:
    """Return the runs of versions that lack files or can no longer be built, joined.

    Args:
        raw: `readable_runs` of `Table.summary`.
        first: The oldest version of interest; runs begin with it at the earliest.
    """
    lost = [
        run._replace(first=max(run.first, first))
        for run in parse_runs(raw)
        if run.state in _LOST and run.last >= first
    ]
    return neighbours(lost)


def neighbours(runs: Iterable[ReadableRun]) -> list[ReadableRun]:
    """Return ascending runs with neighbours as one, whatever their states are."""
    return joined(runs, by=lambda _run: None)


def names_of_runs(runs: Sequence[ReadableRun]) -> str:
    """Name versions, ascending: "v0 to v4 and v7"; empty for none."""
    names = [
        f"v{run.first}" if run.first == run.last else f"v{run.first} to v{run.last}"
        for run in runs[:RUNS_SHOWN]
    ]
    if len(runs) > RUNS_SHOWN:
        names.append("others")
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last
