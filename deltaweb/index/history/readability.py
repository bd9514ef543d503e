"""Which versions can still be read, as the log shows: runs of equal state."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from deltaweb.delta.errors import (
    DeltaError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
)
from deltaweb.delta.features.registry import FEATURES_READER_VERSION
from deltaweb.delta.log.versions import GONE, OF_FILES, READABLE, ReadableRun, joined

GONE_REASON: Final = (
    "The log was cleaned: this version can no longer be rebuilt from it."
)


class Readability(NamedTuple):
    """The state of a version, and why it is not readable."""

    state: str
    reason: str = ""


def partly_reason(vacuum_version: int) -> str:
    """Why a version lacks files."""
    return f"Some of its files were deleted by the VACUUM of version {vacuum_version}."


def files_gone_reason(vacuum_version: int) -> str:
    return f"All of its files were deleted by the VACUUM of version {vacuum_version}."


def fault_reason(version: int) -> str:
    """Why versions from a broken commit on cannot be built."""
    return (
        f"Commit {version} of the log cannot be read, so this version cannot be "
        "rebuilt."
    )


def refusal_reason(refusal: DeltaError) -> str:
    """Why versions may not be read, without the table's place and without a version.

    It is shown of many versions, and to people who need not know the place.
    """
    if isinstance(refusal, UnsupportedFeatureError):
        return (
            f"It uses {', '.join(refusal.features)}, which this server does not read."
        )
    if isinstance(refusal, UnsupportedProtocolError):
        return (
            f"It needs reader version {refusal.min_reader_version};"
            f" this server reads up to {FEATURES_READER_VERSION}."
        )
    return "Its metadata has no schema."


def split_at_faults(
    runs: Iterable[tuple[int, int]], faults: Sequence[int], checkpoints: Sequence[int]
) -> list[tuple[int, int]]:
    """Take out of runs what a broken commit keeps from being built.

    Args:
        runs: Versions (first, last) that the names in the log promise, ascending.

    Returns:
        The runs without the versions from a broken commit to the next checkpoint.
    """
    result = []
    for first, last in runs:
        start = first
        for fault in faults[bisect_left(faults, first) : bisect_right(faults, last)]:
            if fault < start:
                continue  # a later checkpoint has it already
            if fault > start:
                result.append((start, fault - 1))
            position = bisect_left(checkpoints, fault)
            start = checkpoints[position] if position < len(checkpoints) else last + 1
        if start <= last:
            result.append((start, last))
    return result


def readable_runs(
    states: Iterable[tuple[int, Readability]], latest: int
) -> list[ReadableRun]:
    """Join versions of equal state and reason.

    Args:
        states: Versions with their state, ascending; a version that is left out, from
            0 to `latest`, is gone.
    """
    pieces = _without_gaps(states, latest)
    runs: list[ReadableRun] = []
    for readability, same in groupby(pieces, key=itemgetter(2)):
        pieces_of_run = [*same]
        first, last = pieces_of_run[0][0], pieces_of_run[-1][1]
        runs.append(ReadableRun(first, last, *readability))
    return runs


def extended_runs(
    runs: Iterable[ReadableRun], *, first: int, latest: int
) -> list[ReadableRun]:
    """Bring runs up to a log that has lost old versions and won new ones.

    Args:
        runs: From version 0 on, ascending.
        first: The oldest version that the log can build; older ones are gone.
        latest: Its newest version; new ones are readable.
    """
    pieces: list[ReadableRun] = []
    for run in runs:
        if run.state == GONE or run.first >= first:
            pieces.append(run)
            continue
        lost = ReadableRun(run.first, min(run.last, first - 1), GONE, GONE_REASON)
        pieces.append(lost)
        if run.last >= first:
            pieces.append(run._replace(first=first))
    begin = pieces[-1].last + 1 if pieces else 0
    if begin <= latest:
        pieces.append(ReadableRun(begin, latest, READABLE, ""))
    return joined(pieces)


def overlaid_runs(
    runs: Sequence[ReadableRun], layers: Sequence[ReadableRun]
) -> list[ReadableRun]:
    """Put what is known of data files over what the log says of its versions.

    Args:
        runs: Ascending, not overlapping. A version that cannot be built, or may not be
            read, stays so, whatever is known of its files.
        layers: States of files; a later one hides those before it.
    """
    of_log = [
        run._replace(state=READABLE, reason="") if run.state in OF_FILES else run
        for run in runs
    ]
    lasting = [run for run in of_log if run.state != READABLE]
    stack = [*of_log, *layers, *lasting]
    edges = np.unique([edge for run in stack for edge in (run.first, run.last + 1)])
    places = np.searchsorted(edges, [(run.first, run.last + 1) for run in stack])
    shown = np.full(len(edges), -1, dtype=np.int64)
    for number, (start, end) in enumerate(places.tolist()):
        shown[start:end] = number
    is_of_log = np.zeros(len(edges), dtype=np.bool_)
    for start, end in places[: len(of_log)].tolist():
        is_of_log[start:end] = True
    return joined(
        stack[number]._replace(first=first, last=end - 1)
        for number, first, end in zip(
            shown[is_of_log].tolist(),
            edges[is_of_log].tolist(),
            edges[1:][is_of_log[:-1]].tolist(),
            strict=True,
        )
    )


def is_in_runs(versions: Sequence[int], runs: Iterable[tuple[int, int]]) -> list[bool]:
    """Tell of each version whether a run of (first, last) holds it.

    Args:
        runs: Ascending, not overlapping.
    """
    spans = list(runs)
    if not spans:
        return [False] * len(versions)
    firsts, lasts = (
        np.array(ends, dtype=np.int64) for ends in zip(*spans, strict=True)
    )
    numbers = np.array(versions, dtype=np.int64)
    before = np.searchsorted(firsts, numbers, side="right") - 1
    inside: list[bool] = ((before >= 0) & (numbers <= lasts[before])).tolist()
    return inside


def _without_gaps(
    states: Iterable[tuple[int, Readability]], latest: int
) -> Iterator[tuple[int, int, Readability]]:
    """Yield runs of one object each, for equal ones are mostly the same."""
    gone = Readability(GONE, GONE_REASON)
    first, held = 0, gone
    expected = 0
    for version, readability in states:
        if version != expected or readability is not held:
            if first < expected:
                yield first, expected - 1, held
            if expected < version:
                yield expected, version - 1, gone
            first, held = version, readability
        expected = version + 1
    if first < expected:
        yield first, expected - 1, held
    if expected <= latest:
        yield expected, latest, gone
