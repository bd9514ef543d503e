"""Which versions can still be read, as far as the log tells: runs of equal state."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

READABLE: Final = "READABLE"
PARTLY: Final = "PARTLY"
GONE: Final = "GONE"
UNSUPPORTED: Final = "UNSUPPORTED"

GONE_REASON: Final = "The log was cleaned: nothing in it builds this version any more."


class Readability(NamedTuple):
    """The state of a version, and why it is not readable."""

    state: str
    reason: str = ""


class ReadableRun(NamedTuple):
    """Versions `first` to `last` of one state, as `Table.summary` stores them."""

    first: int
    last: int
    state: str
    reason: str


def partly_reason(vacuum_version: int) -> str:
    """Why a version lacks files."""
    return f"Some of its files were deleted by the VACUUM of version {vacuum_version}."


def readable_runs(
    states: Iterable[tuple[int, Readability]], latest: int
) -> list[ReadableRun]:
    """Join versions of equal state and reason.

    Args:
        states: Versions with their state, ascending; a version that is left out, from
            0 to `latest`, is gone.
        latest: The newest version.
    """
    runs: list[ReadableRun] = []
    for first, last, (state, reason) in _without_gaps(states, latest):
        if runs and (runs[-1].state, runs[-1].reason) == (state, reason):
            runs[-1] = runs[-1]._replace(last=last)
        else:
            runs.append(ReadableRun(first, last, state, reason))
    return runs


def is_in_runs(versions: Sequence[int], runs: Iterable[tuple[int, int]]) -> list[bool]:
    """Tell of each version whether a run of (first, last) holds it.

    Args:
        versions: Ascending.
        runs: Ascending, not overlapping.
    """
    result = []
    remaining = iter(runs)
    run = next(remaining, None)
    for version in versions:
        while run is not None and run[1] < version:
            run = next(remaining, None)
        result.append(run is not None and run[0] <= version)
    return result


def _without_gaps(
    states: Iterable[tuple[int, Readability]], latest: int
) -> Iterator[tuple[int, int, Readability]]:
    gone = Readability(GONE, GONE_REASON)
    expected = 0
    for version, readability in states:
        if version > expected:
            yield expected, version - 1, gone
        yield version, version, readability
        expected = version + 1
    if expected <= latest:
        yield expected, latest, gone
