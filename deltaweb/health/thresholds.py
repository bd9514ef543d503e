"""The limits from which rules speak. A namespace may have its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from deltaweb.errors import DeltawebError

MAX_THRESHOLD: Final = 1 << 53  # JSON numbers are exact up to here
_MIB: Final = 1 << 20
_GIB: Final = 1 << 30


class HealthThresholdError(DeltawebError, code="health-threshold-invalid"):
    """A threshold that does not exist, or a value that it cannot have."""

    name: str
    value: str
    expected: str
    message = "The health threshold {name:q} cannot be {value:q}."
    hint = "Give {expected}."


def threshold(default: int, unit: str, about: str) -> Any:  # noqa: ANN401 (a field)
    """Return the field of a threshold, with its unit and its meaning."""
    return field(default=default, metadata={"unit": unit, "about": about})


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The limits of all rules, each with its unit and meaning in the metadata."""

    small_file_percent: int = threshold(
        13, "%", "A file below this share of the target size is small."
    )
    small_files: int = threshold(
        50, "files", "Files that compaction would save before it is a finding."
    )
    small_files_percent: int = threshold(
        10, "%", "Share of all files that compaction would save, likewise."
    )
    fine_partitions: int = threshold(
        50, "partitions", "Partitions from which they can be too fine."
    )
    fine_partition_bytes: int = threshold(
        16 * _MIB, "bytes", "Mean size below which partitions are too fine."
    )
    skewed_percent: int = threshold(
        50, "%", "Share of the bytes in one partition that makes it skewed."
    )
    skewed_bytes: int = threshold(
        _GIB, "bytes", "Size from which a partition can be skewed."
    )
    checkpoint_commits: int = threshold(
        100,
        "commits",
        "Commits since the newest checkpoint; twice its interval if that is more.",
    )
    checkpoint_commits_act_now: int = threshold(
        1_000, "commits", "Commits since the newest checkpoint that make it urgent."
    )
    expired_commits: int = threshold(
        1_000, "commits", "Commits that are older than the retention of the log."
    )
    files_without_statistics: int = threshold(
        50, "files", "Files without statistics, or without those of a used column."
    )
    without_statistics_percent: int = threshold(
        10, "%", "Share of all files without them, likewise."
    )
    statistics_bytes: int = threshold(
        64 * _MIB, "bytes", "Size from which statistics can fill the log."
    )
    statistics_percent: int = threshold(
        75, "%", "Share of the log that makes statistics a finding."
    )
    removed_bytes: int = threshold(
        _GIB, "bytes", "Size of removed files that are older than their retention."
    )
    removed_percent: int = threshold(
        20, "%", "Size of these files as a share of the live ones."
    )
    orphan_files: int = threshold(1_000, "files", "Files that are in no version.")
    orphan_bytes: int = threshold(
        100 * _MIB, "bytes", "Size of the files that are in no version."
    )
    masked_rows: int = threshold(
        10_000, "rows", "Deleted rows in files with deletion vectors."
    )
    masked_percent: int = threshold(
        20, "%", "Share of deleted rows in files with deletion vectors."
    )
    vacuum_notice_hours: int = threshold(
        72, "hours", "Time before a scheduled vacuum that ends versions."
    )
    late_times: int = threshold(
        3, "times", "Multiple of the longest pause after which a table is late."
    )
    late_minutes: int = threshold(
        0, "minutes", "Time without a new version after which a table is late; 0: none."
    )
    identity_percent: int = threshold(
        90, "%", "Share of an identity column's numbers that are used."
    )
    identity_left: int = threshold(
        1_000_000_000_000, "numbers", "Numbers left, below which it is near its end."
    )
    identity_left_act_now: int = threshold(
        1_000_000_000, "numbers", "Numbers left, below which it is urgent."
    )

    def changed(self, values: Mapping[str, object]) -> "Thresholds":
        """Return these with other values for some names.

        Raises:
            HealthThresholdError: If a name is unknown, or a value is not a whole
                number from 1.
        """
        known = {one.name for one in fields(self)}
        for name, value in values.items():
            if name not in known:
                expected = f"one of {', '.join(sorted(known))}"
                raise HealthThresholdError(
                    name=name, value=str(value), expected=expected
                )
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if not is_whole or not 0 < int(str(value)) <= MAX_THRESHOLD:
                expected = f"a whole number from 1 to {MAX_THRESHOLD:,}"
                raise HealthThresholdError(
                    name=name, value=str(value), expected=expected
                )
        changes: dict[str, Any] = dict(values)
        return replace(self, **changes)
