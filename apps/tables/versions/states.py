"""What changes of commits that are stored: whether their versions can still be read.

A VACUUM takes files of older versions, a clean-up of the log whole commits. Runs are
those of `Table.summary`: (first, last, state, reason), ascending and without gaps.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q

from apps.tables.models import MAX_REASON_LENGTH, Table
from deltaweb.delta.log.versions import ReadableRun

Runs = Sequence[Sequence[Any]]


def update_archived(table: Table, first_kept: int) -> None:
    """Mark the commits that the log has lost, and no longer those it has again.

    Args:
        first_kept: The oldest commit whose file the log holds.
    """
    held = table.commits.filter(is_archived=False)
    held.filter(version__lt=first_kept).update(is_archived=True)
    archived = table.commits.filter(is_archived=True)
    archived.filter(version__gte=first_kept).update(is_archived=False)


def update_readability(table: Table, runs: Runs) -> None:
    """Bring stored commits up to date, by one statement for each run that differs.

    Args:
        table: The table as it is stored: its summary has the runs of its commits. One
            that no page shows yet has none, and commits of a worker that was killed.
    """
    stored = table.summary.get("readable_runs", [])
    if table.version is None and runs:
        stored = [[runs[0][0], runs[-1][1], "", ""]]
    for change in changed_runs(stored, runs):
        reason = change.reason[:MAX_REASON_LENGTH]
        other = ~Q(readability=change.state) | ~Q(readability_reason=reason)
        inside = Q(version__gte=change.first, version__lte=change.last)
        table.commits.filter(inside, other).update(
            readability=change.state, readability_reason=reason
        )


def changed_runs(before: Runs, after: Runs) -> list[ReadableRun]:
    """Return the parts of runs that differ, up to the last version of `before`."""
    changes: list[ReadableRun] = []
    position = 0
    for first, last, state, reason in after:
        while position < len(before) and before[position][1] < first:
            position += 1
        for start, end, *was in before[position:]:
            if start > last:
                break
            if was != [state, reason]:
                part = max(first, start), min(last, end)
                changes.append(ReadableRun(*part, state, reason))
    return changes
