"""The usual number of rows of a table's commits, and the commits outside of it.

A commit is compared with the table's earlier commits of the same family of operations:
the newest `WINDOW` of them since the last change of the schema. The band is the median
plus or minus `SPREAD` scaled median absolute deviations, on a logarithmic scale, and
reaches at least from half of the median to twice the median. A commit outside of the
band is an outlier.

- A change of the schema begins a new band.
- An outlier does not move the band. After `NEW_LEVEL` outliers in a row the band is
  made of these: the table has a new level.
- Commits that rearrange rows (OPTIMIZE) or replace files (overwrites, backfills of
  partitions, restores, undos, conversions) have no usual number of rows. They are
  neither compared nor part of a band.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import expm1, log, log1p
from statistics import median
from typing import Final

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
NEW_LEVEL: Final = 10
_COUNTED: Final[Mapping[str, tuple[str, ...]]] = {
    UPDATE.name: ("numUpdatedRows", "num_updated_rows"),
    DELETE.name: ("numDeletedRows", "num_deleted_rows"),
}
"""The metrics that count the rows of an operation, of Spark and of delta-rs."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
        if not self.rows:
            return "no rows"
        if not self.usual_rows:
            return "usually no rows"
        if self.rows < self.usual_rows:
            return f"1/{self.usual_rows / self.rows:,.0f} of usual"
        return f"{self.rows / self.usual_rows:,.0f}× usual"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCommit:
    """What decides whether a commit is an outlier.

    Attributes:
        added_rows, removed_rows: Rows of the files that came and went; None if unknown.
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
    metrics: Mapping[str, object] = field(default_factory=dict)

    @property
    def family(self) -> str:
        return operation_family(self.operation).name

    def rows(self) -> int | None:
        """Return the rows that count for the band; None if it is not compared."""
        if not self.data_change:
            return None
        if self.family == WRITE.name:
            is_append = self.num_added_files > 0 and not self.num_removed_files
            is_first = "CREATE" in self.operation or "REPLACE" in self.operation
            return self.added_rows if is_append and not is_first else None
        for name in _COUNTED.get(self.family, ()):
            text = str(self.metrics.get(name, ""))
            if text.isascii() and text.isdigit():
                return int(text)
        if self.family in {DELETE.name, MERGE.name}:
            return self._net_rows()
        return None

    def _net_rows(self) -> int | None:
        added = self.added_rows if self.num_added_files else 0
        removed = self.removed_rows if self.num_removed_files else 0
        return None if added is None or removed is None else abs(added - removed)


@dataclass(slots=True)
class _Band:
    """The commits of one family that a new one is compared with, by log rows."""

    usual: list[float] = field(default_factory=list)
    outside: list[float] = field(default_factory=list)

    def take(self, rows: int) -> Outlier | None:
        """Compare a commit, and let it count for the ones that follow."""
        value = log1p(rows)
        compared = self.usual[-WINDOW:]
        if len(compared) < LEAST_COMPARED:
            self.usual.append(value)
            return None
        middle = median(compared)
        deviation = median(abs(one - middle) for one in compared)
        half = max(SPREAD * TO_DEVIATION * deviation, LEAST_HALF_WIDTH)
        if abs(value - middle) <= half:
            self.usual.append(value)
            self.outside.clear()
            return None
        self.outside.append(value)
        if len(self.outside) >= NEW_LEVEL:
            self.usual, self.outside = self.outside, []
        return Outlier(
            rows=rows,
            usual_rows=round(expm1(middle)),
            least=max(0, round(expm1(middle - half))),
            most=round(expm1(middle + half)),
            num_compared=len(compared),
        )


def outliers(commits: Iterable[MeasuredCommit]) -> dict[int, Outlier]:
    """Return the outliers among the commits of a table, by their versions.

    Args:
        commits: In the order of their versions, some of them only to compare with.
    """
    bands: dict[str, _Band] = {}
    found: dict[int, Outlier] = {}
    for commit in commits:
        if commit.changes_schema:
            bands.clear()
        rows = commit.rows()
        if rows is None:
            continue
        outlier = bands.setdefault(commit.family, _Band()).take(rows)
        if outlier is not None:
            found[commit.version] = outlier
    return found
