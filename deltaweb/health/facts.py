"""What rules know of a table: the facts of its index, as plain values."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from deltaweb.delta.log.versions import GONE
from deltaweb.delta.snapshot.checksum import Verdict

INDEX_FACTS: Final = (
    "state",
    "version",
    "committed_at",
    "num_files",
    "size_bytes",
    "num_records",
    "num_tombstones",
    "partition_columns",
    "summary",
    "fault",
    "fault_code",
)
"""The arguments of `HealthFacts.of_index` that a registered table has as well."""
DEFAULT_TARGET_BYTES: Final = 128 << 20


@dataclass(frozen=True, slots=True)
class SizeBin:
    """Files of similar sizes: from `first_bytes` to below `end_bytes`."""

    first_bytes: int
    end_bytes: int
    num_files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """A partition: its values as text, and its files."""

    values: Mapping[str, str | None]
    num_files: int
    size_bytes: int

    @property
    def text(self) -> str:
        """The values as a condition, such as `country = US`."""
        return ", ".join(
            f"{name} is null" if value is None else f"{name} = {value}"
            for name, value in self.values.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFacts:
    """The facts of one table.

    Attributes:
        table: The full name, as commands take it.
        size_bins: The files by size, ascending; empty if unknown.
        partitions: The largest partitions; the index keeps 200 of them.
        fault: What hides newer versions of the log; "" if nothing does.
        holes: Versions within the log that cannot be built, each the first and last.
    """

    table: str
    state: str = ""
    version: int | None = None
    committed_at: datetime | None = None
    num_files: int | None = None
    size_bytes: int | None = None
    num_records: int | None = None
    num_tombstones: int | None = None
    target_file_bytes: int = DEFAULT_TARGET_BYTES
    size_bins: tuple[SizeBin, ...] = ()
    partition_columns: tuple[str, ...] = ()
    num_partitions: int = 0
    partitions: tuple[PartitionFacts, ...] = ()
    fault: str = ""
    fault_code: str = ""
    holes: tuple[tuple[int, int], ...] = ()
    checksum: Verdict | None = None

    @classmethod
    def of_index(  # noqa: PLR0913 (as a registered table has them)
        cls,
        *,
        table: str,
        state: str,
        version: int | None,
        committed_at: datetime | None,
        num_files: int | None,
        size_bytes: int | None,
        num_records: int | None,
        num_tombstones: int | None,
        partition_columns: Sequence[str],
        summary: Mapping[str, Any],
        fault: str = "",
        fault_code: str = "",
    ) -> "HealthFacts":
        """Return the facts of a table by its index.

        Args:
            summary: As `IndexResult.summary`; what an older release left out of it
                is unknown.
        """
        return cls(
            table=table,
            state=state,
            version=version,
            committed_at=committed_at,
            num_files=num_files,
            size_bytes=size_bytes,
            num_records=num_records,
            num_tombstones=num_tombstones,
            target_file_bytes=_number(summary, "target_file_size_bytes")
            or DEFAULT_TARGET_BYTES,
            size_bins=_size_bins(summary.get("size_histogram")),
            partition_columns=tuple(partition_columns),
            num_partitions=_number(summary, "num_partitions") or 0,
            partitions=_partitions(summary.get("partitions")),
            fault=fault,
            fault_code=fault_code,
            holes=_holes(summary.get("readable_runs")),
            checksum=Verdict.of_json(summary.get("checksum")),
        )

    def command(self, verb: str, *options: str) -> str:
        """Return the command of a verb for this table, as a shell takes it."""
        return shlex.join(["deltaweb", "table", verb, self.table, *options])


def _number(values: Mapping[str, Any], name: str) -> int | None:
    value = values.get(name)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number else None


def _size_bins(histogram: object) -> tuple[SizeBin, ...]:
    found = histogram if isinstance(histogram, dict) else {}
    edges, counts = found.get("edges") or [], found.get("counts") or []
    sizes = found.get("bytes") or []
    if not len(edges) - 1 == len(counts) == len(sizes):
        return ()
    bins = zip(pairwise(edges), counts, sizes, strict=True)
    return tuple(SizeBin(first, end, count, size) for (first, end), count, size in bins)


def _partitions(found: object) -> tuple[PartitionFacts, ...]:
    rows = found if isinstance(found, list) else []
    return tuple(
        PartitionFacts(row["values"], row["files"], row["bytes"]) for row in rows
    )


def _holes(runs: object) -> tuple[tuple[int, int], ...]:
    """Return the runs of versions that are gone between others that are not."""
    rows = runs if isinstance(runs, list) else []
    kept = [place for place, row in enumerate(rows) if row[2] != GONE]
    inside = rows[kept[0] : kept[-1]] if kept else []
    return tuple((row[0], row[1]) for row in inside if row[2] == GONE)
