"""What a rule would leave of a table's newest version: judged, nothing is written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from apps.jobs.running.reports import Reports
from apps.sharing.access.grants.proof import num_signed_rows, signed_rows_outside
from apps.sharing.access.grants.rules import BoundRule, TableRule
from apps.tables.index.folders import index_folder
from apps.tables.models import Table
from apps.tables.storage.opening import open_table, roots_of_server
from deltaweb.delta.log.file_actions import VECTOR, files_of_block
from deltaweb.delta.scan.rows import RowSource, iter_rows, read_rows
from deltaweb.delta.scan.skipping import Mask
from deltaweb.delta.values.python_values import as_text
from deltaweb.delta.values.whole import exact_sum
from deltaweb.index.query.classification import ClassifiedPart, FileRule, classify
from deltaweb.index.query.file_part import FilePart
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.words import cut

READ_BYTES: Final = 16 << 20
"""Of files that are read while a page is waited for, of all its rules."""
ROWS_SHOWN: Final = 5
COLUMNS_SHOWN: Final = 40
CELL_LENGTH: Final = 80  # characters
SILENT: Final = Reports()


@dataclass(frozen=True, slots=True)
class SomeFiles:
    """How many files, and their bytes."""

    num_files: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRows:
    """The first rows that a recipient reads, as texts.

    Attributes:
        columns: The names of the first columns that are seen.
        cells: A list of values for each row; None for NULL.
    """

    columns: list[str]
    cells: list[list[str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RulePreview:
    """What becomes of the files of a version under a rule.

    Attributes:
        missing: Properties that the condition asks for, and the recipient lacks.
        left_out: Those in which no row may be seen.
        inside: Those of which every row may be seen: they are untouched where all
            columns are, and are rewritten as soon as one is left out.
        num_rows: How many rows the recipient reads; None if statistics do not prove
            it, and the files are too large to be read at once.
        first: Its first rows; None if they were not requested, or likewise.
        rows_outside: Rows of untouched files that the rule does not show, by reading
            them; None where they are too large to be read at once.
    """

    version: int
    missing: list[str]
    untouched: SomeFiles
    rewritten: SomeFiles
    left_out: SomeFiles
    inside: SomeFiles
    num_rows: int | None
    first: FirstRows | None
    rows_outside: int | None

    @property
    def num_files(self) -> int:
        """How many files the version has."""
        return sum(one.num_files for one in self._kinds.values())

    @property
    def size_bytes(self) -> int:
        """The size of the version."""
        return sum(one.size_bytes for one in self._kinds.values())

    @property
    def shared(self) -> SomeFiles:
        """The files of which the recipient reads a row."""
        return SomeFiles(
            self.untouched.num_files + self.rewritten.num_files,
            self.untouched.size_bytes + self.rewritten.size_bytes,
        )

    @property
    def shares(self) -> list[tuple[str, float, float]]:
        """The bytes as parts of a bar: kind, where it begins, how wide it is, in %."""
        total = self.size_bytes or 1
        found, begin = [], 0.0
        for kind, files in self._kinds.items():
            width = 100 * files.size_bytes / total
            found.append((kind, round(begin, 2), round(width, 2)))
            begin += width
        return found

    @property
    def untouched_percent(self) -> float:
        """Share of the bytes that are shared that are untouched."""
        size_bytes = self.shared.size_bytes
        return 100 * self.untouched.size_bytes / size_bytes if size_bytes else 0.0

    @property
    def _kinds(self) -> dict[str, SomeFiles]:
        return {
            "untouched": self.untouched,
            "rewritten": self.rewritten,
            "left": self.left_out,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPreview:
    """What rules would leave of a version.

    Attributes:
        num_rows: How many rows the table has; None if its log does not say.
        rules: A preview for each rule, by its digest.
    """

    version: int
    num_rows: int | None
    rules: Mapping[str, RulePreview]


class ReadBudget:
    """The bytes of data files that may still be read for a page."""

    def __init__(self, size_bytes: int = READ_BYTES) -> None:
        self.left = size_bytes

    def takes(self, size_bytes: int) -> bool:
        """Take some bytes; return False if there are not so many left."""
        if size_bytes > self.left:
            return False
        self.left -= size_bytes
        return True


def preview_rules(
    table: Table,
    rules: Iterable[TableRule],
    *,
    viewed: str = "",
    budget: ReadBudget,
) -> PartPreview:
    """Return what some rules would leave of a table's newest version.

    Args:
        viewed: The digest of the rule of which the first rows are read; "" for none.
        budget: How much may be read of data files.
    """
    version = newest_version(table)
    whole = classify(version, FileRule())
    # The one that is viewed comes first, because what may be read has an end.
    wanted = sorted(rules, key=lambda rule: rule.digest != viewed)
    return PartPreview(
        version=version.version,
        num_rows=num_signed_rows(whole),
        rules={
            rule.digest: _preview(
                version, rule, budget, shows_rows=rule.digest == viewed
            )
            for rule in wanted
        },
    )


def newest_version(table: Table, version: int | None = None) -> SharedVersion:
    """Open a version of a table, by default its newest one."""
    opened = open_table(table, roots=roots_of_server())
    return SharedTableReader().open_version(
        opened, index_folder=index_folder(table), version=version
    )


def _preview(
    version: SharedVersion, rule: TableRule, budget: ReadBudget, *, shows_rows: bool
) -> RulePreview:
    bound = rule.bind(version)
    inside = classify(version, bound.files.of_rows)
    is_of_rows = bound.files == bound.files.of_rows
    offered = inside if is_of_rows else classify(version, bound.files)
    untouched = _sum((one.part, one.signed) for one in offered)
    rewritten = _sum((one.part, one.rewritten) for one in offered)
    border = _sum((one.part, one.rewritten) for one in inside)
    num_rows = None
    if num_signed_rows(inside) is not None and budget.takes(border.size_bytes):
        num_rows = num_seen_rows(version, inside, bound)
    first = None
    if shows_rows and budget.takes(untouched.size_bytes + rewritten.size_bytes):
        first = first_rows(version, offered, bound)
    proves = not bound.files.is_whole and budget.takes(untouched.size_bytes)
    condition = bound.files.condition
    return RulePreview(
        version=version.version,
        missing=rule.missing,
        untouched=untouched,
        rewritten=rewritten,
        left_out=_sum((one.part, one.absent) for one in offered),
        inside=_sum((one.part, one.signed) for one in inside),
        num_rows=num_rows,
        first=first,
        rows_outside=(
            signed_rows_outside(version, offered, condition) if proves else None
        ),
    )


# === Rows ===


def num_seen_rows(
    version: SharedVersion,
    inside: Iterable[ClassifiedPart],
    bound: BoundRule,
    *,
    job: Reports = SILENT,
) -> int:
    """Count the rows that are seen, reading the files for which no statistics do.

    Args:
        inside: The files by the condition alone.
        job: Hears how many rows were counted.
    """
    inside = list(inside)
    signed = num_signed_rows(inside)
    total = signed or 0
    source = _source(
        version,
        (
            (one, one.rewritten if signed is not None else one.signed | one.rewritten)
            for one in inside
        ),
    )
    if source is not None:
        columns = source.schema.names[:1]
        condition = bound.files.condition
        for batch in iter_rows(source, columns=columns, predicate=condition):
            total += batch.num_rows
            job.progress(total, unit="rows")
    return total


def first_rows(
    version: SharedVersion, offered: Iterable[ClassifiedPart], bound: BoundRule
) -> FirstRows:
    """Read the first rows that are seen, in the order of the files."""
    columns = [*bound.schema.names[:COLUMNS_SHOWN]]
    source = _source(version, ((one, one.signed | one.rewritten) for one in offered))
    if source is None:
        return FirstRows(columns=columns, cells=[])
    condition = bound.files.condition
    rows = read_rows(source, columns=columns, predicate=condition, limit=ROWS_SHOWN)
    texts = [as_text(one.combine_chunks()).to_pylist() for one in rows.columns]
    return FirstRows(
        columns=columns,
        cells=[
            [None if text is None else cut(text, CELL_LENGTH) for text in row]
            for row in zip(*texts, strict=True)
        ],
    )


def _source(
    version: SharedVersion, marked: Iterable[tuple[ClassifiedPart, Mask]]
) -> RowSource | None:
    """Return what the live rows of some files are read from; None without files."""
    found = []
    for one, mask in marked:
        files = one.part.block.files.filter(pa.array(mask))
        if files.num_rows:
            found.append(files_of_block(files))
    if not found:
        return None
    files = pa.Table.from_batches(found)
    return version.snapshot.row_source(
        files.select(["path", "size", VECTOR, "partition_values"])
    )


def _sum(parts: Iterable[tuple[FilePart, Mask]]) -> SomeFiles:
    num_files = size_bytes = 0
    for part, mask in parts:
        num_files += int(np.count_nonzero(mask))
        size_bytes += exact_sum(part.sizes.filter(pa.array(mask)))
    return SomeFiles(num_files, size_bytes)
