"""Versions that are known to be no longer readable, by `Table.summary`."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from apps.tables.models import Commit, Table
from apps.tables.timeline import Run, parse_runs

RUNS_SHOWN: Final = 3
_LOST: Final = {
    Commit.Readability.PARTLY.value,
    Commit.Readability.FILES_GONE.value,
    Commit.Readability.GONE.value,
}


def is_marked(table: Table, version: int) -> bool:
    """Whether files of a version were deleted, as far as is known."""
    runs = lost_runs(table.summary.get("readable_runs"))
    return any(run.first <= version <= run.last for run in runs)


def lost_runs(raw: object, *, first: int = 0) -> list[Run]:
    """Return the runs of versions that lack files or can no longer be built, joined.

    Args:
        raw: `readable_runs` of `Table.summary`.
        first: The oldest version of interest; runs begin with it at the earliest.
    """
    return joined(
        replace(run, first=max(run.first, first))
        for run in parse_runs(raw)
        if run.state in _LOST and run.last >= first
    )


def joined(runs: Iterable[Run]) -> list[Run]:
    """Return ascending runs with neighbours as one, whatever their reasons."""
    result: list[Run] = []
    for run in runs:
        if result and result[-1].last + 1 == run.first:
            result[-1] = replace(result[-1], last=run.last)
        else:
            result.append(run)
    return result


def told(runs: Sequence[Run]) -> str:
    """Name versions, ascending: "v0 to v4 and v7"; empty for none."""
    names = [
        f"v{run.first}" if run.first == run.last else f"v{run.first} to v{run.last}"
        for run in runs[:RUNS_SHOWN]
    ]
    if len(runs) > RUNS_SHOWN:
        names.append("others")
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last
