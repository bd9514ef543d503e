"""How many files a condition leaves, step by step, and why each is read or skipped.

    all               the files of the version
    after partitions  those whose partition values may match
    after statistics  those whose statistics may match, too: a reader opens these

The steps are those of our readers (`delta.scan.pruning.judge`). A skipped file is
proved to hold no matching row; a file about which nothing is known is read.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.conditions.remedies import Obstacle
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.column_ranges import partition_range
from deltaweb.delta.scan.predicate import compared_columns
from deltaweb.delta.scan.pruning import (
    EVALUATION_FAULTS,
    JudgedPart,
    Ranges,
    UnopenedFiles,
    judge,
)
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.values.statistics.record_counts import live_records
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.partition_match import TypedValues
from deltaweb.index.query.questions import Question, QuestionPart
from deltaweb.index.query.shared_version import LivePart, SharedVersion

Codes: TypeAlias = npt.NDArray[np.int16]

READ: Final = "read"
SKIPPED: Final = "skipped"
PARTITIONS: Final = "partitions"
STATISTICS: Final = "statistics"
NOT_LIVE: Final = -1
_EXACT: Final = 1 << 53  # floats are exact below it


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """How much some files are.

    Attributes:
        num_records: Their live rows; None if a file does not say.
    """

    num_files: int
    size_bytes: int
    num_records: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPart:
    """What one part of a condition does alone.

    Attributes:
        text: The part in SQL.
        columns: The columns that it names, with dots.
        by_partitions: How many files partition values skip.
        by_statistics: How many files statistics skip, of those that the partition
            values leave for the whole condition.
        num_unknown: How many of these lack a range that the part needs.
        obstacle: Why it cannot skip any file; None if it can.
    """

    text: str
    columns: tuple[str, ...]
    by_partitions: int
    by_statistics: int
    num_unknown: int
    obstacle: Obstacle | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReason:
    """The files that are read, or skipped, for one reason.

    Attributes:
        effect: `READ` or `SKIPPED`.
        step: The step that skips them, `PARTITIONS` or `STATISTICS`; None if they are
            read.
        part: The place of the part that decides; None if all parts do.
        num_records: Their live rows; None if a file does not say.
        suggestion: The part in SQL that can skip; None without one.
    """

    why: str
    effect: str
    step: str | None
    part: int | None
    num_files: int
    size_bytes: int
    num_records: int | None
    suggestion: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """The files that a condition leaves after each step, and why.

    Attributes:
        reasons: Of the files that are read, then of those that are skipped.
        suggestion: The condition with every suggestion applied; "" without any.
    """

    total: Amount
    after_partitions: Amount
    after_statistics: Amount
    parts: tuple[ExplainedPart, ...]
    reasons: tuple[FileReason, ...]
    suggestion: str

    def document(self, after_row_groups: Amount | None = None) -> dict[str, object]:
        """Return the numbers and reasons as JSON; `rows` are null if unknown.

        Args:
            after_row_groups: The row groups that readers read; None if they were not
                counted.
        """
        steps = {
            "total": self.total,
            "after_partitions": self.after_partitions,
            "after_statistics": self.after_statistics,
        }
        if after_row_groups is not None:
            steps["after_row_groups"] = after_row_groups
        return {
            "files": {name: one.num_files for name, one in steps.items()},
            "bytes": {name: one.size_bytes for name, one in steps.items()},
            "rows": {name: one.num_records for name, one in steps.items()},
            "reasons": [
                {
                    "why": one.why,
                    "effect": one.effect,
                    "files": one.num_files,
                    "bytes": one.size_bytes,
                    "suggestion": one.suggestion,
                }
                for one in self.reasons
            ],
        }

    def reasons_of(self, effect: str) -> list[int]:
        """Return the places of the reasons that have an effect."""
        return [place for place, one in enumerate(self.reasons) if one.effect == effect]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explanation:
    """The files that a condition reads, and why.

    Attributes:
        codes: The place of the reason of each file in `funnel.reasons`, an array a
            part of the version; `NOT_LIVE` of a file that the version does not have.
    """

    question: Question
    funnel: Funnel
    codes: tuple[Codes, ...]


def explain_snapshot(
    snapshot: Snapshot, root: str, sql: str, zone_name: str = UTC_ZONE
) -> tuple[Explanation, list[FilePart]]:
    """Return which files of a snapshot a condition reads, by the log alone.

    Args:
        root: The folder of the table.
        zone_name: Whose clocks show the times without a zone.

    Returns:
        The explanation, and the parts of the snapshot in its order.
    """
    version = SharedVersion(snapshot, root=root, parts={})
    if version.refusal is not None:
        raise version.refusal
    question = Question(sql, version.schema, version.metadata, zone_name)
    parts = [*version.live_parts()]
    return explain(question, parts), [part for part, _ in parts]


def explain(question: Question, parts: Iterable[LivePart]) -> Explanation:
    """Return which files a condition reads, and why.

    Args:
        parts: The files of the version, with marks of the live ones.
    """
    tally = _Tally(question)
    codes = []
    for part, live in parts:
        facts = facts_of(part, question.named_schema, question.partition_columns)
        codes.append(tally.add(part, live, judge(question.parts, facts, among=live)))
        part.release()
    return tally.explanation(codes)


def facts_of(
    part: FilePart, schema: StructType, partition_columns: Collection[str]
) -> UnopenedFiles:
    """Return what is known of the files of a part, as our readers take it."""

    def typed(name: str) -> TypedValues | None:
        field = schema.find(name)
        with suppress(*EVALUATION_FAULTS, DeltaError):
            return None if field is None else part.partition(field)
        return None

    def values(names: Collection[str]) -> pa.StructArray | None:
        found = {name: typed(name) for name in sorted(names)}
        columns = [one.values for one in found.values() if one and one.bad is None]
        if len(columns) < len(found):
            return None
        if not columns:
            return pa.array([{}] * part.num_rows, pa.struct([]))
        return pa.StructArray.from_arrays(columns, names=[*found])

    def of_partitions(paths: Sequence[ColumnPath]) -> Ranges:
        found = {path: typed(path[0]) for path in paths if path[0] in partition_columns}
        return {
            path: partition_range(one.values, one.bad)
            for path, one in found.items()
            if one is not None
        }

    def of_statistics(paths: Sequence[ColumnPath]) -> Ranges:
        stored = [path for path in paths if schema.find(path[0])]
        return part.ranges(schema, stored) if stored else {}

    return UnopenedFiles(
        num_files=part.num_rows,
        partition_columns=partition_columns,
        partitions=values,
        partition_ranges=of_partitions,
        statistics_ranges=of_statistics,
    )


# === Adding up ===


class _Kind(IntEnum):
    """Why a file is read or skipped; the first two are skipped."""

    PARTITION = 0
    STATISTICS = 1
    NOTHING_EXCLUDES = 2
    NOT_KNOWN = 3
    OBSTACLE = 4


class _Tally:
    """Adds up files by their reasons: a kind, and the part that decides."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._parts = question.parts
        self._count = len(question.parts)
        length = self._count * len(_Kind)
        self._totals = np.zeros((length, 4), object)  # files, bytes, rows, unknown
        self._alone = np.zeros((self._count, 3), np.int64)

    def add(self, part: FilePart, live: Mask, judged: Sequence[JudgedPart]) -> Codes:
        codes: Codes = np.full(part.num_rows, self._code(_Kind.NOTHING_EXCLUDES, 0))
        left = live.copy()
        for place, one in enumerate(judged):
            out = live & ~one.by_partitions
            if count := np.count_nonzero(out):
                self._alone[place, 0] += count
                codes[left & out] = self._code(_Kind.PARTITION, place)
                left &= one.by_partitions
        after = left.copy()
        for place, one in enumerate(judged):
            out = after & ~one.by_statistics
            if count := np.count_nonzero(out):
                self._alone[place, 1] += count
                codes[left & out] = self._code(_Kind.STATISTICS, place)
                left &= one.by_statistics
        for place, one in reversed([*enumerate(judged)]):
            if one.unknown is not None:
                lacking = after & one.unknown
                if count := np.count_nonzero(lacking):
                    self._alone[place, 2] += count
                    codes[lacking & left] = self._code(_Kind.NOT_KNOWN, place)
        blamed = self._blamed()
        if blamed is not None:
            codes[left] = self._code(_Kind.OBSTACLE, blamed)
        codes[~live] = NOT_LIVE
        self._add_up(part, codes, live)
        return codes

    def _code(self, kind: _Kind, place: int) -> np.int16:
        return np.int16(kind * self._count + place)

    def _blamed(self) -> int | None:
        """Return the part that files are read for, whatever their statistics.

        That is one that can be written better, or the first if none can skip.
        """
        obstacles = [part.obstacle for part in self._parts]
        for place, one in enumerate(obstacles):
            if one and one.suggestion:
                return place
        return 0 if all(obstacles) else None

    def _add_up(self, part: FilePart, codes: Codes, live: Mask) -> None:
        records = part.num_records
        if part.has_vectors is not None:
            records = live_records(records, part.block.files[VECTOR])
        columns = [part.sizes, records]
        values = [
            (pc.fill_null(one, 0) if one.null_count else one).to_numpy()
            for one in columns
        ]
        if not live.all():
            codes, values = codes[live], [one[live] for one in values]
        if not len(codes):
            return
        length, rows = len(self._totals), codes.astype(np.intp)
        counts = np.bincount(rows, minlength=length)
        self._totals[:, 0] += counts
        for place, one in enumerate(values, 1):
            if counts[rows[0]] == len(rows):  # mostly all have one reason
                self._totals[rows[0], place] += _sum(one)
            else:
                self._totals[:, place] += _sums(rows, one, length)
        if records.null_count:
            unknown = records.is_null().to_numpy(zero_copy_only=False)[live]
            self._totals[:, 3] += np.bincount(codes[unknown], minlength=length)

    def _amount(self, first: int, last: int | None = None) -> Amount:
        sums = self._totals[first:last].sum(axis=0)
        num_files, size_bytes, num_records, unknown = map(int, sums)
        return Amount(
            num_files=num_files,
            size_bytes=size_bytes,
            num_records=None if unknown else num_records,
        )

    def explanation(self, codes: Sequence[Codes]) -> Explanation:
        n, length = self._count, len(self._totals)
        order = [*range(2 * n, length), *range(2 * n)]
        order = [code for code in order if self._totals[code, 0]]
        rows = np.full(length + 1, NOT_LIVE, np.int16)  # the last one is that of -1
        rows[order] = np.arange(len(order))
        funnel = Funnel(
            total=self._amount(0),
            after_partitions=self._amount(n),
            after_statistics=self._amount(2 * n),
            parts=tuple(self._part(place) for place in range(n)),
            reasons=tuple(map(self._reason, order)),
            suggestion=self._question.suggestion,
        )
        return Explanation(
            question=self._question,
            funnel=funnel,
            codes=tuple(rows[one] for one in codes),
        )

    def _part(self, place: int) -> ExplainedPart:
        part = self._parts[place]
        by_partitions, by_statistics, num_unknown = self._alone[place].tolist()
        obstacle = part.obstacle
        if obstacle is None and num_unknown == self._amount(self._count).num_files > 0:
            obstacle = Obstacle(self._lacking(part))
        return ExplainedPart(
            text=part.text,
            columns=tuple(".".join(path) for path in part.columns),
            by_partitions=by_partitions,
            by_statistics=by_statistics,
            num_unknown=num_unknown,
            obstacle=None if by_partitions or by_statistics else obstacle,
        )

    def _reason(self, code: int) -> FileReason:
        kind, place = _Kind(code // self._count), code % self._count
        amount = self._amount(code, code + 1)
        part = self._parts[place]
        steps = {_Kind.PARTITION: PARTITIONS, _Kind.STATISTICS: STATISTICS}
        suggestion = part.obstacle.suggestion if part.obstacle else ""
        return FileReason(
            why=self._why(kind, part),
            effect=SKIPPED if kind in steps else READ,
            step=steps.get(kind),
            part=None if kind == _Kind.NOTHING_EXCLUDES else place,
            num_files=amount.num_files,
            size_bytes=amount.size_bytes,
            num_records=amount.num_records,
            suggestion=(kind == _Kind.OBSTACLE and suggestion) or None,
        )

    def _why(self, kind: _Kind, part: QuestionPart) -> str:
        match kind:
            case _Kind.PARTITION:
                return f"the partition values exclude {part.text}"
            case _Kind.STATISTICS:
                return f"the statistics exclude {part.text}"
            case _Kind.NOT_KNOWN:
                return self._lacking(part)
            case _Kind.OBSTACLE if part.obstacle:
                return part.obstacle.reason
            case _:
                return "the values of these files may meet the condition"

    def _lacking(self, part: QuestionPart) -> str:
        named = compared_columns(part.reached) if part.reached else ()
        data = sorted(
            path for path in named if path[0] not in self._question.partition_columns
        )
        return self._question.lacking_reason(data[0]) if data else "unknown values"


def _sum(values: npt.NDArray[np.int64]) -> int:
    """Add up values exactly."""
    return int(values.sum()) if _is_small(values) else sum(values.tolist())


def _sums(
    codes: npt.NDArray[np.intp], values: npt.NDArray[np.int64], length: int
) -> npt.NDArray[np.object_]:
    """Add up values by code, exactly; `bincount` adds floats."""
    if _is_small(values):
        sums = np.bincount(codes, values, minlength=length)
        return sums.astype(np.int64).astype(object)
    total = np.zeros(length, object)
    for code in np.unique(codes).tolist():
        total[code] = _sum(values[codes == code])
    return total


def _is_small(values: npt.NDArray[np.int64]) -> bool:
    """Whether a float holds every sum of some of the values exactly."""
    return bool(values.min() >= 0 and values.max() < _EXACT // len(values))
