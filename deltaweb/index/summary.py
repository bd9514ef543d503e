"""What the overview of a table draws, and which of its versions can be read."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import numpy as np

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.segment import VersionRun
from deltaweb.delta.log.versions import (
    FILES_GONE,
    GONE,
    PARTLY,
    READABLE,
    UNSUPPORTED,
    ReadableRun,
)
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.snapshot import Snapshot
from deltaweb.index.files.distribution import partition_totals, size_histogram
from deltaweb.index.files.file_rows import NewestFiles
from deltaweb.index.history.commit_rows import History
from deltaweb.index.history.lifetimes import UNKNOWN, Longs
from deltaweb.index.history.readability import (
    GONE_REASON,
    Readability,
    fault_reason,
    files_gone_reason,
    is_in_runs,
    partly_reason,
    readable_runs,
    refusal_reason,
)
from deltaweb.index.history.version_totals import VersionTotals

DAYS_OF_COMMITS: Final = 30
DAY_MS: Final = 86_400_000
DEFAULT_TARGET_FILE_SIZE: Final = 128 << 20


def files_summary(
    newest: NewestFiles | None,
    partition_columns: Sequence[str],
    partition_keys: Sequence[str],
    schema: StructType | None = None,
) -> dict[str, Any]:
    """Add up what an overview draws of the files; None where they may not be read."""
    if newest is None:
        return {
            "size_histogram": {"edges": [], "counts": [], "bytes": []},
            "partitions": [],
            "num_partitions": 0,
            "stats_files": 0,
        }
    partitions, count = partition_totals(
        newest.files, newest.num_records, partition_columns, partition_keys, schema
    )
    return {
        "size_histogram": size_histogram(newest.files["size"]),
        "partitions": partitions,
        "num_partitions": count,
        "stats_files": newest.num_files - newest.num_records.null_count,
    }


def history_summary(
    runs: Sequence[ReadableRun], timestamps_ms: Longs, now_ms: int
) -> dict[str, Any]:
    """Add up what an overview draws of a history.

    Args:
        runs: Which versions can be read, from 0 on.
        now_ms: The time that `commits_30d` ends at.
    """
    return {
        "readable_runs": [list(run) for run in runs],
        "earliest_version": next((r.first for r in runs if r.state != GONE), None),
        "commits_30d": _commits_by_day(timestamps_ms, now_ms),
    }


def states_of_versions(
    snapshot: Snapshot, history: History, states: Sequence[Readability]
) -> list[ReadableRun]:
    """Join versions of equal readability, from 0 to the newest.

    Args:
        states: Whether each of them can be read, row for row.
    """
    known = [*zip(history.versions, states, strict=True)]
    if history.versions[-1:] != [snapshot.version]:  # a checkpoint without its commit
        known.append((snapshot.version, _state(snapshot.refusal, UNKNOWN)))
    return readable_runs(known, snapshot.version)


def _commits_by_day(timestamps_ms: Longs, now_ms: int) -> list[int]:
    """Count commits by UTC day; the last of the days is today's."""
    today = now_ms // DAY_MS
    ages = today - timestamps_ms // DAY_MS
    recent = ages[(ages >= 0) & (ages < DAYS_OF_COMMITS)]
    counts: list[int] = np.bincount(recent, minlength=DAYS_OF_COMMITS)[::-1].tolist()
    return counts


def target_file_size(configuration: Mapping[str, str]) -> int:
    text = configuration.get("delta.targetFileSize", "").strip().lower()
    for suffix, unit in (
        ("gb", 30),
        ("mb", 20),
        ("kb", 10),
        ("g", 30),
        ("m", 20),
        ("b", 0),
    ):
        if text.endswith(suffix):
            text, shift = text.removesuffix(suffix).strip(), unit
            break
    else:
        shift = 0
    if text.isascii() and text.isdigit() and len(text) < len(str(1 << 60)):
        return max(1, int(text) << shift)
    return DEFAULT_TARGET_FILE_SIZE


# === Readability ===


def version_states(
    history: History, runs: Sequence[VersionRun], totals: VersionTotals
) -> list[Readability]:
    """Say of each commit whether its version can be read, row for row.

    Args:
        totals: Which of them a VACUUM has hurt.
    """
    spans = [(run.first, run.last) for run in runs]
    kinds = zip(
        is_in_runs(history.versions, spans),
        map(id, history.refusals),
        totals.vacuumed_by.tolist(),
        totals.lacks_every_file.tolist(),
        strict=True,
    )
    states: list[Readability] = []
    for (is_built, _, vacuum, is_empty), same in groupby(kinds):
        first, count = len(states), sum(1 for _ in same)
        if is_built:
            refusal = history.refusals[first]
            states += [_state(refusal, vacuum, lacks_every_file=is_empty)] * count
        else:
            gone = history.versions[first : first + count]
            states += [_gone(version, history.faults) for version in gone]
    return states


def _gone(version: int, faults: Sequence[int]) -> Readability:
    position = bisect_right(faults, version)
    reason = fault_reason(faults[position - 1]) if position else GONE_REASON
    return Readability(GONE, reason)


def _state(
    refusal: DeltaError | None, vacuum: int, *, lacks_every_file: bool = False
) -> Readability:
    if refusal is not None:
        return Readability(UNSUPPORTED, refusal_reason(refusal))
    if vacuum != UNKNOWN and lacks_every_file:
        return Readability(FILES_GONE, files_gone_reason(vacuum))
    if vacuum != UNKNOWN:
        return Readability(PARTLY, partly_reason(vacuum))
    return Readability(READABLE)
