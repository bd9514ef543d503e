"""Log compaction files: the actions of some commits, reconciled, in the place of them.

They serve a snapshot and nothing else: history and change data are in the commits. A
compaction is a second way to the same state, so whatever is wrong with one is no fault
of the table: the commits that it stands for are read then, which are there as well.

Source: delta_protocol_2026.md, "Log Compaction Files".
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from deltaweb.delta.log.paths import MAX_VERSION, checksum_name
from deltaweb.delta.log.store import LogStore
from deltaweb.environment.bounded_json import parse_json

SUFFIX: Final = ".compacted.json"
MAX_CHECKSUM_BYTES: Final = 32 << 20  # it may list all files
_NAME = re.compile(r"([0-9]{20})\.([0-9]{20})\.compacted\.json", re.ASCII)


class Compaction(NamedTuple):
    """A file in the place of the commits `first` to `last`, both included."""

    first: int
    last: int

    @property
    def name(self) -> str:
        return f"{self.first:020d}.{self.last:020d}{SUFFIX}"


class DoubtedCompactionError(Exception):
    """A state that compactions helped to build is not what its checksum file says."""


def parse_compaction_name(name: str) -> Compaction | None:
    """Return which commits a file stands for, None for any other name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    return Compaction(first, last) if first < last <= MAX_VERSION else None


def choose_compactions(
    compactions: Iterable[Compaction], versions: range
) -> tuple[Compaction, ...]:
    """Return those by which the fewest files are read, ascending, none overlapping."""
    ends = [versions.start]  # what was read so far ends before these
    spared = [0]  # the most reads that are spared up to there,
    chosen: list[Compaction | None] = [None]  # and the last compaction by which
    for one in sorted(compactions, key=lambda one: (one.last, one.first)):
        if one.first < versions.start or one.last >= versions.stop:
            continue
        start = bisect_right(ends, one.first) - 1
        candidate = spared[start] + one.last - one.first
        if candidate > spared[-1]:
            ends.append(one.last + 1)
            spared.append(candidate)
            chosen.append(one)
    found: list[Compaction] = []
    place = len(ends) - 1
    while (last := chosen[place]) is not None:
        found.append(last)
        place = bisect_right(ends, last.first) - 1
    return tuple(reversed(found))


def names_to_replay(
    versions: range, compactions: Sequence[Compaction], names: Sequence[str]
) -> list[str]:
    """Return the files that build a state, oldest first.

    Args:
        compactions: Chosen among them, ascending.
    """
    found: list[str] = []
    following = versions.start
    for one in compactions:
        found += names[following - versions.start : one.first - versions.start]
        found.append(one.name)
        following = one.last + 1
    return found + list(names[following - versions.start :])


def check_totals(
    store: LogStore, version: int, *, num_files: int, size_bytes: int | None = None
) -> None:
    """Hold a state that compactions helped to build against its checksum file.

    A compaction may be whole and yet not what its commits say, which nothing in it
    shows. Where there is no checksum file, or it does not say, nothing follows.

    Args:
        size_bytes: Their bytes; None where they are not known.
    """
    try:
        recorded = parse_json(
            store.read_head(checksum_name(version), MAX_CHECKSUM_BYTES)
        )
    except (FileNotFoundError, ValueError, RecursionError):
        return
    if not isinstance(recorded, dict):
        return
    for name, found in (("numFiles", num_files), ("tableSizeBytes", size_bytes)):
        said = recorded.get(name)
        if found is not None and said is not None and said != found:
            raise DoubtedCompactionError(name)
