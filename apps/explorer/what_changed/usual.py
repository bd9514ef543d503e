"""The usual rows and bytes of a table's commits, and the commits outside of them.

A commit is compared with the table's earlier commits of the same family of operations:
the newest `WINDOW` of them since the last change of the schema. The band is the median
plus or minus `SPREAD` scaled median absolute deviations, on a logarithmic scale. For
rows it reaches at least from half of the median to twice the median. Bytes vary more,
because files are compressed: for them it reaches at least from a quarter to four times.
A commit outside of a band is an outlier.

- A change of the schema begins a new band.
- An outlier does not move the band. After `NEW_LEVEL` outliers in a row the band is
  made of these: the table has a new level.
- Commits that rearrange rows (OPTIMIZE) or replace files (overwrites, backfills of
  partitions, restores, undos, conversions) have no usual number of rows. They are
  neither compared nor part of a band. Updates have no usual bytes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import expm1, log, log1p
from statistics import median
from typing import Final, NamedTuple

from apps.explorer.history.operations import (
    DELETE,
    MERGE,
    UPDATE,
    WRITE,
    operation_family,
)

WINDOW: Final = 50
LEAST_COMPARED: Final = 8
SPREAD: Final = 3.5
TO_DEVIATION: Final = 1.4826  # of a normal distribution, by its median deviation
LEAST_HALF_WIDTH: Final = log(2)
LEAST_HALF_WIDTH_OF_BYTES: Final = log(4)
NEW_LEVEL: Final = 10
_COUNTED: Final[Mapping[str, tuple[str, ...]]] = {
    UPDATE.name: ("numUpdatedRows", "num_updated_rows"),
    DELETE.name: ("numDeletedRows", "num_deleted_rows"),
}
"""The metrics that count the rows of an operation, of Spark and of delta-rs."""


@dataclass(frozen=True, slots=True)
class Outlier:
    """Why the rows of a commit are unusual.

    Attributes:
        rows: The rows that the commit added, changed or removed.
        usual_rows: The median of the commits that it was compared with.
        least, most: The ends of the usual range.
        num_compared: The number of these commits.
    """

    rows: int
    usual_rows: int
    least: int
    most: int
    num_compared: int

    @property
    def words(self) -> str:
        """How far it is from the usual number, in a few words."""
        return _how_far(self.rows, self.usual_rows, "rows")


@dataclass(frozen=True, slots=True)
class BytesOutlier:
    """Why the bytes of a commit are unusual.

    Attributes:
        size_bytes: The bytes by which the files grew or shrank.
        usual_bytes: The median of the commits that it was compared with.
        least, most: The ends of the usual range.
        num_compared: The number of these commits.
    """

    size_bytes: int
    usual_bytes: int
    least: int
    most: int
    num_compared: int

    @property
    def words(self) -> str:
        """Its distance from the usual size, as text."""
        words = _how_far(self.size_bytes, self.usual_bytes, "bytes")
        return words if words.endswith("bytes") else f"{words} bytes"


def _how_far(number: int, usual: int, noun: str) -> str:
    if not number:
        return f"no {noun}"
    if not usual:
        return f"usually no {noun}"
    if number < usual:
        return f"1/{usual / number:,.0f} of usual"
    return f"{number / usual:,.0f}× usual"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCommit:
    """What decides whether a commit is an outlier.

    Attributes:
        added_rows, removed_rows: Rows of the files that came and went; None if unknown.
        added_bytes, removed_bytes: Likewise for the bytes of these files.
        metrics: The metrics of `_COUNTED`, as the writer recorded them.
    """

    version: int
    operation: str
    data_change: bool
    changes_schema: bool
    num_added_files: int
    num_removed_files: int
    added_rows: int | None
    removed_rows: int | None
    added_bytes: int = 0
    removed_bytes: int | None = None
    metrics: Mapping[str, object] = field(default_factory=dict)

    @property
    def family(self) -> str:
        return operation_family(self.operation).name

    def rows(self) -> int | None:
        """Return the rows that count for the band; None if it is not compared."""
        if not self.data_change:
            return None
        if self.family == WRITE.name:
            return self.added_rows if self._is_append else None
        for name in _COUNTED.get(self.family, ()):
            text = str(self.metrics.get(name, ""))
            if text.isascii() and text.isdigit():
                return int(text)
        if self.family in {DELETE.name, MERGE.name}:
            return self._net(self.added_rows, self.removed_rows)
        return None

    def size_bytes(self) -> int | None:
        """Return the bytes that count for the band; None if it is not compared."""
        if not self.data_change:
            return None
        if self.family == WRITE.name:
            return self.added_bytes if self._is_append else None
        if self.family in {DELETE.name, MERGE.name}:
            return self._net(self.added_bytes, self.removed_bytes)
        return None

    @property
    def _is_append(self) -> bool:
        is_first = "CREATE" in self.operation or "REPLACE" in self.operation
        return self.num_added_files > 0 and not (self.num_removed_files or is_first)

    def _net(self, added: int | None, removed: int | None) -> int | None:
        added = added if self.num_added_files else 0
        removed = removed if self.num_removed_files else 0
        return None if added is None or removed is None else abs(added - removed)


class _Outside(NamedTuple):
    """A number that is outside of its band."""

    number: int
    usual: int
    least: int
    most: int
    num_compared: int


@dataclass(slots=True)
class _Band:
    """The commits of one family that a new one is compared with, by log numbers."""

    least_half: float
    usual: list[float] = field(default_factory=list)
    outside: list[float] = field(default_factory=list)

    def take(self, number: int) -> _Outside | None:
        """Compare a commit, and let it count for the ones that follow."""
        value = log1p(number)
        compared = self.usual[-WINDOW:]
        if len(compared) < LEAST_COMPARED:
            self.usual.append(value)
            return None
        middle = median(compared)
        deviation = median(abs(one - middle) for one in compared)
        half = max(SPREAD * TO_DEVIATION * deviation, self.least_half)
        if abs(value - middle) <= half:
            self.usual.append(value)
            self.outside.clear()
            return None
        self.outside.append(value)
        if len(self.outside) >= NEW_LEVEL:
            self.usual, self.outside = self.outside, []
        return _Outside(
            number=number,
            usual=round(expm1(middle)),
            least=max(0, round(expm1(middle - half))),
            most=round(expm1(middle + half)),
            num_compared=len(compared),
        )


def outliers(commits: Iterable[MeasuredCommit]) -> dict[int, Outlier]:
    """Return the commits of a table with unusual rows, by their versions.

    Args:
        commits: In the order of their versions, some of them only to compare with.
    """
    found = _outside(commits, MeasuredCommit.rows, LEAST_HALF_WIDTH)
    return {version: Outlier(*one) for version, one in found.items()}


def bytes_outliers(commits: Iterable[MeasuredCommit]) -> dict[int, BytesOutlier]:
    """Return the commits of a table with unusual bytes; likewise."""
    found = _outside(commits, MeasuredCommit.size_bytes, LEAST_HALF_WIDTH_OF_BYTES)
    return {version: BytesOutlier(*one) for version, one in found.items()}


def _outside(
    commits: Iterable[MeasuredCommit],
    measure: Callable[[MeasuredCommit], int | None],
    least_half: float,
) -> dict[int, _Outside]:
    bands: dict[str, _Band] = {}
    found: dict[int, _Outside] = {}
    for commit in commits:
        if commit.changes_schema:
            bands.clear()
        number = measure(commit)
        if number is None:
            continue
        band = bands.setdefault(commit.family, _Band(least_half))
        outlier = band.take(number)
        if outlier is not None:
            found[commit.version] = outlier
    return found
